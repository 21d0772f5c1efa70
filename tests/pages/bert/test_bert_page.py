"""The page on BERT: ours beside the library's, heads for labels, and what came after."""

import threading
from urllib.parse import parse_qs

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from pages.bert import compare, texts
from pages.bert.inputs import FIRST_TEXT, REVIEW, TRAINED
from pages.ui.shell.readiness import Status, Warmup
from tests.support.drawings import sent_to
from tests.support.staged import ask_stage, sent_weights, staged, staged_picture, staged_steps
from tx_core.engine import catalogue
from tx_core.lessons.bert_parts import tensor_shapes
from tx_core.lessons.families import FAMILIES
from tx_core.lessons.labels import FINE_TUNED
from tx_core.lessons.parity import compare_with_library
from tx_core.training import fine_tune

PAGE = "bert"
TEXT = "I drink a cup of [MASK] every morning."


@pytest.fixture(autouse=True, scope="module")
def loaded_library():
    """Hugging Face's BERT as it is once the first reader has waited for it."""
    compare.library.start().join()
    assert compare.library.status.state == "ready"


def test_on_arrival_the_library_is_loaded_in_the_background_and_the_comparison_follows_by_itself(open_app, monkeypatch):
    imported = threading.Event()

    def load() -> Status:
        assert imported.wait(60)
        return compare._load_library()

    monkeypatch.setattr(compare, "library", Warmup(load))
    app = open_app(PAGE)
    assert not app.exception
    assert (staged(app)["note"], staged(app)["awaits"], staged(app)["before"]) == (texts.LOADING_LIBRARY, True, None)
    assert not app.metric
    imported.set()
    (thread,) = (thread for thread in threading.enumerate() if thread.name == "warmup")
    thread.join()
    app.run()  # as the stage asks for
    assert not staged(app)["awaits"]
    assert staged(app)["before"]
    assert len(app.metric) == 3


def test_both_runs_are_sent_whole_with_how_far_they_are_apart_in_every_part(open_app, engine):
    app = open_app(PAGE, text=TEXT)
    found = compare_with_library(engine, compare.CHECKPOINT, TEXT)
    header = staged(app)
    assert header["states"] == texts.STATES
    for head in ((0, 0), (5, 7)):
        np.testing.assert_allclose(sent_weights(app, head), found.ours[head], atol=2e-3)
        np.testing.assert_allclose(sent_weights(app, head, run="before"), found.theirs[head], atol=2e-3)
    assert np.array(header["apart"]).shape == (6, 8)
    (stack,) = header["architecture"]["stacks"]
    notes = [one for part in stack["partNotes"] for one in part.values()] + [
        stack["before"][0]["note"],
        stack["after"][0]["note"],
    ]
    assert len(notes) == 14
    assert all(note in ("", "0") or "10⁻" in note for note in [*notes, *np.array(header["apart"]).ravel()])
    assert max(*found.hidden, *found.weights, found.logits) < 1e-4


def test_the_configuration_and_every_tensor_are_those_of_the_checkpoint(open_app, engine):
    app = open_app(PAGE, text=TEXT)
    app.session_state["bert_tensors"] = True
    app.run()
    config, tensors = (frame.value for frame in app.dataframe[-2:])
    assert dict(zip(config[texts.FIELD], config[texts.VALUE], strict=True))["hidden_size"] == "256"
    stored = load_file(catalogue.MODELS / "embedded" / "model.safetensors")
    assert tensors[texts.SIZE].sum() == sum(value.numel() for value in stored.values())
    assert len(tensors) == len(tensor_shapes(engine.model)) == len(stored)


def test_the_heads_begin_with_the_one_that_was_trained_and_show_its_logits(open_app):
    app, text = open_app(PAGE, part="labels", text="The story is dull."), "The story is dull."
    tuned = catalogue.load(FINE_TUNED, weights=True)
    logits = tuned.label_logits(tuned.trace(text, keep=("hidden",)).hidden[-1])
    assert sent_to(app, "stage_pictures")  # not to the script that the page begins with
    header, matrices = staged_steps(app)
    np.testing.assert_allclose(matrices["logits"][0], logits, atol=1e-5)
    np.testing.assert_allclose(matrices["shares"][0], torch.tensor(logits).softmax(-1), atol=1e-5)
    assert np.abs(matrices["read"]).max() <= 1  # tanh
    assert texts.TRAINED_HEAD in header["sentence"]
    assert list(fine_tune.OPINION_LABELS) in header["names"]
    assert "seed" not in [control["name"] for control in staged(app)["controls"]]


def test_the_labels_of_film_reviews_open_on_a_review_and_change_no_sentence_of_a_visitors(open_app):
    app = open_app(PAGE, part="labels")
    assert app.text_input(key=f"{PAGE}_text").value == REVIEW
    assert staged_steps(app)[1]["shares"][0, 1] > 0.9  # positive
    for settings, text in (({"kind": "every"}, FIRST_TEXT), ({"kind": TRAINED}, REVIEW), ({"part": "compare"}, FIRST_TEXT)):
        assert ask_stage(app, "settings", settings).text_input(key=f"{PAGE}_text").value == text
    app.text_input(key=f"{PAGE}_text").set_value("My own words.").run()
    assert ask_stage(app, "settings", {"part": "labels"}).text_input(key=f"{PAGE}_text").value == "My own words."
    assert open_app(PAGE, part="labels", text=FIRST_TEXT).text_input(key=f"{PAGE}_text").value == FIRST_TEXT


def test_electra_large_tells_the_shape_of_its_last_hidden_state(open_app):
    app = open_app(PAGE, text="The capital of France is [MASK].", part="family", family="electra-large")
    large = FAMILIES["electra-large"]
    shown = staged_picture(app, texts.SIZES)
    assert texts.NOT_OFFERED.format(title=large.title, tokens=9, hidden=1024) in shown["sentence"]
    assert [row[-1] for row in shown["chart"]["rows"]] == [f"{family.sizes.parameters:,}" for family in FAMILIES.values()]
    assert (shown["chooses"], shown["choices"]) == ("family", list(FAMILIES))
    assert f"{large.sizes.parameters * 4 / 1e9:.1f} GB" in texts.NOT_OFFERED  # four bytes a parameter


def test_a_successor_that_is_offered_leads_to_its_attention_and_another_one_does_not(open_app):
    for family, links in {"albert": [("albert-base-v2", "Birds sing.")], "electra-large": []}.items():
        app = open_app(PAGE, text="Birds sing.", part="family", family=family)
        views = [parse_qs(link.proto.query_string) for link in app.get("page_link")]
        assert [(view["model"][0], view["text"][0]) for view in views if "model" in view] == links


def test_the_page_says_what_a_larger_model_would_take_beside_the_librarys_copy(open_app):
    stored = load_file(catalogue.MODELS / "embedded" / "model.safetensors").values()
    ours, base = 4 * sum(value.numel() for value in stored) / 1e6, catalogue.card("bert-base-uncased").megabytes
    said = texts.BUILT_IN_ONLY.format(ours=ours, base=base)
    assert f"{ours:.0f} MB" in said
    assert 4 * FAMILIES["bert"].sizes.parameters / 1e6 == pytest.approx(base, rel=0.02)  # without the head
    assert said in [caption.value for caption in open_app(PAGE, part="labels").caption]
