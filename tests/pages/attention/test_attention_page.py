"""The attention page: what is typed or linked is run and sent, comes back by its link, and can break nothing."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.attention import inputs
from pages.ui.shell import cache, controls, texts
from pages.ui.stage import attention
from pages.ui.stage import texts as stage_texts
from pages.ui.stage.attention import ClassGuesses
from pages.ui.stage.texts import CLASS_GUESSED
from tests.support.blanks import ask
from tests.support.checkpoints import write_family
from tests.support.drawings import says, weights_of
from tests.support.staged import axes, is_staged, made_changes, sent_weights, staged
from tx_core.engine import catalogue
from tx_core.transformer.interventions import read_interventions

Open = Callable[..., AppTest]
FIRST = inputs.EXAMPLES[0]
TEXT = FIRST.view["text"]
(HEAD,) = FIRST.view["heads"]


@pytest.mark.parametrize("pair", ["", "fruit flies"])
def test_a_text_is_read_without_special_tokens_where_the_reader_leaves_them_out(open_app: Open, pair: str):
    app = open_app(text="time flies", pair=pair)
    app.toggle(key="attention_nospecial").set_value(True).run()
    bare = catalogue.load("embedded", special_tokens=False).trace("time flies", pair or None).attention
    assert axes(app)[0] == ["time", "flies", *pair.split()]
    np.testing.assert_allclose(sent_weights(app, HEAD), bare.weights[HEAD], atol=3.1e-5)
    assert f"{2 + len(pair.split())} of 128 tokens" in says(app)
    assert stage_texts.READ_WITHOUT.format(tokens="\\[CLS\\] and \\[SEP\\]") in says(app)
    assert (stage_texts.NO_SEPARATOR[True] in says(app)) is bool(pair)
    app.toggle(key="attention_nospecial").set_value(False).run()
    np.testing.assert_allclose(sent_weights(app, HEAD), weights_of("time flies", pair or None)[HEAD], atol=3.1e-5)


def test_a_model_that_adds_no_special_tokens_says_so(open_app: Open, checkpoint, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(catalogue, "fetch", lambda hub_id, revision: checkpoint("gpt2"))
    assert stage_texts.ADDS_NONE in says(open_app(text="time flies", model="gpt2", nospecial="1"))
    assert stage_texts.ADDS_NONE not in says(open_app(text="time flies", model="gpt2"))


def test_a_changed_run_is_sent_with_the_run_before_it_and_named(open_app: Open):
    app = open_app(text=TEXT, changes="off~2-3")
    changed = catalogue.load(catalogue.DEFAULT).trace(TEXT, interventions=read_interventions("off~2-3"))
    np.testing.assert_allclose(sent_weights(app, (3, 0)), changed.attention.weights[3, 0], atol=3.1e-5)
    np.testing.assert_allclose(sent_weights(app, (3, 0), run="before"), weights_of(TEXT)[3, 0], atol=3.1e-5)
    assert staged(app)["changes"] == [{"link": "off~2-3", "label": "Layer 2, head 3: switched off"}]
    (head, share), *_ = staged(app)["moved"][0]
    moved = np.abs(changed.attention.weights - weights_of(TEXT)).sum(-1).mean(-1) / 2
    moved[1, 2] = 0
    assert tuple(head) == np.unravel_index(moved.argmax(), moved.shape)
    assert share == pytest.approx(moved.max(), abs=1e-3)


def test_what_the_stage_asks_for_is_made_and_taken_back(open_app: Open):
    app = ask(open_app(text=TEXT), add=["off~1-1", "hide~3"], drop=[])
    assert not app.exception
    assert made_changes(app) == ["off~1-1", "hide~3"]
    app = ask(app, add=["temperature~0.5"], drop=["off~1-1"])
    assert made_changes(app) == ["hide~3", "temperature~0.5"]


def test_another_text_takes_changes_of_tokens_back_and_keeps_those_of_heads(open_app: Open):
    app = open_app(text=TEXT, changes="off~1-1_hide~3")
    app.text_input(key="attention_text").set_value("A woman sang.").run()
    assert made_changes(app) == ["off~1-1"]
    assert stage_texts.TOKEN_CHANGES_UNDONE in says(app)


def test_the_guesses_of_a_class_go_to_wall_and_map(open_app: Open, monkeypatch: pytest.MonkeyPatch):
    about = {"model": "embedded", "text": TEXT}
    on_map = ClassGuesses(**about, head=HEAD, tokens=("mary", "lost"), cells=(("her", "mary", 0.75, "3 (75 %)"),))
    monkeypatch.setattr(attention, "class_guesses", lambda page: on_map)
    said = CLASS_GUESSED.format(said="3 (75 %)")
    expected = {"head": list(HEAD), "tokens": ["mary", "lost"], "cells": [["her", "mary", 0.75, said]]}
    assert staged(open_app(text=TEXT))["guesses"].items() >= expected.items()
    on_wall = ClassGuesses(**about, head=None, cells=(("2", "3", 0.5, "2 (50 %)"),))
    monkeypatch.setattr(attention, "class_guesses", lambda page: on_wall)
    found = staged(open_app(text=TEXT))["guesses"]
    assert (found["wall"], found["cells"]) == ([[1, 2, 0.5]], [])
    assert found["notes"] == [[[1, 2], CLASS_GUESSED.format(said="2 (50 %)")]]


def test_padding_that_is_read_is_a_column_only_where_it_is_the_only_change(open_app: Open):
    assert staged(open_app(text="A bird", changes="padding~8"))["padding"] == 8
    assert staged(open_app(text="A bird", changes="padding~8_off~1-1"))["padding"] == 0


def test_a_model_that_cannot_be_had_leaves_the_page_usable_and_the_text_in_place(open_app: Open, monkeypatch):
    monkeypatch.setattr(catalogue, "fetch", unreachable)
    app = open_app(text="A bird sings.", model="roberta-base", heads="1-2")
    assert not app.exception
    assert "cannot be reached now" in says(app)
    assert not is_staged(app)
    assert app.text_input(key="attention_text").value == "A bird sings."
    app.button(key="attention_model_default").click().run()
    assert staged(app)["view"]["heads"] == [[0, 1]]
    assert staged(app)["address"]["own"] == {"text": "A bird sings."}


def unreachable(hub_id: str, revision: str | None) -> Path:
    raise catalogue.ModelUnavailable(f"{hub_id} cannot be reached now.")


def test_a_model_with_several_attentions_sends_each_with_its_own_axes(open_app: Open, monkeypatch, tmp_path: Path):
    checkpoint = write_family("t5", tmp_path)
    monkeypatch.setattr(catalogue, "fetch", lambda hub_id, revision: checkpoint)
    app = open_app(text="time flies like an arrow", pair="fruit flies", model="t5-small", heads="1-1", stack="cross")
    assert not app.exception
    stacks = cache.trace_with(cache.engine("t5-small"), "time flies like an arrow", "fruit flies").stacks
    number = next(number for number, stack in enumerate(stacks) if stack.kind == "cross")
    cross = stacks[number]
    assert axes(app, number) == (list(cross.query_tokens.tokens), list(cross.key_tokens.tokens))
    np.testing.assert_allclose(sent_weights(app, (0, 0), stack=number), cross.weights[0, 0], atol=3.1e-5)
    assert staged(app)["view"]["stack"] == "cross"


def test_the_table_holds_the_weights_of_the_head_that_the_browser_shows(open_app: Open):
    app = open_app(heads="2-6", text=TEXT)
    assert not app.dataframe
    assert not staged(app)["follows"]
    app.session_state["attention_table"] = True
    app.run()
    table = app.dataframe[0].value.set_index("")
    assert list(table.columns) == list(table.index) == ["1 [CLS]", "2 mary", "3 lost", "4 her", "5 keys", "6 .", "7 [SEP]"]
    np.testing.assert_allclose(table.to_numpy(), weights_of(TEXT)[1, 5], atol=1e-4)
    assert staged(app)["follows"]
    app.query_params = {"text": TEXT, "heads": "4-1"}
    app.run()
    np.testing.assert_allclose(app.dataframe[0].value.set_index("").to_numpy(), weights_of(TEXT)[3, 0], atol=1e-4)


NONSENSE = "<script>alert(1)</script>"


def test_nonsense_in_every_parameter_falls_back_and_says_so(open_app: Open):
    names = ("model", "changes", "stack", "heads", "words", "hide", "show", "lines", "scale", "focus", "compared")
    app = open_app(text="A bird", **dict.fromkeys(names, NONSENSE), unheard_of="1")
    assert not app.exception
    assert texts.UNKNOWN_PARAMETERS.format(names=", ".join(names)) in says(app)
    assert staged(app)["view"]["heads"] == [list(head) for head in inputs.EXAMPLES[0].view["heads"]]
    assert staged(app)["address"]["own"] == {"text": "A bird"}


def test_heads_and_tokens_that_do_not_exist_are_reported(open_app: Open):
    app = open_app(text="A bird", heads="99-1_2-2", focus="77")
    layers, heads = controls.embedded_sizes()
    tokens = len(staged(app)["stacks"][0]["keys"]["tokens"])
    assert [info.value for info in app.info] == [
        stage_texts.HEADS_MISSING.format(layers=layers, heads=heads),
        stage_texts.TOKEN_MISSING.format(tokens=tokens, position=77),
    ]
    assert staged(app)["view"]["heads"] == [[1, 1]]
