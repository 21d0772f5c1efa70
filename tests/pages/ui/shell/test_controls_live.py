"""The parts of pages that are drawn anew by themselves: a change in one of them runs that part alone, as in a browser."""

import asyncio
from collections import Counter
from urllib.parse import quote

import pytest
from streamlit.proto.Element_pb2 import Element
from streamlit.testing.v1 import AppTest

from pages.attention import inputs
from pages.fill_mask.prompts import curated
from pages.ui.shell import cache, texts
from pages.ui.shell.frame import HEADINGS
from pages.ui.shell.level import BASIC
from tests.support.apart import run_apart
from tests.support.stream_client import MAX_RUN_SECONDS, Visitor, visit
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine
from tx_core.errors import ModelUnavailable, TextProblem


def said(app: AppTest) -> str:
    return "\n".join(one.value for kind in (app.text, app.caption, app.markdown) for one in kind)


def test_the_badge_of_the_page_of_blanks_follows_a_model_that_comes_and_goes(open_app, monkeypatch: pytest.MonkeyPatch):
    def refuse(_name: str, **_options: object) -> Engine:
        raise ModelUnavailable("Not now.")

    named = f":material/memory: {cache.engine(catalogue.DEFAULT).title}"
    with monkeypatch.context() as patched:
        patched.setattr(cache, "engine", refuse)
        app = open_app("fill_mask", text="Eight birds [MASK].")
        assert "Not now." in said(app) and named not in said(app)
    app.text_input(key="fill_mask_text").set_value("Nine birds [MASK].")
    app.run()
    assert "Not now." not in said(app) and named in said(app)
    monkeypatch.setattr(cache, "engine", refuse)
    app.text_input(key="fill_mask_text").set_value("Ten birds [MASK].")
    app.run()
    assert "Not now." in said(app) and named not in said(app)


def test_a_model_that_can_be_had_after_all_reads_the_next_sentence(open_app, monkeypatch: pytest.MonkeyPatch):
    def refuse(_name: str, **_options: object) -> Engine:
        raise ModelUnavailable("Not yet.")

    with monkeypatch.context() as patched:
        patched.setattr(cache, "engine", refuse)
        app = open_app("attention", text="Eight birds sang.", nospecial="1")
    assert "Not yet." in said(app)
    app.text_input(key="attention_text").set_value("Nine birds sang.").run()
    assert not app.exception
    assert "Not yet." not in said(app)
    limit = cache.engine(catalogue.DEFAULT).info.max_tokens
    assert texts.TOKEN_BUDGET.format(used=4, limit=limit) in said(app)


@pytest.mark.parametrize("engine_lost", [True, False])
def test_a_sentence_that_is_deleted_is_explained(open_app, engine_lost: bool, monkeypatch: pytest.MonkeyPatch):
    app = open_app("attention", text="Eight birds sang.", nospecial="1")
    with monkeypatch.context() as patched:
        if engine_lost:
            patched.setattr(cache, "engine", lambda *_named, **_options: catalogue.load("no such model"))
        app.text_input(key="attention_text").set_value("").run()
    assert not app.exception
    assert HEADINGS[ModelUnavailable if engine_lost else TextProblem] in said(app)


async def type_sentence(url: str, page: str, sentence: str, query: str = "") -> tuple[dict[tuple[int, ...], Element], Visitor]:
    """Type a sentence on a page; give what the page showed before, and the visitor with what it shows after."""
    async with visit(url, page, query) as visitor:
        before = dict(visitor.elements)
        await visitor.run(fragment=visitor.type_into(texts.SENTENCE, sentence))
        return before, visitor


def test_a_sentence_typed_over_an_example_takes_its_hint_away(server: str):
    before, visitor = run_apart(type_sentence(server, "attention", "Nine birds sang."))
    hint = inputs.notice(inputs.curated()[0], catalogue.DEFAULT, shown=True)
    assert hint in [element.markdown.body for element in before.values()]
    assert b'"birds"' in visitor.drawings()
    assert hint not in [element.markdown.body for element in visitor.elements.values()]


def test_a_hidden_limit_that_an_example_brought_is_named_once_its_sentence_is_gone(server: str):
    example = next(one for one in curated() if one.limit != "100" and not one.second)
    query = f"text={quote(example.text)}&limit={example.limit}&level={BASIC}"
    before, visitor = run_apart(type_sentence(server, "fill_mask", "Nine birds [MASK].", query))
    named = texts.HIDDEN_VALUES.format(names=texts.SETTING_NAMES["limit"])
    assert not any(named in element.markdown.body for element in before.values())
    assert any(named in element.markdown.body for element in visitor.elements.values())
    assert b'"nine"' in visitor.drawings()


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
