"""What is put into a blank, against transformers' own pipeline and by law."""

import re

import pytest
import torch
import transformers

from pages.fill_mask.inputs import QUOTED, QUOTED_MODEL
from tx_core.engine import catalogue
from tx_core.errors import ModelUnavailable, TextProblem
from tx_core.fill_mask.predictions import MAX_TOP_K, NO_BLANK, TOO_MANY_BLANKS, predict

TEXTS = (
    "The man worked as a [MASK].",
    "She put [MASK] and milk in her [MASK], and he drank it.",
    "They were play [MASK] outside.",
)


@pytest.fixture(scope="module")
def pipeline():
    directory = catalogue.MODELS / catalogue.DEFAULT
    model = transformers.BertForMaskedLM.from_pretrained(directory, dtype=torch.float32)
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    return transformers.pipeline("fill-mask", model=model, tokenizer=tokenizer, device="cpu", top_k=15)


@pytest.mark.parametrize("text", TEXTS)
def test_predictions_are_those_of_the_librarys_own_pipeline(engine, pipeline, text):
    reference = pipeline(text)
    lists = reference if isinstance(reference[0], list) else [reference]
    filling = predict(engine, text, top_k=15)
    assert len(filling.blanks) == len(lists) == text.count("[MASK]")
    for blank, entries in zip(filling.blanks, lists, strict=True):
        assert [found.id for found in blank.predictions] == [entry["token"] for entry in entries]
        for found, entry in zip(blank.predictions, entries, strict=True):
            assert found.probability == pytest.approx(entry["score"], abs=1e-5)
            if len(lists) == 1:
                assert found.piece == entry["token_str"]
                assert closed_up(found.sentence) == closed_up(entry["sequence"])


def closed_up(sentence: str) -> str:
    """The letters of a sentence: the pipeline lowers them and puts its own spaces around marks."""
    return "".join(character for character in sentence.lower() if character.isalnum())


@pytest.mark.parametrize("family", ["roberta", "bart"])
def test_a_word_that_opens_the_text_continues_none_though_it_has_no_space_before_it(hub_engine, family):
    engine = hub_engine(family)
    opening, within = (predict(engine, text, top_k=MAX_TOP_K).blanks[0].predictions for text in ("___ flies", "The ___ flies"))
    assert any(entry.word.isalnum() and not entry.piece.startswith("␣") for entry in opening)
    assert not any(entry.joins for entry in opening)
    assert any(entry.joins for entry in within)


def test_top_p_lists_what_it_kept_and_nothing_is_left_over(engine):
    plain = predict(engine, TEXTS[0], top_k=MAX_TOP_K).blanks[0].predictions
    few = predict(engine, TEXTS[0], top_k=MAX_TOP_K, top_p=0.2).blanks[0]
    assert [entry.id for entry in few.predictions] == [entry.id for entry in plain[: len(few.predictions)]]
    before = sum(entry.probability for entry in plain[: len(few.predictions)])
    assert before - plain[len(few.predictions) - 1].probability < 0.2 <= before
    assert sum(entry.probability for entry in few.predictions) == pytest.approx(1)
    assert few.rest == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("No blank here.", re.escape(NO_BLANK)),
        ("___ " * 100, TOO_MANY_BLANKS.format(count=100, maximum=10, excess=90)),
        ("___ " + "tea " * 126, "129 tokens long and the model reads at most 128"),
    ],
)
def test_a_text_that_cannot_be_filled_is_refused_with_the_reason(engine, text, message):
    with pytest.raises(TextProblem, match=message):
        predict(engine, text)


@pytest.mark.parametrize(("setting", "value"), [("top_k", 0), ("top_k", 51), ("temperature", 0.0), ("top_p", 1.1)])
def test_a_setting_out_of_range_is_named_with_its_value(engine, setting, value):
    with pytest.raises(ValueError, match=f"{setting} must be .*got {value}"):
        predict(engine, "A ___.", **{setting: value})


def test_the_founding_figures_where_their_model_can_be_had():
    try:
        base = catalogue.load(QUOTED_MODEL)
    except ModelUnavailable as absent:
        pytest.skip(str(absent))
    for text, expected in QUOTED.items():
        found = {entry.word: entry.probability for entry in predict(base, text, top_k=5).blanks[0].predictions}
        assert [word for word in found if word in expected] == list(expected)
        assert [found[word] for word in expected] == pytest.approx(list(expected.values()), abs=1e-4)
