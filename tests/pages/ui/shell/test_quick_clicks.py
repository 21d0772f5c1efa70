"""What a browser sends before it has the last answer: the label of an option that is gone, a text beside a hidden control."""

import asyncio
from collections import Counter

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Selectbox

from pages.ui.shell import texts
from pages.ui.shell.level import ADVANCED, BASIC, SWITCH
from tests.support.apart import run_apart
from tests.support.stream_client import MAX_RUN_SECONDS, Visitor, visit

GONE = "999 gone"
"""A label that no list of any page has."""
LISTS = {
    "compare_changes_b": ("compare", {"vary": "changes"}),
}


def choose_gone(app: AppTest, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Choose an option of a list that the page had before; AppTest sends those only that there are."""
    box, sent = app.selectbox(key=key).id, Selectbox._widget_state.fget

    def send(one: Selectbox) -> WidgetState:
        return WidgetState(id=box, string_value=GONE) if one.id == box else sent(one)

    with monkeypatch.context() as patched:
        patched.setattr(Selectbox, "_widget_state", property(send))
        app.run()


@pytest.mark.parametrize("key", LISTS)
def test_an_option_that_is_gone_is_not_chosen_and_what_was_chosen_stays(open_app, key: str, monkeypatch: pytest.MonkeyPatch):
    page, query = LISTS[key]
    app = open_app(page, **query)
    app.session_state[f"{page}_change_opened"] = True
    app.run()
    before, view = app.selectbox(key=key).value, app.query_params
    choose_gone(app, key, monkeypatch)
    assert not app.exception
    assert (app.selectbox(key=key).value, app.query_params) == (before, view)
    app.text_input(key=f"{page}_text").set_value("").run()  # an error in place of the list
    app.run()
    assert not app.exception


def switch_level(app: AppTest, level: str) -> AppTest:
    next(group for group in app.button_group if group.key == SWITCH).set_value(level)
    return app.run()


def test_what_basic_hides_is_still_there_when_the_next_sentence_is_typed(open_app):
    app = switch_level(open_app("attention", text="abc", pair="def"), BASIC)
    for sentence in ("I drink tea", "I drink green tea"):
        app.text_input(key="attention_text").set_value(sentence).run()
        assert not app.exception
    app = switch_level(app.run(), ADVANCED)
    assert app.text_input(key="attention_pair").value == "def"


async def type_during_run(url: str, sentence: str, word: bytes) -> Visitor:
    """Type a sentence on the attention page while the whole page runs; give the visitor once the page shows the word."""
    async with visit(url, "attention") as visitor:
        await visitor.ask()
        await visitor.ask(fragment=visitor.type_into(texts.SENTENCE, sentence))
        async with asyncio.timeout(MAX_RUN_SECONDS):
            while not (await visitor.read() and word in visitor.drawings()):
                pass
        return visitor


def test_a_sentence_typed_while_the_page_runs_is_shown_on_the_whole_page(server: str):
    visitor = run_apart(type_during_run(server, "Ten birds sang.", b'"birds"'))
    shown = Counter(element.WhichOneof("type") for element in visitor.elements.values())
    assert (shown["heading"], shown["text_input"]) == (1, 2)
    assert shown["page_link"] == 7  # six to other pages by their questions, one to the next
