"""The attention page: what is typed, chosen or linked is what is shown, and nothing that is typed can break it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from streamlit.testing.v1 import AppTest

from pages.ui.panels import texts
from pages.ui.shell import cache, controls, examples
from tests.support.checkpoints import write_t5
from tests.support.drawings import drawn, says, shown_weights, weights_of
from tx_core.analysis import sentences
from tx_core.engine import catalogue

Open = Callable[..., AppTest]
FIRST = examples.curated()[0]


def test_on_arrival_an_example_is_drawn_with_what_to_notice_and_said_in_words(open_app: Open):
    app = open_app()
    assert not app.exception
    assert app.text_input(key="attention_text").value == FIRST.text
    assert app.pills(key="attention_example").value == FIRST.title
    assert FIRST.notice in says(app)
    (head,) = FIRST.heads
    share = weights_of(FIRST.text)[head][3, 1]
    assert sentences.QUERY_ONE_KEY.format(query="“her”", key="“mary”", weight=share).rstrip(".") in app.text[0].value
    np.testing.assert_allclose(shown_weights(app), weights_of(FIRST.text)[head], atol=1e-4)
    assert drawn(app)["head_wall"][0]["chosen"] == [list(head)]
    assert app.query_params == {}


def test_a_pair_is_read_with_segments_and_without_special_tokens_where_the_reader_leaves_them_out(open_app: Open):
    app = open_app(text="time flies", pair="fruit flies")
    assert "7 of 128 tokens" in says(app)
    app.toggle(key="attention_nospecial").set_value(True).run()
    bare = catalogue.load("embedded", special_tokens=False).trace("time flies", "fruit flies").attention
    assert drawn(app)["attention_map"][0]["queries"] == ["time", "flies", "fruit", "flies"]
    np.testing.assert_allclose(shown_weights(app), bare.weights[FIRST.heads[0]], atol=1e-4)
    assert "4 of 128 tokens" in says(app)
    assert texts.READ_WITHOUT.format(tokens="\\[CLS\\] and \\[SEP\\]") in says(app)
    assert texts.NO_SEPARATOR[True] in says(app)
    again = open_app(**app.query_params)
    assert drawn(again)["attention_map"][0] == drawn(app)["attention_map"][0]
    assert again.query_params["nospecial"] == "1"
    again.toggle(key="attention_nospecial").set_value(False).run()
    np.testing.assert_allclose(shown_weights(again), weights_of("time flies", "fruit flies")[FIRST.heads[0]], atol=1e-4)


def test_what_an_example_says_is_not_said_of_its_text_without_special_tokens(open_app: Open):
    app = open_app(text=FIRST.text, nospecial="1")
    assert app.pills(key="attention_example").value is None
    app.button(key="attention_example_again").click().run()
    assert app.toggle(key="attention_nospecial").value is False
    assert app.pills(key="attention_example").value == FIRST.title


def test_a_change_that_names_a_token_is_undone_when_special_tokens_are_left_out(open_app: Open):
    app = open_app(text="time flies", changes="hide~2_off~1-2")
    assert len(app.session_state["attention_changes"]) == 2
    app.toggle(key="attention_nospecial").set_value(True).run()
    assert [change.kind for change in app.session_state["attention_changes"]] == ["off"]
    assert len(open_app(text="time flies", changes="hide~2_off~1-2", nospecial="1").session_state["attention_changes"]) == 2


def test_hidden_special_tokens_are_reported_with_their_share(open_app: Open):
    app = open_app(text=FIRST.text, hide="1")
    header, _ = drawn(app)["attention_map"]
    assert header["keys"] == ["mary", "lost", "her", "keys", "."]
    np.testing.assert_allclose(shown_weights(app).sum(1), 1, atol=1e-3)
    lost = weights_of(FIRST.text)[FIRST.heads[0]][1:-1][:, [0, -1]].sum(1).mean()
    assert texts.SPECIAL_HIDDEN.format(share=lost) in says(app)
    share = shown_weights(app)[2, 0]
    linked = sentences.SHOWN_STRONGEST_LINK.format(query="“her”", key="“mary”", weight=share)
    assert linked.rstrip(".") in app.text[0].value


def test_a_focus_stays_on_its_word_when_pieces_are_merged_and_special_tokens_hidden(open_app: Open):
    app = open_app(text="pancake fields burn", focus="5")
    assert drawn(app)["attention_map"][0]["focus"] == 4
    app.toggle(key="attention_words").set_value(True).run()
    assert drawn(app)["attention_map"][0]["focus"] == 2
    app.toggle(key="attention_hide").set_value(True).run()
    assert drawn(app)["attention_map"][0]["focus"] == 1
    head = controls.head_name(FIRST.heads[0])
    read_out = sentences.SHOWN_QUERY_ONE_KEY.partition(" {weight")[0].format(query="“fields”")
    assert app.text[0].value.startswith(f"{head}. {read_out}")
    assert app.query_params["focus"] == "5"


def test_a_model_that_cannot_be_had_leaves_the_page_usable_and_the_text_in_place(open_app: Open, monkeypatch):
    monkeypatch.setattr(catalogue, "fetch", unreachable)
    (head,) = FIRST.heads
    view = {"text": FIRST.text, "heads": f"{head[0] + 1}-{head[1] + 1}"}
    app = open_app(**view, model="roberta-base")
    assert not app.exception
    assert "cannot be reached now" in says(app)
    assert FIRST.notice not in says(app)
    assert app.text_input(key="attention_text").value == FIRST.text
    app.button(key="attention_model_default").click().run()
    assert FIRST.notice in says(app)
    assert drawn(app)["head_wall"][0]["chosen"] == [list(head)]


def unreachable(hub_id: str, revision: str | None) -> Path:
    raise catalogue.ModelUnavailable(f"{hub_id} cannot be reached now.")


def test_a_model_with_several_attentions_offers_each_with_its_own_axes(open_app: Open, monkeypatch, tmp_path: Path):
    checkpoint = write_t5(tmp_path)
    monkeypatch.setattr(catalogue, "fetch", lambda hub_id, revision: checkpoint)
    app = open_app(text="time flies like an arrow", pair="fruit flies", model="t5-small", heads="1-1", stack="cross")
    assert not app.exception
    stacks = cache.trace_with(cache.engine("t5-small"), "time flies like an arrow", "fruit flies").stacks
    cross = next(stack for stack in stacks if stack.kind == "cross")
    header, _ = drawn(app)["attention_map"]
    assert header["queries"] == list(cross.query_tokens.tokens)
    assert header["keys"] == list(cross.key_tokens.tokens)
    assert header["queries"] != header["keys"]
    np.testing.assert_allclose(shown_weights(app), cross.weights[0, 0], atol=1e-4)
    assert app.query_params["stack"] == "cross"


def test_the_table_holds_the_weights_that_are_drawn(open_app: Open):
    app = open_app(heads="2-6")
    assert not app.dataframe
    app.session_state["attention_table"] = True
    app.run()
    table = app.dataframe[0].value.set_index("")
    assert list(table.columns) == list(table.index) == ["1 [CLS]", "2 mary", "3 lost", "4 her", "5 keys", "6 .", "7 [SEP]"]
    np.testing.assert_allclose(table.to_numpy(), weights_of(FIRST.text)[1, 5], atol=1e-4)
