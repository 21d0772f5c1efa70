"""A scan is every head switched off by hand, only faster; a shift sets two predictions side by side."""

import functools

import numpy as np
import pytest
import torch

from tx_core.engine import catalogue
from tx_core.errors import TextProblem
from tx_core.fill_mask import predictions
from tx_core.fill_mask.head_scan import Scan
from tx_core.fill_mask.prediction_shift import shift_predictions
from tx_core.fill_mask.predictions import MAX_TOP_K, predict
from tx_core.fill_mask.word_scores import score_words
from tx_core.transformer.interventions import Intervention

TEXT = "The ___ sat on a ___ in the house."
HIDDEN = (Intervention("hidden", positions=(1,)),)


@pytest.fixture(scope="module", params=["embedded", "bart"])
def engine(request: pytest.FixtureRequest, hub_engine):
    return catalogue.load(catalogue.DEFAULT) if request.param == "embedded" else hub_engine(request.param)


@pytest.fixture(scope="module")
def by_hand(engine):
    """Return the shares of the second blank under changes, each computed once for all tests of an engine."""
    encoding = engine.encode(TEXT)

    @functools.cache
    def shares_under(changes: tuple[Intervention, ...]) -> np.ndarray:
        logits = engine.blank_logits([encoding], interventions=[changes])[0][1].astype(float)
        shares = np.exp(logits - logits.max())
        return shares / shares.sum()

    return shares_under


@pytest.mark.parametrize(("changed", "rows"), [((), 64), (HIDDEN, 3)])
def test_a_scan_is_what_switching_off_each_head_by_hand_gives(engine, by_hand, changed, rows: int, monkeypatch):
    monkeypatch.setattr(predictions, "ROWS_AT_ONCE", rows)
    found = Scan(engine, TEXT, blank=1, interventions=changed, named=[(7,), (3,), (7,)]).run()
    before = by_hand(changed)
    assert found.ids == (before.argmax(),)
    assert found.before == pytest.approx(before.max(), abs=1e-6)
    assert found.after.shape == (engine.info.num_layers, engine.info.num_heads)
    for layer, head in np.ndindex(found.after.shape):
        after = by_hand((Intervention("off", layer, head), *changed))
        assert found.after[layer, head] == pytest.approx(after[found.ids[0]], abs=1e-5)
        assert found.variation[layer, head] == pytest.approx(abs(after - before).sum() / 2, abs=1e-5)
        assert after[found.first[layer, head]] == pytest.approx(after.max(), abs=1e-5)
        for one in found.named:
            assert one.after[layer, head] == pytest.approx(after[one.ids[0]], abs=1e-5)
    assert [one.ids for one in found.named] == [(7,), (3,)]
    assert [one.before for one in found.named] == pytest.approx([before[7], before[3]], abs=1e-6)
    assert found.after[found.most_important] == found.after.min() or (found.change >= 0).all()
    np.testing.assert_allclose(found.change, found.after - found.before)


def test_a_word_of_several_pieces_is_scored_without_each_head_and_changes_follow_its_tokens():
    engine = catalogue.load(catalogue.DEFAULT)
    pieces, hidden = engine.tokenizer.pieces("pancake"), (Intervention("hidden", positions=(3,)), Intervention("off", 0, 1))
    scan = Scan(engine, TEXT, interventions=hidden, named=[pieces])
    *_, last = scan.updates()
    assert last.done == last.total == (1 + len(pieces)) * (1 + engine.info.num_layers * engine.info.num_heads)
    (word,) = scan.result.named
    assert (word.word, word.ids) == ("pancake", tuple(pieces))
    for layer, head in ((1, 2), (4, 6)):
        (score,) = score_words(engine, TEXT, ["pancake"], interventions=[*hidden, Intervention("off", layer, head)])
        assert word.after[layer, head] == pytest.approx(score.probability, rel=1e-3)


def test_a_scan_needs_a_blank():
    with pytest.raises(TextProblem):
        Scan(catalogue.load(catalogue.DEFAULT), "No blank here.")
    with pytest.raises(ValueError, match="within 0 and 1, got 2"):
        Scan(catalogue.load(catalogue.DEFAULT), TEXT, blank=2)


def test_a_shift_holds_both_predictions_with_their_ranks(engine):
    off = [Intervention("off", 0), Intervention("off", 1)]
    before = predict(engine, TEXT, top_k=MAX_TOP_K)
    for at, (one, blank) in enumerate(zip(shift_predictions(engine, TEXT, off, top_k=6), before.blanks, strict=True)):
        logits = torch.tensor(engine.blank_logits([engine.encode(TEXT)], interventions=[off])[0][at]).double()
        after = logits.softmax(-1)
        assert [moved.prediction.id for moved in one.moved if moved.listed_after] == after.topk(6).indices.tolist()
        first = {entry.id: (rank, entry.probability) for rank, entry in enumerate(blank.predictions, 1)}
        assert {moved.prediction.id for moved in one.moved if moved.rank_before <= 6} == set(list(first)[:6])
        for moved in one.moved:
            assert moved.after == pytest.approx(after[moved.prediction.id].item(), abs=1e-6)
            assert moved.rank_after == int((logits > logits[moved.prediction.id]).sum()) + 1
            if moved.rank_before <= 6:
                rank, probability = first[moved.prediction.id]
                # The one was computed in a batch of two, the other alone: the last bits of single precision may differ.
                assert (moved.rank_before, moved.before) == (rank, pytest.approx(probability, abs=1e-5))


def test_predictions_of_a_trace_are_those_of_a_run(engine):
    plain, hidden = (engine.trace(TEXT, keep=("blank_logits",), interventions=one) for one in ((), HIDDEN))
    listed = [
        [(one.id, pytest.approx(one.probability, rel=1e-3)) for one in blank.predictions]
        for blank in predict(engine, TEXT).blanks
    ]
    read = predict(engine, TEXT, trace=plain)
    assert [[(one.id, one.probability) for one in blank.predictions] for blank in read.blanks] == listed
    words = ["dog", "the"]
    for blank, moved in enumerate(shift_predictions(engine, TEXT, HIDDEN, traces=(plain, hidden))):
        assert moved.variation == pytest.approx(shift_predictions(engine, TEXT, HIDDEN)[blank].variation, abs=1e-5)
        scores = score_words(engine, TEXT, words, blank=blank, interventions=HIDDEN, trace=hidden)
        expected = score_words(engine, TEXT, words, blank=blank, interventions=HIDDEN)
        assert [one.probability for one in scores] == pytest.approx([one.probability for one in expected], rel=1e-3)
    assert engine.trace("No blank here.", keep=("blank_logits",)).blank_logits is None
    with pytest.raises(ValueError, match="must have kept the part blank_logits"):
        predict(engine, TEXT, trace=engine.trace(TEXT))
