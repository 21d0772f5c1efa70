"""An engine answers what was asked, within its limits, and leaves nothing behind."""

import copy
from dataclasses import replace

import numpy as np
import pytest

from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.device import DeviceRunner
from tx_core.engine.engine import RECORD_TOO_LARGE, record_bytes
from tx_core.engine.local_engine import Batch
from tx_core.errors import TextProblem
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import ALL_PARTS

WORD = "tea "


def test_exactly_the_budget_is_read_and_one_token_more_is_refused_by_the_number(engine: BertEngine):
    space = engine.info.max_tokens - 2
    assert len(engine.encode(WORD * space)) == engine.info.max_tokens
    with pytest.raises(TextProblem, match=r"129 tokens long and the model reads at most 128.*shorten it by 1 "):
        engine.encode(WORD * (space + 1))


def test_the_record_holds_what_was_asked_for_and_nothing_else(engine: BertEngine):
    trace = engine.trace("Hello there", keep=("query", "hidden"))
    of_attention = [part for part in ALL_PARTS if hasattr(trace.attention, part)]
    assert set(ALL_PARTS) - set(of_attention) == {"hidden", "blank_logits"}
    assert [part for part in of_attention if getattr(trace.attention, part) is not None] == ["query"]
    assert trace.blank_logits is None
    assert trace.hidden.shape == (1 + engine.info.num_layers, len(trace.attention.query_tokens), engine.info.hidden_size)


def test_a_record_cannot_be_changed_by_who_reads_it(engine: BertEngine):
    with pytest.raises(ValueError, match="read-only"):
        engine.trace("Hello").attention.weights[0, 0, 0, 0] = 1


def test_rows_of_a_padded_batch_have_the_weights_that_they_have_alone(engine: BertEngine):
    texts = ["Hello", "Time flies like an arrow, they say", "A bird sings."]
    rows, model = [engine.encode(text) for text in texts], copy.deepcopy(engine.model).double()
    engine = replace(engine, runner=DeviceRunner(model, "cpu"))  # what is left is not rounding
    batched = engine.over_weights(rows, lambda layers: [layer.clone() for layer in layers])
    assert len(batched) == engine.info.num_layers
    for place, (text, row) in enumerate(zip(texts, rows, strict=True)):
        alone = engine.trace(text).attention.weights
        together = np.stack([layer[place, :, : len(row), : len(row)].numpy() for layer in batched])
        np.testing.assert_allclose(together, alone, atol=1e-12)
        assert all((layer[place, :, : len(row), len(row) :] == 0).all() for layer in batched)


@pytest.mark.parametrize("family", ["engine", "writer", "bart", "t5"])
def test_several_texts_have_in_their_order_the_traces_that_they_have_alone(request, hub_engine, family: str):
    engine = hub_engine(family) if family in ("bart", "t5") else request.getfixturevalue(family)
    model = copy.deepcopy(engine.runner.model).double()
    engine, blank = replace(engine, runner=DeviceRunner(model, "cpu")), engine.tokenizer.mask or "poured"  # no rounding is left
    texts = ["Time flies.", f"She {blank} it.", "The dog sleeps on and on.", "Tea is cold.", "Time flies."]
    asked = {"keep": ALL_PARTS, "interventions": [Intervention("off", 1, 2), Intervention("causal")]}
    found = engine.traces(texts, **asked)
    assert [trace.attention.query_tokens.text for trace in found] == texts
    for text, together in zip(texts, found, strict=True):
        alone = engine.trace(text, **asked)
        assert (together.interventions, together.notice, together.nbytes) == (alone.interventions, alone.notice, alone.nbytes)
        for one, other in [(together, alone), *zip(together.stacks, alone.stacks, strict=True)]:
            for part in ALL_PARTS:
                if getattr(other, part, None) is not None:
                    np.testing.assert_allclose(getattr(one, part), getattr(other, part), atol=1e-6)
    table = found.to_pandas().xs(texts[2], level="text")
    assert table.weight.to_numpy() == pytest.approx(engine.trace(texts[2], **asked).to_pandas().weight.to_numpy(), abs=1e-6)


def test_several_texts_are_run_in_batches_within_the_limit_of_a_record(engine: BertEngine, host, monkeypatch: pytest.MonkeyPatch):
    texts, sizes, forward = [f"{WORD * 39}{word}." for word in ("one", "two", "tea", "sea", "sun")], [], type(engine).forward

    def counted(self: BertEngine, model: object, device: str, batch: Batch) -> object:
        sizes.append(len(batch.rows))
        return forward(self, model, device, batch)

    monkeypatch.setattr(type(engine), "forward", counted)
    host(max_record_megabytes=1)  # the maps of 6 · 8 heads and 43 tokens take 0.36 MB
    found = engine.traces(texts)
    assert sizes == [2, 2, 1]
    assert [trace.attention.query_tokens.text for trace in found] == texts


@pytest.mark.parametrize("family", ["embedded", "t5"])
def test_the_size_of_a_record_of_maps_is_known_of_every_family(engine: BertEngine, hub_engine, family: str):
    engine = engine if family == "embedded" else hub_engine(family)
    for keep in (("weights", "scores"), ("weights", "hidden")):
        trace = engine.trace("Time flies like an arrow", "Fruit flies", keep=keep)
        sizes = {stack.kind: (len(stack.query_tokens), len(stack.key_tokens)) for stack in trace.stacks}
        assert record_bytes(engine.info, sizes, keep) == trace.nbytes
    assert trace.nbytes == trace.hidden.nbytes + sum(stack.weights.nbytes for stack in trace.stacks)


def test_a_record_that_is_too_large_is_refused_before_anything_is_computed_and_what_is_said_to_fit_fits(
    engine: BertEngine, host, monkeypatch: pytest.MonkeyPatch
):
    host(max_record_megabytes=1)
    whole = WORD * (engine.info.max_tokens - 2)
    monkeypatch.setattr(DeviceRunner, "run", lambda *_: pytest.fail("it was computed"))
    with pytest.raises(TextProblem) as told:
        engine.trace(whole)
    monkeypatch.undo()
    host(max_record_megabytes=1)
    needed = record_bytes(engine.info, {"self": (engine.info.max_tokens,) * 2}, ("weights",))
    longest = int(engine.info.max_tokens * (1e6 / needed) ** 0.5)
    assert str(told.value) == RECORD_TOO_LARGE.format(megabytes=needed / 1e6, limit=1, tokens=longest)
    assert engine.trace(WORD * (longest - 2)).nbytes <= 1e6
    assert record_bytes(engine.info, {"self": (longest + 1,) * 2}, ("weights",)) > 1e6
