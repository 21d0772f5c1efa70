"""The scripts of our drawings: fetched once under the hash of what is in them, and never sent along with numbers."""

import asyncio
import re

import pytest
from starlette.requests import Request
from starlette.responses import Response

from pages.ui.canvas import component

PLACE = re.compile(r'new URL\("modules/([0-9a-f]{32}\.js)", document\.baseURI\)')


def answered(name: str) -> Response:
    return asyncio.run(component.answer(Request({"type": "http", "path_params": {"name": name}})))


def test_a_script_is_served_under_the_name_that_stands_for_it_and_kept_for_good():
    (name,) = PLACE.findall(component.fetching("export default () => 'one';\n"))
    answer = answered(name)
    assert answer.body == b"export default () => 'one';\n"
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]
    assert component.fetching("export default () => 'one';\n") == component.fetching("export default () => 'one';\n")
    assert PLACE.findall(component.fetching("export default () => 'two';\n")) != [name]


@pytest.mark.parametrize("name", ["", "x.js", "../app.py", "0" * 32 + ".js", "a" * 10_000])
def test_any_other_name_is_answered_with_what_to_do_and_not_kept(name: str):
    answer = answered(name)
    assert answer.status_code == 404
    assert answer.headers["cache-control"] == "no-store"
    assert b"load the page again" in answer.body


@pytest.mark.parametrize("page", ["attention", "self_attention", "masks", "bertviz_page", "many_sentences"])
def test_no_drawing_is_sent_its_script(open_app, page: str):
    drawings = [element.proto for element in open_app(page).get("bidi_component")]
    ours = [drawing for drawing in drawings if drawing.component_name.startswith("attention_explorer_")]
    assert ours
    for drawing in ours:
        (name,) = PLACE.findall(drawing.js_content)
        assert len(drawing.js_content) < 500
        assert answered(name).status_code == 200
