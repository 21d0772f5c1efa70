"""The embedded writer runs in our own layers, and computes what the transformers library's Starcoder2 computes of its files."""

from dataclasses import replace

import numpy as np
import pytest

from tx_core.causal.patch import patch
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine
from tx_core.engine.hub.load import load_engine
from tx_core.engine.tokenizer import NO_TOKEN_OF_NUMBER
from tx_core.errors import ModelUnavailable, TextProblem
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import ALL_PARTS

TEXT = "Once upon a time there was a king."
PARTS = [part for part in ALL_PARTS if part != "blank_logits"]


@pytest.fixture(scope="module")
def theirs() -> Engine:
    return load_engine(catalogue.MODELS / catalogue.WRITER, "theirs", "Theirs")


@pytest.mark.ci
@pytest.mark.parametrize(
    "changes",
    [
        (),
        (Intervention("off", layer=2, head=3), Intervention("uniform", layer=1, head=0)),
        (Intervention("cut", positions=(5, 2)), Intervention("hidden", layer=4, positions=(1,))),
        (Intervention("temperature", layer=0, value=0.5), Intervention("no_padding_mask", value=3.0)),
    ],
    ids=["as it is", "heads", "links", "softmax and padding"],
)
def test_every_part_of_a_run_is_the_librarys(writer, theirs, changes):
    mine, other = (engine.trace(TEXT, keep=PARTS, interventions=changes) for engine in (writer, theirs))
    assert mine.attention.query_tokens == other.attention.query_tokens
    for part in PARTS:
        pair = (mine.hidden, other.hidden) if part == "hidden" else (getattr(one.attention, part) for one in (mine, other))
        np.testing.assert_allclose(*pair, rtol=0, atol=2e-5 if part == "scores" else 1e-5, err_msg=part)
    assert not np.triu(mine.attention.weights, 1).any()


@pytest.mark.ci
def test_logits_projections_and_early_scores_are_the_librarys(writer, theirs):
    row = replace(writer.encode(TEXT), blanks=(2, 8))
    changes = [(), (Intervention("off", layer=3, head=1),), (Intervention("off", layer=5),)]
    mine, other = (engine.blank_logits([row] * 3, interventions=changes) for engine in (writer, theirs))
    np.testing.assert_allclose(mine, other, rtol=0, atol=5e-5)
    np.testing.assert_allclose(writer.output_projection(4), theirs.output_projection(4))
    states = writer.trace(TEXT, keep=("hidden",)).hidden[:, 4]
    np.testing.assert_allclose(writer.early_scores(states), theirs.early_scores(states), rtol=0, atol=5e-5)
    np.testing.assert_array_equal(writer.embed(row.ids), theirs.embed(row.ids))
    seen = [engine.over_weights([row, writer.encode("A cat")], lambda layers: layers[2].numpy()) for engine in (writer, theirs)]
    np.testing.assert_allclose(seen[0][0], seen[1][0], rtol=0, atol=1e-5)
    assert (writer.info.family, writer.info.max_tokens) == (theirs.info.family, theirs.info.max_tokens)


@pytest.mark.ci
def test_what_is_patched_is_that_of_the_librarys(writer, theirs):
    about = {"source": "The keys to the cabinet", "target": "The key to the cabinet", "answers": ("are", "is")}
    mine, other = (patch(engine, **about) for engine in (writer, theirs))
    assert mine.effect[-1, mine.place] == pytest.approx(1)
    np.testing.assert_allclose(mine.difference, other.difference, rtol=0, atol=1e-4)


def test_tokens_that_were_written_are_read_as_they_are(writer):
    """The word “unhappy” is one token, and is not read as one where the model wrote its pieces."""
    plain = writer.encode("he was unhappy")
    pieces = [writer.tokenizer.entry(piece) for piece in ("un", "##h", "##app", "##y")]
    written = writer.encode("he was", None, pieces)
    assert (len(plain), len(written)) == (4, 7)
    assert written.tokens[-4:] == ("un", "##h", "##app", "##y")
    assert (written.word_texts, written.words[-4:], written.written) == (("he", "was", "unhappy"), (2,) * 4, tuple(pieces))
    ended = writer.encode("he was", None, [writer.tokenizer.entry("[SEP]"), writer.tokenizer.entry("##y")])
    assert (ended.special[-2:], ended.words[-2:]) == ((True, False), (None, 2))
    assert writer.trace("he was", written=pieces).attention.weights.shape[-1] == 7
    for number in (-1, 10_240, 10**9):
        with pytest.raises(TextProblem) as told:
            writer.encode("he was", None, [number])
        assert str(told.value) == NO_TOKEN_OF_NUMBER.format(number=number)
    with pytest.raises(TextProblem, match="the model reads at most 256"):
        writer.encode("he was", None, [7] * 254)


def test_the_writer_fills_no_blanks(writer):
    assert not writer.info.fills_blanks
    with pytest.raises(ModelUnavailable, match="cannot fill blanks"):
        writer.gradients(writer.encode("he"), writer.embed([1, 2])[None], 1, 5)
