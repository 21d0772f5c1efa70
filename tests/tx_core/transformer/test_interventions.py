"""Interventions are arguments of a call: they change that call's weights and nothing else."""

import math

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch import Tensor

from tx_core.transformer.attention import attend, softmax
from tx_core.transformer.interventions import UNCHANGED, Interventions, RowInterventions, for_rows
from tx_core.transformer.layer_change import LayerChange, RowChanges
from tx_core.transformer.masks import causal_mask, padding_mask
from tx_core.transformer.normalise import sparsemax

BATCH, HEADS, QUERIES, KEYS = 2, 3, 4, 5
MASK = padding_mask([5, 3])


def scores(seed: int = 0) -> Tensor:
    return torch.randn(BATCH, HEADS, QUERIES, KEYS, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def off(*heads: tuple[int, int | None]) -> Interventions:
    return Interventions(heads_off=frozenset(heads))


def test_nothing_changed_is_no_change_at_any_layer():
    assert [UNCHANGED.at(layer) for layer in range(3)] == [None, None, None]
    assert [off((1, 0)).at(layer) for layer in range(3)] == [None, LayerChange(off=frozenset({0})), None]


def test_a_head_switched_off_gets_zeros_and_its_neighbours_keep_their_weights():
    changed = off((1, 2)).at(1)(scores(), None, softmax)
    assert torch.equal(changed[:, 2], torch.zeros(BATCH, QUERIES, KEYS))
    assert torch.equal(changed[:, :2], softmax(scores())[:, :2])


def test_a_head_of_none_is_all_heads_of_the_layer():
    assert not off((1, None)).at(1)(scores(), None, softmax).any()
    uniform = Interventions(uniform=frozenset({(1, None)})).at(1)(scores(), MASK, softmax)
    assert torch.allclose(uniform[1, :, :, :3], torch.full((HEADS, QUERIES, 3), 1 / 3, dtype=torch.float64))
    assert not uniform[1, :, :, 3:].any()


def test_a_uniform_head_shares_out_evenly_what_its_mask_allows():
    changed = LayerChange(uniform=frozenset({1}))(scores()[:, :, :, :4], causal_mask(4), softmax)
    assert torch.allclose(changed[0, 1, 2], torch.tensor([1 / 3, 1 / 3, 1 / 3, 0], dtype=torch.float64))
    assert torch.equal(changed[:, 0], LayerChange()(scores()[:, :, :, :4], causal_mask(4), softmax)[:, 0])


def test_a_uniform_head_does_not_look_at_hidden_tokens_either():
    changed = LayerChange(uniform=frozenset({1}), hidden=frozenset({(1, 0)}))(scores(), MASK, softmax)
    assert torch.allclose(changed[1, 1, 0], torch.tensor([0, 0.5, 0.5, 0, 0], dtype=torch.float64))


def test_a_hidden_token_gets_nothing_and_the_others_share_what_it_had():
    changed, plain = LayerChange(hidden=frozenset({(None, 1)}))(scores(), None, softmax), softmax(scores())
    left = plain.index_fill(-1, torch.tensor([1]), 0.0)
    assert torch.allclose(changed, left / left.sum(-1, keepdim=True))


def test_a_token_hidden_in_one_head_is_seen_by_the_others():
    changed = LayerChange(hidden=frozenset({(2, 1)}))(scores(), None, softmax)
    assert not changed[:, 2, :, 1].any()
    assert torch.equal(changed[:, :2], softmax(scores())[:, :2])


def test_a_cut_edge_is_zero_and_no_other_row_changes():
    changed = LayerChange(cut=frozenset({(2, 3, 1)}))(scores(), None, softmax)
    assert not changed[:, 2, 3, 1].any()
    assert torch.equal(changed[:, :, :3], softmax(scores())[:, :, :3])
    assert torch.equal(changed[:, :2], softmax(scores())[:, :2])


def test_a_query_whose_edges_are_all_cut_gets_zeros():
    changed = LayerChange(cut=frozenset((None, 2, key) for key in range(KEYS)))(scores(), None, softmax)
    assert not changed[:, :, 2].any()
    assert torch.allclose(changed[:, :, 1].sum(-1), torch.ones(BATCH, HEADS, dtype=torch.float64))


def test_a_temperature_divides_the_scores():
    expected = scores().div(0.5).exp()
    changed = LayerChange(temperature=0.5)(scores(), None, softmax)
    assert torch.allclose(changed, expected / expected.sum(-1, keepdim=True))


def test_a_layers_own_temperature_and_normaliser_go_before_those_of_all():
    both = Interventions(temperatures=frozenset({(None, 2.0), (1, 0.5)}), normalisers=frozenset({(2, "hard"), (None, "sparse")}))
    assert [both.at(layer).temperature for layer in range(3)] == [2.0, 0.5, 2.0]
    assert [both.at(layer).normaliser for layer in range(3)] == ["sparse", "sparse", "hard"]


def test_sparse_attention_is_the_sparsemax_of_the_scores_and_hard_attention_all_on_the_best():
    masked = scores().masked_fill(~MASK, -torch.inf)
    assert torch.equal(LayerChange(normaliser="sparse")(scores(), MASK, softmax), sparsemax(masked))
    hard = LayerChange(normaliser="hard")(scores(), MASK, softmax)
    assert torch.equal(hard.argmax(-1), masked.argmax(-1))
    assert torch.equal(hard.amax(-1), hard.sum(-1))


changes = st.builds(
    LayerChange,
    off=st.frozensets(st.sampled_from([None, 0, 1, 2]), max_size=2),
    uniform=st.frozensets(st.sampled_from([None, 0, 1, 2]), max_size=2),
    hidden=st.frozensets(st.tuples(st.sampled_from([None, 0, 2]), st.integers(0, KEYS - 1)), max_size=3),
    cut=st.frozensets(st.tuples(st.sampled_from([None, 1]), st.integers(0, QUERIES - 1), st.integers(0, KEYS - 1)), max_size=4),
    temperature=st.floats(0.05, 20),
    normaliser=st.sampled_from([None, "sparse", "hard"]),
)


@given(change=changes, seed=st.integers(0, 9))
def test_whatever_is_changed_what_was_masked_stays_masked_and_a_row_is_shares_or_nothing(change: LayerChange, seed: int):
    weights = change(scores(seed), MASK, softmax)
    assert not weights.masked_select(~MASK.expand_as(weights)).any()
    assert (weights >= 0).all()
    sums = weights.sum(-1)
    assert torch.all(torch.isclose(sums, torch.ones_like(sums)) | (sums == 0))


@given(
    row=st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1, max_size=5),
    temperature=st.floats(0, math.inf, exclude_min=True, exclude_max=True),
    normaliser=st.sampled_from([None, "sparse", "hard"]),
)
@example(row=[0.3, -1.2, 4.0], temperature=1e-39, normaliser=None)
@example(row=[0.3, -1.2, 4.0], temperature=5e-324, normaliser="sparse")
@example(row=[0.3, -1.2, 4.0], temperature=1e300, normaliser=None)
def test_at_any_temperature_above_0_finite_scores_become_shares(row: list[float], temperature: float, normaliser: str | None):
    change = Interventions(
        temperatures=frozenset({(None, temperature)}), normalisers=frozenset({(0, normaliser)} if normaliser else ())
    )
    asked = torch.tensor(row).expand(1, 1, 2, len(row))
    mask = torch.ones(1, 1, 2, len(row), dtype=torch.bool)
    mask[..., 1, 1:] = False
    weights = (change.at(0) or LayerChange())(asked, mask, softmax)
    assert (weights >= 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, 1, 2))
    assert not weights[..., 1, 1:].any()


@given(first=st.none() | changes, second=st.none() | changes, seed=st.integers(0, 9))
def test_rows_with_changes_of_their_own_are_what_each_is_alone(first, second, seed: int):
    together = RowChanges((first, second))(scores(seed), MASK, softmax)
    for row, change in enumerate((first, second)):
        alone = scores(seed)[[row]], MASK[[row]]
        query = torch.zeros(1, HEADS, QUERIES, 1, dtype=torch.float64)
        value = torch.zeros(1, HEADS, KEYS, 1, dtype=torch.float64)
        expected = attend(query, value, value, alone[1], bias=alone[0], change=change).weights
        assert torch.allclose(together[[row]], expected)


def test_rows_with_the_same_change_are_one_change():
    same = RowInterventions((off((1, 2)), off((1, 2))))
    assert same.at(1) == LayerChange(off=frozenset({2}))
    assert same.at(0) is None


def test_as_many_interventions_as_rows_are_asked_for():
    assert for_rows(UNCHANGED, 3) == (UNCHANGED,) * 3
    with pytest.raises(ValueError, match="got 2 for 3 rows"):
        for_rows([UNCHANGED] * 2, 3)
    with pytest.raises(ValueError, match="got 1 for 2 rows"):
        RowChanges((None,))(scores(), None, softmax)


def test_the_scores_handed_back_are_those_before_the_change():
    query, key = scores()[..., :3], scores(1)[..., :3]
    change = LayerChange(temperature=3.0, hidden=frozenset({(None, 0)}))
    assert torch.equal(attend(query, key, key, change=change).scores, attend(query, key, key).scores)


def test_places_follow_a_token_that_is_written_as_several():
    before = Interventions(hidden_tokens=frozenset({(None, None, 1), (0, 2, 3)}), cut_edges=frozenset({(None, None, 1, 4)}))
    after = before.widened(1, 3)
    assert after.hidden_tokens == {(None, None, 1), (None, None, 2), (None, None, 3), (0, 2, 5)}
    assert after.cut_edges == {(None, None, query, 6) for query in (1, 2, 3)}
    assert before.widened(1, 1) == before


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"heads_off": frozenset({(-1, 0)})}, "counted from 0"),
        ({"heads_off": frozenset({(0, -2)})}, "counted from 0"),
        ({"hidden_tokens": frozenset({(None, 2, 0)})}, "must name the layer of a head"),
        ({"hidden_tokens": frozenset({(None, None, -1)})}, "counted from 0"),
        ({"cut_edges": frozenset({(None, None, 1, -1)})}, "counted from 0"),
        ({"temperatures": frozenset({(None, 0.0)})}, "above 0, got 0"),
        ({"temperatures": frozenset({(0, math.nan)})}, "above 0, got nan"),
        ({"temperatures": frozenset({(0, math.inf)})}, "above 0, got inf"),
        ({"temperatures": frozenset({(0, 1.0), (0, 2.0)})}, "one value a layer"),
        ({"normalisers": frozenset({(-1, "hard")})}, "one value a layer"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_rule_and_the_value(wrong: dict, told: str):
    with pytest.raises(ValueError, match=told):
        Interventions(**wrong)
