"""Interventions are arguments of a call: they change that call's weights and nothing else."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from tx_core.transformer.attention import attend, padding_mask, softmax
from tx_core.transformer.changed_run import changed_weights, weigh_at
from tx_core.transformer.interventions import (
    MAX_INTERVENTIONS,
    MAX_PADDING,
    Intervention,
    canonical,
    effective,
    read_interventions,
    shift_positions,
    write_interventions,
)

BATCH, HEADS, QUERIES, KEYS = 2, 3, 4, 5
MASK = padding_mask([5, 3])


def scores(seed: int = 0) -> Tensor:
    return torch.randn(BATCH, HEADS, QUERIES, KEYS, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_a_layers_own_temperature_and_normaliser_override_those_of_all_layers():
    warm, cold = Intervention("temperature", value=2.0), Intervention("temperature", 1, value=0.5)
    hard, sparse = Intervention("hard", 2), Intervention("sparse")
    both = canonical([warm, cold, hard, sparse])
    assert [set(effective(both, layer)) for layer in range(3)] == [{warm, sparse}, {cold, sparse}, {warm, hard}]


def test_in_an_encoder_decoder_what_is_changed_everywhere_is_changed_in_the_encoders_text():
    hidden, cut = Intervention("hidden", positions=(1,)), Intervention("cut", positions=(1, 2))
    warm, causal = Intervention("temperature", value=2.0), Intervention("causal")
    acting = {kind: set(effective([hidden, cut, warm, causal], 4, kind)) for kind in ("self", "decoder", "cross")}
    assert acting == {"self": {hidden, cut, warm, causal}, "decoder": {warm}, "cross": {hidden, warm}}


Given = tuple[object, ...]
"""The arguments of an intervention. It is made in the test: type checks draw at random, which a strategy must not."""


def made_of(several: list[Given]) -> tuple[Intervention, ...]:
    return tuple({one.slot: one for one in (Intervention(*given) for given in several)}.values())


def arguments(
    layers: st.SearchStrategy,
    heads: st.SearchStrategy,
    queries: st.SearchStrategy,
    keys: st.SearchStrategy,
    *,
    whole_run: bool = False,
) -> st.SearchStrategy[Given]:
    paddings = st.integers(1, MAX_PADDING).map(float)
    some_layers = layers.filter(lambda layer: layer is not None)
    scopes = st.tuples(some_layers, heads) | st.tuples(layers, st.none())
    parts = st.sampled_from(["attention", "mlp", "residual"])
    no_positions, temperatures = st.just(()), st.floats(0.01, 100).filter(lambda value: value != 1)
    return st.one_of(
        st.tuples(st.sampled_from(["off", "uniform"]), some_layers, heads),
        st.tuples(st.just("hidden"), scopes, st.tuples(keys)).map(lambda given: (given[0], *given[1], given[2])),
        st.tuples(st.just("cut"), scopes, st.tuples(queries, keys)).map(lambda given: (given[0], *given[1], given[2])),
        st.tuples(st.just("temperature"), layers, st.none(), no_positions, temperatures),
        st.tuples(st.sampled_from(["sparse", "hard"]), layers),
        st.tuples(st.just("patch"), some_layers, heads, no_positions | st.tuples(queries)),
        st.tuples(st.just("patch"), some_layers, st.none(), no_positions | st.tuples(queries), st.just(1.0), parts),
        st.tuples(st.just("mean"), some_layers, heads),
        st.tuples(st.sampled_from(["off", "mean"]), some_layers, st.none(), no_positions, st.just(1.0), st.just("mlp")),
        st.tuples(st.sampled_from(["causal", "no_positions"])) if whole_run else st.nothing(),
        st.tuples(st.just("no_padding_mask"), st.none(), st.none(), no_positions, paddings) if whole_run else st.nothing(),
    )


on_layer_1 = st.lists(
    arguments(st.just(1), st.none() | st.integers(0, HEADS - 1), st.integers(0, QUERIES - 1), st.integers(0, KEYS - 1)),
    max_size=9,
)
NUMBERS, PLACES = st.integers(0, 9998), st.integers(0, 999_998)
anywhere = st.lists(arguments(st.none() | NUMBERS, st.none() | NUMBERS, PLACES, PLACES, whole_run=True), max_size=12)


@given(several=on_layer_1, seed=st.integers(0, 9))
def test_whatever_is_changed_what_was_masked_stays_masked_and_a_row_sums_to_1_or_is_zero(several, seed: int):
    weights = changed_weights([made_of(several)] * BATCH, scores(seed), MASK)
    assert not weights.masked_select(~MASK.expand_as(weights)).any()
    assert (weights >= 0).all()
    sums = weights.sum(-1)
    assert torch.all(torch.isclose(sums, torch.ones_like(sums)) | (sums == 0))


@given(first=on_layer_1, second=on_layer_1, seed=st.integers(0, 9))
def test_rows_with_interventions_of_their_own_are_what_each_is_alone(first, second, seed: int):
    rows = [made_of(first), made_of(second)]
    together = weigh_at(rows, 1)(scores(seed), MASK, softmax)
    for row, made in enumerate(rows):
        query = torch.zeros(1, HEADS, QUERIES, 1, dtype=torch.float64)
        value = torch.zeros(1, HEADS, KEYS, 1, dtype=torch.float64)
        expected = attend(query, value, value, MASK[[row]], bias=scores(seed)[[row]], weigh=weigh_at([made], 1)).weights
        assert torch.allclose(together[[row]], expected)


def test_positions_follow_a_token_that_is_written_as_several():
    before = (
        Intervention("hidden", positions=(1,)),
        Intervention("hidden", 0, 2, (3,)),
        Intervention("cut", positions=(1, 4)),
        Intervention("off", 0),
    )
    assert set(shift_positions(before, 1, 3)) == {
        *(Intervention("hidden", positions=(key,)) for key in (1, 2, 3)),
        Intervention("hidden", 0, 2, (5,)),
        *(Intervention("cut", positions=(query, 6)) for query in (1, 2, 3)),
        Intervention("off", 0),
    }
    assert shift_positions(before, 1, 1) == before


def test_the_same_interventions_in_any_order_are_the_same_run():
    one, other = Intervention("off", 0, 1), Intervention("hidden", positions=(2,))
    assert canonical([one, other, one]) == canonical([other, one])
    with pytest.raises(ValueError, match="one temperature and one normaliser"):
        canonical([Intervention("temperature", 0, value=2.0), Intervention("temperature", 0, value=3.0)])
    with pytest.raises(ValueError, match="one temperature and one normaliser"):
        canonical([Intervention("sparse"), Intervention("hard")])
    with pytest.raises(ValueError, match="one padding"):
        canonical([Intervention("no_padding_mask"), Intervention("no_padding_mask", value=2.0)])


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"kind": "off"}, "must name the layer"),
        ({"kind": "off", "layer": 0, "head": -2}, "counted from 0"),
        ({"kind": "hidden", "head": 2, "positions": (0,)}, "must name the layer"),
        ({"kind": "cut", "positions": (1, -1)}, "counted from 0"),
        ({"kind": "cut", "positions": (1,)}, "2 positions"),
        ({"kind": "temperature", "value": 0.0}, "from 1e-06 to 1e\\+06, got 0"),
        ({"kind": "temperature", "layer": 0, "value": math.nan}, "from 1e-06 to 1e\\+06, got nan"),
        ({"kind": "hard", "layer": 1, "head": 0}, "whole layer, got head 0"),
        ({"kind": "sparse", "value": 2.0}, "no value"),
        ({"kind": "causal", "layer": 1}, "whole run, got layer 1"),
        ({"kind": "patch", "layer": 1, "positions": (1, 2)}, "1 positions"),
        ({"kind": "mean", "layer": 1, "part": "residual"}, "must change one of attention, mlp"),
        ({"kind": "off", "layer": 1, "head": 2, "part": "mlp"}, "only attention has heads"),
        ({"kind": "no_padding_mask", "value": 65.0}, "from 1 to 64, got 65"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_rule_and_the_value(given: dict, rule: str):
    with pytest.raises(ValueError, match=rule):
        Intervention(**given)


@given(several=anywhere)
def test_what_is_written_into_an_address_is_read_back_the_same(several):
    made = made_of(several)
    written = write_interventions(made)
    assert read_interventions(written) == made
    assert not set(written) - set("abcdefghijklmnopqrstuvwxyz0123456789-_~.")


NO_CHANGES = "off off~0-1 off~١ hide~0 cut~1-2-3 temperature~1 temperature~nan temperature~2_temperature~3 sparse~1_hard~1 _"
REFUSED = (*NO_CHANGES.split(), "hide~99999999", "causal~1", "padding~65", "<script>", "off~1_" * MAX_INTERVENTIONS + "off~2")


@pytest.mark.parametrize("written", REFUSED)
def test_what_is_no_intervention_is_refused(written: str):
    with pytest.raises(ValueError, match=r"change|temperature|padding"):
        read_interventions(written)


def test_the_layers_and_heads_of_an_address_are_counted_from_1():
    link = "off~2-3_off~1_even~4-1_hide~5_hide~6~1-2_cut~4-7_temperature~0.5_hard~3_causal_padding~8_nopositions"
    more = "patch~5~2-3_patch~2-3_patch~2_patch~residual~5~2_mean~2-3_mean~mlp~2_off~mlp~2"
    made = (
        *(("off", 1, 2), ("off", 0), ("uniform", 3, 0), ("hidden", None, None, (4,)), ("hidden", 0, 1, (5,))),
        *(("cut", None, None, (3, 6)), ("temperature", None, None, (), 0.5), ("hard", 2), ("causal",)),
        *(("no_padding_mask", None, None, (), 8.0), ("no_positions",)),
        *(("patch", 1, 2, (4,)), ("patch", 1, 2), ("patch", 1), ("patch", 1, None, (4,), 1.0, "residual")),
        *(("mean", 1, 2), ("mean", 1, None, (), 1.0, "mlp"), ("off", 1, None, (), 1.0, "mlp")),
    )
    assert read_interventions(f"{link}_{more}") == tuple(Intervention(*given) for given in made)
