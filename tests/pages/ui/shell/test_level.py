"""Basic and Advanced: what the level hides, where it is remembered, and that it never changes what is computed."""

import json
import re
from urllib.parse import parse_qsl

import pytest
import streamlit as st

from pages.contents import PAGES
from pages.ui.export import texts as export_texts
from pages.ui.shell import level, texts
from pages.ui.shell.level import ADVANCED, ADVANCED_PARTS, BASIC, COOKIE, EXTRAS, LEVEL, LEVEL_NOW
from tests.support.drawings import says
from tests.support.serving import ROOT
from tests.support.staged import staged

COMPUTING = [page.key for page in PAGES if page.computes]


@pytest.fixture
def remembered(monkeypatch):
    def remember(value: str) -> None:
        monkeypatch.setattr(type(st.context), "cookies", property(lambda _: {COOKIE: value}))

    return remember


def folded(app) -> list[str]:
    return [one.label for one in app.expander]


@pytest.mark.parametrize("page", COMPUTING)
def test_basic_hides_what_its_table_says_and_nothing_that_is_in_effect(open_app, page):
    basic = open_app(page, level=BASIC)
    assert not basic.exception
    assert basic.session_state[LEVEL_NOW] == BASIC
    fields = {field.name: field for field in basic.session_state[f"{page}_view"].fields.all}
    names = ADVANCED_PARTS[page]
    for name in names:
        field, _, option = name.partition("=")
        assert not option or fields[field].write(fields[field].read(option)) == option
        assert option or name in EXTRAS or name in fields
    hidden = {one for one in fields if any(one == name or one.endswith(f"_{name}") for name in names)}  # as of `is_hidden`
    assert hidden <= texts.SETTING_NAMES.keys()
    assert not basic.get("latex")
    assert "$" not in says(basic)
    assert not re.search(r"\b(formula|equation|code below)s?\b", "\n".join(element.value for element in basic.markdown), re.I)
    assert {texts.SOURCE_CODE, export_texts.TITLE, export_texts.NUMBERS_TABLE}.isdisjoint(folded(basic))
    assert "level_show" not in [button.key for button in basic.button]


def test_every_formula_goes_where_the_level_can_hide_it():
    writing = [path for path in (ROOT / "pages").rglob("*.py") if ".latex(" in path.read_text("utf-8")]
    assert writing == [ROOT / "pages" / "ui" / "shell" / "level.py"]


def test_a_part_that_basic_leaves_out_is_there_where_a_link_leads_to_it(open_app):
    def parts(**link: str) -> list[str]:
        controls = staged(open_app("masks", level=BASIC, **link))["controls"]
        return next([value for value, _ in one["options"]] for one in controls if one["name"] == "part")

    assert parts() == ["one", "why"]
    assert parts(part="penalty") == ["one", "why", "penalty"]


@pytest.mark.parametrize(
    ("link", "cookie", "expected"),
    [
        (None, None, ADVANCED),
        ("no such level", None, ADVANCED),
        (None, "<script>", ADVANCED),
        (None, BASIC, BASIC),
        (ADVANCED, BASIC, ADVANCED),
        (BASIC, ADVANCED, BASIC),
    ],
)
def test_a_link_wins_over_what_the_browser_remembers_and_without_both_everything_is_shown(
    open_app, remembered, link: str | None, cookie: str | None, expected: str
):
    if cookie:
        remembered(cookie)
    app = open_app("attention", **({LEVEL: link} if link else {}))
    assert app.session_state[LEVEL_NOW] == expected
    follow = next(one.proto for one in app.get("bidi_component") if one.proto.component_name == "navigation")
    assert json.loads(follow.json)[0]["level"] == ""  # for the cookie: somebody's link is not the visitor's choice


@pytest.mark.parametrize("entrance", level.ENTRANCES)
def test_a_visit_that_begins_at_an_entrance_begins_in_basic_unless_the_visitor_has_chosen(open_app, remembered, entrance):
    def levels(app) -> set[str | None]:
        return {dict(parse_qsl(link.proto.query_string)).get(LEVEL) for link in app.get("page_link")}

    assert levels(open_app(entrance)) == {BASIC}
    remembered(ADVANCED)
    assert levels(open_app(entrance)) == {None}
    remembered(BASIC)
    assert levels(open_app(entrance)) == {BASIC}
