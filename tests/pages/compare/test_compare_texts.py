"""What the texts of the page claim is true of the embedded model: of every difference, of partners, and of vectors."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from pages.compare.runs import TRACE_PARTS, SideRun
from pages.ui.stage.packing import RunName
from tx_core.analysis.comparison import compare_attention, cosines, word_vectors
from tx_core.engine import catalogue
from tx_core.transformer.attention import attend
from tx_core.transformer.interventions import Intervention

FLIES = ("time flies like an arrow", "fruit flies like a banana")
OTHERS = ("The old man saw a dog.", "Yesterday an old woman saw a cat, too.")


def ran(text: str, head: tuple[int, int | None] = (5, None), *, seed: int = 0, changes: Sequence[Intervention] = ()) -> SideRun:
    name = RunName("embedded", text, "", False, tuple(changes), seed)
    return SideRun(name, name.run(TRACE_PARTS), head, words=True, hide=False)


@pytest.mark.parametrize("sentences", [FLIES, OTHERS])
def test_what_words_without_a_partner_take_is_missing_in_the_differences_of_a_row(sentences: tuple[str, str]):
    one, other = map(ran, sentences)
    found = compare_attention(one.view, other.view, one.spelled, other.spelled, one.weights, other.weights)
    assert found.difference.min() < 0 < found.difference.max()
    alone = [place for place, partner in found.rows if partner is None]
    theirs = [place for partner, place in found.rows if partner is None]
    for row, (mine, yours) in enumerate(found.rows):
        if None not in (mine, yours):
            missing = one.weights[mine, alone].sum() - other.weights[yours, theirs].sum()
            assert found.difference[row].sum() == pytest.approx(missing, abs=1e-5)


def test_heads_that_look_elsewhere_can_pass_on_the_same():
    query, key = torch.randn(2, 5, 4), torch.randn(2, 5, 4)
    result = attend(query, key, torch.ones(2, 5, 4))
    assert (result.weights[0] - result.weights[1]).abs().max() > 0.1
    torch.testing.assert_close(result.context[0], result.context[1])


def test_what_a_head_did_may_have_been_done_twice():
    """Two heads look at the token before. One is switched off, and the other, a layer later, still does so."""
    heads = [(0, 7), (1, 3)]
    plain = [ran(FLIES[0], head).weights for head in heads]
    assert all(np.diagonal(weights, -1).mean() > 0.5 for weights in plain)
    kept = ran(FLIES[0], heads[1], changes=[Intervention("off", *heads[0])]).weights
    assert np.diagonal(kept, -1).mean() > 0.5


def test_heads_of_one_run_share_the_vectors_of_every_word():
    one, other = ran(FLIES[0], (5, 1)), ran(FLIES[0], (2, 3))
    np.testing.assert_array_equal(one.trace.hidden, other.trace.hidden)


def test_between_two_models_a_word_is_as_far_from_itself_as_from_any_other():
    one, other = ran(FLIES[0]), ran(FLIES[0], seed=1)
    alike = cosines(*(word_vectors(side.trace.hidden, side.view.query_places) for side in (one, other)))
    own = np.eye(alike.shape[1], dtype=bool)
    assert np.abs(alike[:, own].mean(-1) - alike[:, ~own].mean(-1)).max() < 0.05
    assert np.abs(alike).max() < 0.3


def test_the_position_of_a_word_in_its_sentence_counts():
    places = {text: text.split().index("old") + 1 for text in ("the old man", "an old dog", "a dog and an old man")}
    vectors = {text: catalogue.load("embedded").trace(text, keep=("hidden",)).hidden[0, place] for text, place in places.items()}
    first, same, later = vectors.values()
    assert float(cosines(first[None, None], same[None, None])[0, 0, 0]) == pytest.approx(1, abs=1e-5)
    assert float(cosines(first[None, None], later[None, None])[0, 0, 0]) < 0.95
