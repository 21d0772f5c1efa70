"""What surrounds every page, as Streamlit runs it without a browser; and the code that it shows."""

from typing import NamedTuple
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

from pages import contents
from pages.contents import PAGES, page_address
from pages.masks.inputs import UNDER_A_MASK
from pages.ui.shell import cache, readiness, texts
from pages.ui.shell.address import MAX_LINK_CHARACTERS
from pages.ui.shell.readiness import Status
from tests.support.serving import ROOT, fetch
from tests.support.staged import staged
from tx_core.engine.bert_engine import OwnEngine
from tx_core.errors import NO_MEMORY, CheckpointProblem
from tx_core.transformer.bert import Bert


class PageLink(NamedTuple):
    page: str
    parameters: dict[str, str]
    label: str


def page_links(block: Block) -> list[PageLink]:
    """List the links to pages that stand together within a block of a page, in their order: those with the icon of their page."""
    pages = {(page_address(page), f":material/{page.icon}:"): page.key for page in PAGES}
    links = [(pages.get((link.proto.page, link.proto.icon)), link.proto) for link in block.get("page_link")]
    return [PageLink(key, dict(parse_qsl(link.query_string)), link.label) for key, link in links if key]


def opened() -> None:
    from pages.ui.shell.frame import open_page

    open_page("attention")


def framed() -> None:
    from pages.ui.shell.frame import open_page, show_engine

    show_engine(open_page("attention"), "Own model", "cuda:1")


NEXT = texts.NEXT_PAGE.partition("{")[0]


def next_label(key: str) -> str:
    """The label of the link at the end of a page to the one that follows it; after the last comes the first."""
    keys = [page.key for page in PAGES]
    return texts.NEXT_PAGE.format(page=PAGES[(keys.index(key) + 1) % len(PAGES)].name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.key)
def test_every_page_opens_with_its_question_and_its_lead_and_ends_with_the_way_to_the_next(open_app, page):
    app = open_app(page.key)
    assert not app.exception
    assert [title.value for title in app.title] == [page.question]
    assert page.lead in [text.value for text in app.markdown]
    assert not app.code  # its highlighter takes a browser 1.6 MB
    ways_on = [link.proto.label for link in app.main.get("page_link") if link.proto.label.startswith(NEXT)]
    assert ways_on == ([next_label(page.key)] if page.key != contents.HOME else [])
    stages = [one.proto.component_name for one in app.get("bidi_component") if "_stage_" in one.proto.component_name]
    assert stages == ([f"attention_explorer_stage_{page.script}"] if page.computes else [])  # what the start page fetches


def test_the_badge_says_which_model_computes_where_and_why_not_on_a_graphics_card(monkeypatch):
    def captions(app: AppTest) -> list[str]:
        return [caption.value for caption in app.run().caption]

    app = AppTest.from_function(opened)
    badge = f":material/memory: A model · {texts.DEVICES['cpu']}"
    for status, said in (
        (Status("warming up"), f":material/hourglass_top: {texts.WARMING_UP}"),
        (Status("ready", "A model", "cpu"), badge),
        (Status("ready", "A model", "cpu", notice="It is old."), f"{badge}. It is old."),
    ):
        monkeypatch.setattr(readiness.default_engine, "status", status)
        assert captions(app) == [said]
    assert captions(AppTest.from_function(framed)) == [f":material/memory: Own model · {texts.DEVICES['cuda']}"]


@pytest.mark.parametrize("page", ["attention", "self_attention"])
def test_a_page_whose_model_finds_no_memory_says_so(open_app, page, monkeypatch):
    def starved(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(OwnEngine, "trace", starved)
    monkeypatch.setattr(Bert, "forward", starved)
    app = open_app(page)
    assert not app.exception
    assert NO_MEMORY in [text.value for text in app.text]


def test_the_longest_link_is_one_that_a_server_still_answers(server):
    assert fetch(f"{server}/?text={'a' * MAX_LINK_CHARACTERS}")[0] == 200


def test_a_page_leads_to_others_by_their_questions_and_both_sentences_go_along(open_app):
    links = page_links(open_app("attention", text="A [MASK] sings.", pair="It flies.").main)
    assert len(links) == 6
    for link in links:
        page = contents.page(link.page)
        assert link.label == page.question
        assert link.parameters == {"text": "A [MASK] sings."} | ({page.second: "It flies."} if page.second else {})


WITH_VIEW = {
    ("bert", "compare"): {"vary": "untrained"},
    ("masks", "fill_mask"): UNDER_A_MASK,
    ("heads_and_blocks", "summaries"): {"part": "lens"},
}
"""What else a link from one page to another one says."""
DAMAGED = ("attention", "fill_mask", "positions", "bert", "masks", "heads_and_blocks")


@pytest.mark.parametrize("page", DAMAGED)
def test_a_page_whose_model_is_damaged_says_so_and_keeps_its_text_its_ways_on_and_its_link(
    open_app, page: str, monkeypatch: pytest.MonkeyPatch
):
    def damaged(_name: str, **_options: object) -> None:
        raise CheckpointProblem("The weights are damaged.")

    monkeypatch.setattr(cache, "engine", damaged)
    more = {"positions": {"part": "shuffle", "model": "bert-base-uncased"}, "bert": {}, "masks": {}}
    view = {"text": "Time flies.", **more.get(page, {"model": "bert-base-uncased"})}
    app = open_app(page, **view)
    assert not app.exception
    assert "The weights are damaged." in [one.value for one in app.text]
    assert not [one.value for one in app.caption if one.value.startswith(":material/memory:")]  # nobody computed anything
    assert app.text_input(key=f"{page}_text").value == "Time flies."
    assert app.query_params == view
    ways = page_links(app.main)
    assert [link.proto.label for link in app.main.get("page_link")] == [*(way.label for way in ways), next_label(page)]
    assert ("fill_mask" if page == "attention" else "attention") in [way.page for way in ways]
    read = "Time [MASK]." if page == "fill_mask" else "Time flies."
    assert [way.parameters for way in ways] == [{"text": read} | WITH_VIEW.get((page, way.page), {}) for way in ways]


def test_a_text_too_long_for_an_address_leaves_the_other_settings_there_and_comes_back_when_shortened(open_app):
    app = open_app("masks", text="a bird " * 1429, padding="3")
    assert any(texts.LINK_TOO_LONG_FOR_ADDRESS in caption.value for caption in app.caption)
    assert texts.LINK_TOO_LONG_TO_SHARE.partition("{")[0] in staged(app)["linkProblem"]
    assert staged(app)["address"]["own"] == {"padding": "3"}
    app.query_params = {}
    app.switch_page("positions/page.py").run()
    app.switch_page("masks/page.py").run()
    assert app.text_input(key="masks_text").value == "a bird " * 1429
    app.text_input(key="masks_text").set_value("A short one.").run()
    assert staged(app)["address"]["own"] == {"text": "A short one.", "padding": "3"}
    assert not any(texts.LINK_TOO_LONG_FOR_ADDRESS in caption.value for caption in app.caption)


def explained_below() -> None:
    from pages.ui.shell.frame import explain_computation
    from tx_core.transformer.attention import attend
    from tx_core.transformer.layers import LayerNorm

    explain_computation(formulas=["a = b"], letters="a is b.", sources=[attend, LayerNorm])


def test_a_computation_is_explained_by_formula_and_by_code_sent_when_unfolded_as_it_stands_in_its_file():
    app = AppTest.from_function(explained_below).run(timeout=240)
    assert [one.value for one in app.markdown] == ["a is b."]
    assert [one.value for one in app.latex] == ["$$\na = b\n$$"]
    assert [len(app.expander), len(app.code), len(app.caption)] == [2, 0, 0]
    app.session_state["source_code"] = True
    app.run()
    files = [caption.value.strip("`") for caption in app.caption]
    assert files == ["tx_core/transformer/attention.py", "tx_core/transformer/layers.py"]
    for code, file, begins in zip(app.code, files, ("def attend(", "class LayerNorm("), strict=True):
        assert code.value.startswith(begins) and f"{code.value}\n" in (ROOT / file).read_text("utf-8")
