"""What surrounds every page, as Streamlit runs it without a browser; and the code that it shows."""

import inspect
from pathlib import Path
from urllib.parse import parse_qsl, urljoin

import pytest
from streamlit.testing.v1 import AppTest

from pages import contents
from pages.contents import PAGES
from pages.ui.panels import texts as panel_texts
from pages.ui.panels.lesson import LEARNING_PATH, shipped_lesson
from pages.ui.shell import cache, readiness, texts
from pages.ui.shell.address import MAX_LINK_CHARACTERS
from pages.ui.shell.frame import MAX_PARAMETERS, home_of, navigation_address, source_of, wanted_page
from pages.ui.shell.readiness import Status
from tests.support.messages import TOO_LONG_TO_SHARE
from tests.support.page_html import page_links, preformatted
from tx_core.engine import catalogue
from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.tokenizer import NO_SENTENCE
from tx_core.errors import (
    NO_MEMORY,
    Busy,
    ChangeProblem,
    CheckpointProblem,
    ExplorerError,
    ModelUnavailable,
    OutOfMemory,
    TextProblem,
    memory_checked,
)
from tx_core.transformer import attention, layers
from tx_core.transformer.bert import Bert

COMPUTING = ["attention", "fill_mask", "compare", "summaries", "bertviz_page", "self_attention", "masks", "heads_and_blocks"]


def opened() -> None:
    from pages.ui.shell.frame import open_page

    open_page("attention")


def framed() -> None:
    from pages.ui.shell.frame import open_page, show_engine

    show_engine(open_page("attention"), "Own model", "cuda:1")


def explained() -> None:
    from pages.ui.shell.frame import explain
    from tx_core.errors import TextProblem

    explain(TextProblem("<script>alert(1)</script> is *too* long: shorten it."))


def explained_as(kind: type) -> None:
    from pages.ui.shell.frame import explain

    explain(kind("Why."))


def next_label(key: str) -> str:
    """The label of the link at the end of a page to the one that follows it; after the last comes the first."""
    keys = [page.key for page in PAGES]
    return texts.NEXT_PAGE.format(page=PAGES[(keys.index(key) + 1) % len(PAGES)].name)


@pytest.mark.parametrize("key", [page.key for page in PAGES if page.key != contents.HOME])
def test_every_page_ends_with_one_way_on_to_the_page_that_follows(open_app, key):
    links = [link.proto.label for link in open_app(key).main.get("page_link")]
    assert links[-1] == next_label(key)
    assert [label for label in links if label.startswith(texts.NEXT_PAGE.partition("{")[0])] == [next_label(key)]


@pytest.mark.parametrize(("page", "step", "told"), [("fill_mask", 2, 2), ("fill_mask", 7, 6), ("attention", 9, 8)])
def test_after_a_step_of_a_lesson_the_way_on_leads_back_to_it_by_the_number_of_its_strip(open_app, page, step, told):
    app = open_app(page, lesson="path", step=str(step))
    title = shipped_lesson(LEARNING_PATH).title
    assert panel_texts.LESSON_PROGRESS.format(title=title, number=told, total=8) in [one.value for one in app.caption]
    app.query_params.clear()
    app.switch_page("masks/page.py").run()
    link = app.main.get("page_link")[-1].proto
    assert link.label == texts.BACK_TO_LESSON.format(number=told)
    assert dict(parse_qsl(link.query_string))["step"] == str(step)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.key)
def test_every_page_opens_with_its_question_and_its_lead(open_app, page):
    app = open_app(page.key)
    assert not app.exception
    assert [title.value for title in app.title] == [page.question]
    assert page.lead in [text.value for text in app.markdown]
    assert not app.code  # its highlighter takes a browser 1.6 MB


def test_lines_that_are_written_as_they_are_hold_no_markup():
    lines = ["<b>two</b>  words", "a &amp; b"]
    app = AppTest.from_function(write_lines, args=(lines,)).run()
    assert preformatted(app) == ["\n".join(lines)]
    assert "<b>" not in app.get("html")[0].proto.body


def write_lines(lines: list[str]) -> None:
    from pages.ui.shell.frame import preformatted

    preformatted(lines)


def test_the_navigation_lists_every_page_once_in_order(open_app):
    links = page_links(open_app("masks", level="basic").sidebar)
    assert [(link.page, link.label) for link in links] == [(page.key, page.name) for page in PAGES]
    addresses = [navigation_address(page) for page in PAGES]
    assert [urljoin("/masks", link.path) for link in links] == [f"/{address}" for address in addresses]
    assert addresses[0] == "" and "bertviz" in addresses
    assert [link.parameters for link in links] == [{"level": "basic"}] * len(PAGES)


def test_a_page_is_opened_as_a_browser_asks_for_it_and_nonsense_opens_none():
    asked = {"page": "masks", "query": "?text=%3Cb%3E+%26+x&text=y&level=basic"}
    assert wanted_page(asked) == ("masks", {"text": ["<b> & x", "y"], "level": ["basic"]})
    assert wanted_page({"page": "start", "query": ""}) == ("start", {})
    many = {"page": "masks", "query": "&".join(["a=1"] * (MAX_PARAMETERS + 1))}
    halves = ({}, {"page": []}, {"page": [], "query": ""}, {"page": "x", "query": ""}, {"page": "masks", "query": 1})
    assert [wanted_page(nonsense) for nonsense in (None, "masks", [], many, *halves)] == [None] * 9


def test_the_badge_says_that_the_model_is_warming_up_and_then_which_model_it_is(monkeypatch):
    monkeypatch.setattr(readiness.default_engine, "status", Status("warming up"))
    app = AppTest.from_function(opened).run()
    assert [caption.value for caption in app.caption] == [f":material/hourglass_top: {texts.WARMING_UP}"]
    monkeypatch.setattr(readiness.default_engine, "status", Status("ready", "A model", "cpu"))
    app.run()
    assert [caption.value for caption in app.caption] == [f":material/memory: A model · {texts.DEVICES['cpu']}"]


def test_the_badge_says_why_the_cpu_computes_beside_a_graphics_card(monkeypatch):
    monkeypatch.setattr(readiness.default_engine, "status", Status("ready", "A model", "cpu", notice="It is old."))
    app = AppTest.from_function(opened).run()
    assert [caption.value for caption in app.caption] == [f":material/memory: A model · {texts.DEVICES['cpu']}. It is old."]


def test_a_page_can_say_that_another_model_computed_on_another_device():
    app = AppTest.from_function(framed).run()
    assert [caption.value for caption in app.caption] == [f":material/memory: Own model · {texts.DEVICES['cuda']}"]


def test_a_problem_is_shown_as_it_is_written_and_never_as_markup():
    app = AppTest.from_function(explained).run()
    assert [text.value for text in app.text] == ["<script>alert(1)</script> is *too* long: shorten it."]
    assert not any("script" in markdown.value for markdown in app.markdown)


@pytest.mark.parametrize(
    ("kind", "heading"),
    [
        (TextProblem, texts.CHECK_INPUT),
        (CheckpointProblem, texts.MODEL_NOT_LOADED),
        (ModelUnavailable, texts.NOT_AVAILABLE),
        (ChangeProblem, texts.CHANGE_DOES_NOT_FIT),
        (Busy, texts.BUSY),
        (OutOfMemory, texts.OUT_OF_MEMORY),
        (ExplorerError, texts.CANNOT_BE_SHOWN),
    ],
)
def test_a_problem_is_headed_by_its_kind(kind, heading):
    app = AppTest.from_function(explained_as, args=(kind,)).run()
    assert [markdown.value for markdown in app.markdown] == [f":orange[:material/info:] **{heading}**"]


def allocated_too_much(how: str) -> None:
    import numpy as np
    import streamlit as st
    import torch

    from pages.ui.shell.frame import memory_explained

    with memory_explained():
        st.text("before")
        torch.empty(2**58) if how == "torch" else np.empty(2**58) if how == "numpy" else bytes(2**62)
    st.text("after")


@pytest.mark.parametrize("how", ["torch", "numpy", "python"])
def test_a_lack_of_memory_is_a_sentence(how):
    app = AppTest.from_function(allocated_too_much, args=(how,)).run()
    assert not app.exception
    assert [text.value for text in app.text] == ["before", NO_MEMORY, "after"]


def test_other_errors_are_no_lack_of_memory():
    with pytest.raises(RuntimeError, match="shapes"), memory_checked():
        raise RuntimeError("shapes cannot be multiplied")


@pytest.mark.parametrize("page", COMPUTING)
def test_a_page_whose_model_finds_no_memory_says_so(open_app, page, monkeypatch):
    def starved(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(BertEngine, "trace", starved)
    monkeypatch.setattr(Bert, "forward", starved)
    app = open_app(page)
    assert not app.exception
    assert NO_MEMORY in [text.value for text in app.text]


@pytest.mark.parametrize("page", ["summaries", "bertviz_page", "self_attention", "heads_and_blocks", "masks"])
def test_a_page_without_examples_sends_nobody_to_an_example(open_app, page):
    app = open_app(page, text=" ", **({"part": "one"} if page == "masks" else {}))
    assert NO_SENTENCE in [text.value for text in app.text]


UNKNOWN = [
    ("attention", {}),
    ("fill_mask", {}),
    ("compare", {}),
    ("bertviz_page", {}),
    ("self_attention", {}),
    *(("summaries", {"part": part}) for part in ("glance", "layers", "values", "alike", "lens", "owed")),
    *(("heads_and_blocks", {"part": part}) for part in ("heads", "feed", "norm", "depth", "journey", "embeddings")),
    *(("masks", {"part": part}) for part in ("one", "penalty", "batch")),
    ("positions", {"part": "shuffle"}),
    *(("bert", {"part": part}) for part in ("compare", "random", "labels", "family")),
]


@pytest.mark.parametrize(("page", "asked"), UNKNOWN, ids=lambda value: str(value))
def test_a_page_that_shows_a_text_warns_of_words_that_the_model_does_not_know(open_app, page, asked):
    (warning,) = open_app(page, text="مرحبا 💥 [MASK]", **asked).warning
    assert warning.value.rpartition(". ")[2] == panel_texts.ONE_UNKNOWN.rpartition(". ")[2]
    assert not open_app(page, text="The cat sat on the [MASK].", **asked).warning


def test_a_page_that_is_not_in_the_table_is_an_error():
    with pytest.raises(KeyError, match="no-such-page"):
        contents.page("no-such-page")


def test_a_link_can_carry_any_text():
    app = AppTest.from_function(frame_link)
    app.query_params["text"] = "a & b = c? 🐦 <i>"
    app.query_params["heads"] = ["1", "2"]
    app.run()
    assert app.text[0].value.endswith("?text=a+%26+b+%3D+c%3F+%F0%9F%90%A6+%3Ci%3E&heads=1&heads=2&level=advanced")


def frame_link() -> None:
    import streamlit as st

    from pages.ui.shell.frame import current_link

    st.text(current_link())


def test_the_longest_link_is_one_that_a_server_still_answers(server):
    from tests.support.serving import fetch

    assert fetch(f"{server}/?text={'a' * MAX_LINK_CHARACTERS}")[0] == 200


@pytest.mark.parametrize(
    ("page", "others"),
    [
        ("attention", ["fill_mask", "compare", "summaries", "self_attention", "heads_and_blocks", "masks"]),
        ("fill_mask", ["attention", "summaries", "positions", "bert"]),
        ("masks", ["attention", "fill_mask", "heads_and_blocks"]),
        ("positions", ["attention", "masks", "fill_mask", "bert"]),
        ("heads_and_blocks", ["attention", "self_attention", "bert"]),
    ],
)
def test_a_page_leads_to_others_by_their_questions_and_the_text_goes_along(open_app, page, others):
    app = open_app(page, text="A [MASK] sings.", pair="It flies.")
    links = page_links(app.main)
    assert [(link.page, link.label) for link in links] == [(other, contents.page(other).question) for other in others]
    has_second = bool(contents.page(page).second)
    for link in links:
        name = contents.page(link.page).second
        assert link.parameters == {"text": "A [MASK] sings."} | ({name: "It flies."} if has_second and name else {})


def test_two_sentences_stand_side_by_side_on_compare_and_come_back_together(open_app):
    def way(app, page: str) -> dict[str, str]:
        return next(link.parameters for link in page_links(app.main) if link.page == page)

    both = {"text": "A bird sings.", "pair": "It flies."}
    compare = open_app("compare", **way(open_app("attention", **both), "compare"))
    assert [compare.text_input(key=f"compare_{name}").value for name in ("text", "text_b")] == list(both.values())
    assert way(compare, "attention") == both
    assert way(open_app("compare", text="A bird sings."), "attention") == {"text": "A bird sings."}
    read_together = open_app("compare", **both, text_b="A cat sits.", two="1")
    assert way(read_together, "attention") == both


@pytest.mark.parametrize("page", ["attention", "summaries", "bertviz_page", "bert", "heads_and_blocks"])
def test_a_page_whose_model_is_damaged_says_so_and_keeps_its_text_its_ways_on_and_its_link(
    open_app, page: str, monkeypatch: pytest.MonkeyPatch
):
    def damaged(_name: str, **_options: object) -> None:
        raise CheckpointProblem("The weights are damaged.")

    monkeypatch.setattr(cache, "engine", damaged)
    app = open_app(page, text="Time flies.")
    assert not app.exception
    assert "The weights are damaged." in [one.value for one in app.text]
    assert app.text_input(key=f"{page}_text").value == "Time flies."
    assert app.query_params == {"text": "Time flies."}
    assert [link.proto.label for link in app.main.get("page_link")] == [next_label(page)]
    ways = page_links(app.main)
    assert ("fill_mask" if page == "attention" else "attention") in [way.page for way in ways]
    assert [way.parameters for way in ways] == [{"text": "Time flies."}] * len(ways)
    app.session_state["share_link"] = True
    assert any(one.value == texts.LINK_SHOWS_VIEW for one in app.run().text)


def test_a_page_without_a_text_of_its_own_leads_to_others_too(open_app):
    links = page_links(open_app("encoder_decoder").main)
    assert [(link.page, link.parameters) for link in links] == [(page, {}) for page in ("self_attention", "masks", "positions")]


def test_the_text_in_a_link_is_no_markup(open_app):
    text = "\"><img src=x onerror=alert(1)> & '"
    app = open_app("attention", text=text)
    assert "<img" not in "".join(one.proto.body for one in app.main.get("html"))
    assert {link.parameters["text"] for link in page_links(app.main)} == {text}


@pytest.mark.parametrize("text", ["a bird " * 1429, "🐦" * 5500], ids=["10,000 characters", "emoji"])
@pytest.mark.parametrize(
    "page", [page.key for page in PAGES if page.computes and page.key not in ("encoder_decoder", "many_sentences")]
)
def test_a_text_too_long_for_an_address_stays_on_the_page_which_says_so(open_app, page, text):
    app = open_app(page, **({"part": "shuffle"} if page == "positions" else {}))
    app.text_input(key=f"{page}_text").set_value(text).run()
    assert not app.exception
    assert app.text_input(key=f"{page}_text").value == text
    assert "text" not in app.query_params
    assert any(texts.LINK_TOO_LONG_FOR_ADDRESS in caption.value for caption in app.caption)
    app.session_state["share_link"] = True
    assert any(TOO_LONG_TO_SHARE in one.value for one in app.run().text)
    assert app.text_input(key=f"{page}_text").value == text


def test_a_text_too_long_for_an_address_leaves_the_other_settings_there_and_comes_back_when_shortened(open_app):
    app = open_app("masks", text="a bird " * 1429, padding="3")
    assert app.query_params == {"part": "one", "padding": "3"}
    app.query_params = {}
    app.switch_page("positions/page.py").run()
    app.switch_page("masks/page.py").run()
    assert app.text_input(key="masks_text").value == "a bird " * 1429
    app.text_input(key="masks_text").set_value("A short one.").run()
    assert app.query_params == {"text": "A short one.", "part": "one", "padding": "3"}
    assert not any(texts.LINK_TOO_LONG_FOR_ADDRESS in caption.value for caption in app.caption)


@pytest.mark.parametrize(
    "page", ["attention", "fill_mask", "compare", "summaries", "many_sentences", "bertviz_page", "positions"]
)
def test_no_model_is_said_to_have_computed_where_the_chosen_one_cannot_be_had(open_app, monkeypatch, page):
    def unreachable(_hub_id: str, _revision: str | None):
        raise ModelUnavailable("It cannot be reached now.")

    monkeypatch.setattr(catalogue, "fetch", unreachable)
    app = open_app(page, model="bert-base-uncased", **({"part": "shuffle"} if page == "positions" else {}))
    assert not app.exception
    assert any("cannot be reached" in text.value for text in app.text)
    assert not [caption.value for caption in app.caption if caption.value.startswith(":material/memory:")]
    app = open_app(page)
    assert [caption.value for caption in app.caption if caption.value.startswith(":material/memory:")]


def test_the_source_is_the_text_of_the_file():
    written = Path(attention.__file__).read_text("utf-8")
    source = source_of(attention.attend)
    assert source.startswith("def attend(")
    assert source in written
    assert home_of(attention.attend) == "tx_core/transformer/attention.py"


def test_a_class_is_shown_whole():
    assert source_of(layers.LayerNorm) == inspect.getsource(layers.LayerNorm).rstrip()
    assert home_of(layers.LayerNorm) == "tx_core/transformer/layers.py"


def shown() -> None:
    from pages.ui.shell.frame import show_source
    from tx_core.transformer.attention import attend, softmax

    show_source(attend, softmax)


def test_code_is_sent_only_when_it_is_unfolded_every_function_under_its_file():
    app = AppTest.from_function(shown).run(timeout=240)
    assert [len(app.expander), len(app.code), len(app.caption)] == [1, 0, 0]
    app.session_state["source_code"] = True
    app.run()
    assert [code.value for code in app.code] == [source_of(attention.attend), source_of(attention.softmax)]
    assert [caption.value for caption in app.caption] == ["`tx_core/transformer/attention.py`"] * 2
