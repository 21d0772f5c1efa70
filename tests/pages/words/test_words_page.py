"""The glossary: each term explained once, and each group with a view that shows it."""

import json

import pytest

from pages.ui.shell import texts
from pages.ui.shell.glossary import GROUPS
from tests.support.serving import fetch

TERMS = [term for group in GROUPS for term in group.terms]


def test_every_term_stands_on_the_page_with_what_it_means(open_app):
    app = open_app("words")
    assert not app.exception
    written = "\n".join(element.value for element in app.markdown)
    assert [group.title for group in GROUPS] == [heading.value for heading in app.subheader]
    names = [name for term in TERMS for name in term.name.split(", ")]
    assert len(names) == len(set(names))
    assert all(f"**{term.name}**: {term.meaning}" in written for term in TERMS)


@pytest.mark.parametrize("page", ["words", "start"])
def test_both_kinds_of_models_stand_wherever_a_newcomer_comes_in(open_app, page):
    app = open_app(page)
    assert texts.TWO_KINDS in [element.value for element in app.markdown]
    (drawn,) = [element.proto.body for element in app.get("html") if "<figure>" in element.proto.body]
    assert drawn.count("<i ") == 8
    assert all(said in drawn for said in texts.TWO_KINDS_PICTURES)


@pytest.mark.parametrize(("page", "settings"), [view for group in GROUPS for view in group.views.items()], ids=str)
def test_a_view_is_one_that_its_page_understands(open_app, page, settings):
    app = open_app(page, **settings)
    assert not app.exception
    assert not any(texts.UNKNOWN_PARAMETERS.partition("{")[0] in told.value for told in app.info)
    assert all(app.session_state[f"{page}_{name}"] == value for name, value in settings.items())


def test_the_browser_is_given_the_terms_of_the_page_and_no_others(server):
    status, _, body = fetch(f"{server}/glossary.json")
    given = json.loads(body)["terms"]
    assert status == 200
    assert [(term["names"], term["meaning"]) for term in given] == [(term.marked_names, term.meaning) for term in TERMS]
    assert all({*term.everyday} < {*term.name.split(", ")} for term in TERMS)
