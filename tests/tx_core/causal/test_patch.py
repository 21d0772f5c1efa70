"""What is put into a run is what hooks in the library's model put in; the embedded model holds a subject where it should."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.support.checkpoints import HEAD_DIM, HEADS, HIDDEN, LAYERS
from tx_core.causal.patch import LIKELY, Patch, align_tokens, patch
from tx_core.engine.bert_engine import load_own_engine
from tx_core.engine.device import DeviceRunner
from tx_core.engine.engine import Engine, mean_vectors, with_special_tokens
from tx_core.engine.progress import watch_runs
from tx_core.errors import ChangeProblem, ModelUnavailable, TextProblem
from tx_core.transformer.interventions import Intervention

BERT = "encoder.layer.{layer}"
MODULES = {
    "bert": {
        "residual": BERT,
        "mlp": f"{BERT}.output.dense",
        "attention": f"{BERT}.attention.output.dense",
        "inputs": [f"{BERT}.attention.self.{name}" for name in ("query", "key", "value")],
    },
    "gpt2": {
        "residual": "h.{layer}",
        "mlp": "h.{layer}.mlp",
        "attention": "h.{layer}.attn.c_proj",
        "inputs": ["h.{layer}.attn.c_attn"],
    },
}
TEXTS = {"source": "the ___ dog over the quick fox", "target": "the ___ fox over the quick dog"}
ANSWERS = ("the", "and")
SUBJECT = "The {} to the big old cabinets [MASK] on the table."


@pytest.fixture(params=["bert", "gpt2"])
def family(request: pytest.FixtureRequest) -> str:
    return request.param


def patched(engine: Engine, family: str, **arguments: object) -> Patch:
    texts = {name: text.replace("___ ", "") if family == "gpt2" else text for name, text in TEXTS.items()}
    return patch(engine, **texts, answers=ANSWERS, **arguments)


@contextmanager
def hooks(model: nn.Module, changes: Mapping[str, Callable[[Tensor], Tensor | None]], *, inputs: bool) -> Iterator[None]:
    """Return a context in which modules, by their paths in the body, have their input or output changed, or only looked at."""

    def before(_module, given, *, change):
        return change(given[0])

    def after(_module, _given, output, *, change):
        return change(output)

    def hook(module: nn.Module, change: Callable) -> torch.utils.hooks.RemovableHandle:
        if inputs:
            return module.register_forward_pre_hook(lambda *given: before(*given, change=change))
        return module.register_forward_hook(lambda *given: after(*given, change=change))

    handles = [hook(model.base_model.get_submodule(path), change) for path, change in changes.items()]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def read(model: nn.Module, ids: Tensor, path: str, *, inputs: bool) -> Tensor:
    seen = []
    with hooks(model, {path: lambda values: seen.append(values.clone())}, inputs=inputs):
        model(ids)
    return seen[0]


def measured(model: nn.Module, ids: Tensor, found: Patch) -> tuple[float, Tensor, Tensor]:
    """Return the difference of the answers' logits, their probabilities, and the largest ones of all entries."""
    logits = model(ids).logits[0, found.place].double()
    shares = logits.softmax(-1)
    return float(logits[found.answers[0]] - logits[found.answers[1]]), shares[list(found.answers)], shares.topk(LIKELY).values


@pytest.mark.parametrize("what", ["residual", "attention", "mlp", "head"])
@torch.inference_mode()
def test_what_is_put_in_is_what_hooks_put_in(hub_engine, reference, family: str, what: str):
    model = reference(family)
    found = patched(hub_engine(family), family, what=what)
    source, target = (torch.tensor([one.ids]) for one in (found.source, found.target))
    assert measured(model, source, found)[0] == pytest.approx(found.source_difference, abs=1e-5)
    assert measured(model, target, found)[0] == pytest.approx(found.target_difference, abs=1e-5)
    largest = 0.0
    for layer, column in np.ndindex(found.difference.shape):
        path = MODULES[family]["attention" if what == "head" else what].format(layer=layer)
        taken = read(model, source, path, inputs=what == "head")
        at = (0, slice(None), slice(column * HEAD_DIM, (column + 1) * HEAD_DIM)) if what == "head" else (0, column)

        def put_in(values: Tensor, taken: Tensor = taken, at: tuple = at) -> Tensor:
            values = values.clone()
            values[at] = taken[at]
            return values

        with hooks(model, {path: put_in}, inputs=what == "head"):
            difference, shares, most = measured(model, target, found)
        assert found.difference[layer, column] == pytest.approx(difference, abs=1e-5), (layer, column)
        np.testing.assert_allclose(found.probabilities[layer, column], shares, atol=1e-5)
        np.testing.assert_allclose(found.likely_probabilities[layer, column], most, atol=1e-5)
        largest = max(largest, abs(difference - found.target_difference))
    assert largest > 0.01


@torch.inference_mode()
def test_a_path_is_what_a_receiver_reads_while_every_other_head_is_frozen(hub_engine, reference, family: str):
    """Wang et al. 2023: run with frozen heads, note queries, keys and values of each receiver, put them into the target's run."""
    sender, model = (0, 2), reference(family)
    found = patched(hub_engine(family), family, what="path", sender=sender)
    source, target = (torch.tensor([one.ids]) for one in (found.source, found.target))
    outputs = [MODULES[family]["attention"].format(layer=layer) for layer in range(LAYERS)]
    frozen = {path: read(model, target, path, inputs=True) for path in outputs}
    columns = slice(sender[1] * HEAD_DIM, (sender[1] + 1) * HEAD_DIM)
    frozen[outputs[0]][..., columns] = read(model, source, outputs[0], inputs=True)[..., columns]
    assert np.isnan(found.effect[0]).all()
    largest = 0.0
    for layer, head in np.ndindex(LAYERS - 1, HEADS):
        layer += 1
        paths = [path.format(layer=layer) for path in MODULES[family]["inputs"]]
        parts = {
            path: (part + head * HEAD_DIM for part in range(0, 1 if len(paths) > 1 else 3 * HIDDEN, HIDDEN)) for path in paths
        }
        parts = {path: [slice(start, start + HEAD_DIM) for start in starts] for path, starts in parts.items()}
        freeze = {path: lambda _values, kept=kept: kept for path, kept in frozen.items()}
        with hooks(model, freeze, inputs=True):
            received = {path: read(model, target, path, inputs=False) for path in paths}

        def put_in(values: Tensor, path: str, parts: dict = parts, received: dict = received) -> Tensor:
            values = values.clone()
            for part in parts[path]:
                values[..., part] = received[path][..., part]
            return values

        with ExitStack() as stack:
            for path in paths:
                stack.enter_context(hooks(model, {path: lambda values, path=path: put_in(values, path)}, inputs=False))
            difference, *_ = measured(model, target, found)
        assert found.difference[layer, head] == pytest.approx(difference, abs=1e-5), (layer, head)
        largest = max(largest, abs(difference - found.target_difference))
    assert largest > 1e-3


def test_texts_of_other_lengths_correspond_by_their_equal_tokens_and_what_stands_between(engine: Engine):
    target, short, longer = (
        engine.encode(text)
        for text in (
            SUBJECT.format("key"),
            "The keys to the cabinets [MASK] on the table.",
            SUBJECT.format("very old dirty keys"),
        )
    )
    assert align_tokens(target, engine.encode(SUBJECT.format("keys"))) == tuple(range(15))
    assert align_tokens(target, short) == (0, 1, 2, 3, 4, None, None, *range(5, 13))
    assert align_tokens(target, longer)[:3] == (0, 1, None)
    found = patch(engine, source=short.text, target=target.text, answers=("are", "is"))
    assert found.notice == "Nothing is put in at “big” (6), “old” (7): no token of the other text corresponds."
    assert np.isnan(found.effect[:, 5:7]).all()
    assert np.isfinite(np.delete(found.effect, [5, 6], axis=1)).all()
    heads = patch(engine, source=short.text, target=target.text, answers=("are", "is"), what="head")
    assert np.isfinite(heads.effect).all()


def test_what_cannot_be_compared_is_refused(engine: Engine, hub_engine):
    texts = {"source": SUBJECT.format("keys"), "target": SUBJECT.format("key")}
    with pytest.raises(TextProblem, match="“unbelievably” is no single token"):
        patch(engine, **texts, answers=("unbelievably", "is"))
    with pytest.raises(TextProblem, match="Both answers are “is”"):
        patch(engine, **texts, answers=("is", "is"))
    with pytest.raises(TextProblem, match="nothing to trace back"):
        patch(engine, source=texts["source"], target=texts["source"], answers=("are", "is"))
    with pytest.raises(ValueError, match="sender must be"):
        patch(engine, **texts, answers=("are", "is"), what="path", sender=(5, 0))
    given = {"patch": engine.vectors(engine.encode(texts["target"]))}
    with pytest.raises(ChangeProblem, match="6 layers and 15 tokens, and this run has 6 and 4"):
        engine.trace("time flies", interventions=[Intervention("patch", 0)], vectors=given)
    with pytest.raises(ModelUnavailable, match="undo this change"):
        hub_engine("bart").trace("the dog", interventions=[Intervention("mean", 0)])
    with pytest.raises(ModelUnavailable, match="second stack"):
        patch(hub_engine("bart"), **texts, answers=("are", "is"))


@pytest.mark.parametrize("family", ["distilbert", "albert", "electra", "modernbert", "camembert", "starcoder2"])
def test_layers_and_sublayers_of_other_families_are_found(family: str, hub_engine):
    """The residual stream is the library's; without its feed-forward sublayer, a layer changes from there on alone."""
    engine = hub_engine(family)
    text = "time flies like a banana"
    encoding, off = engine.encode(text), [Intervention("off", 1, part="mlp")]
    plain, without = engine.vectors(encoding), engine.vectors(encoding, interventions=off)
    np.testing.assert_allclose(plain.residual[:-1], engine.trace(text, keep=("hidden",)).hidden[1:-1], atol=1e-5)
    assert not without.mlp[1].any()
    np.testing.assert_array_equal(without.context[:2], plain.context[:2])
    assert np.abs(without.residual[1] - plain.residual[1]).max() > 0.01
    if family in ("modernbert", "starcoder2"):  # nothing is normalised behind the addition
        np.testing.assert_allclose(without.residual[1] + plain.mlp[1], plain.residual[1], atol=1e-5)


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_rows_of_one_length_are_run_at_once_and_a_mean_is_over_all_tokens(family: str, hub_engine):
    engine = hub_engine(family)
    sentences = ["the fox over the dog here", "a banana", "the dog over the fox here"]
    rows = [engine.encode(text) for text in sentences]
    alike = [row for row in rows if len(row) == len(rows[0])]
    assert len(alike) > 1
    each, found = [engine.vectors(row) for row in rows], engine.vectors(alike[0], more=alike[1:])
    mean = mean_vectors(engine, sentences)
    for name in ("context", "mlp", "residual"):
        apart = [getattr(one, name) for one, row in zip(each, rows, strict=True) if row in alike]
        np.testing.assert_allclose(getattr(found, name), np.concatenate(apart, axis=-2), atol=1e-5)
        whole = np.concatenate([getattr(one, name) for one in each], axis=-2).mean(axis=-2, keepdims=True)
        np.testing.assert_allclose(getattr(mean, name), whole, atol=1e-5)


def test_the_means_of_a_model_are_computed_once_with_and_once_without_special_tokens(checkpoint):
    engine, asked = load_own_engine(checkpoint("bert"), "bert", "Bert"), [[Intervention("mean", 0)]]
    given = engine.with_means(asked, {})["mean"]
    bare, again = (with_special_tokens(engine, False).with_means(asked, {})["mean"] for _ in range(2))
    assert engine.with_means(asked, {})["mean"] is given
    assert again is bare
    assert np.abs(bare.mlp - given.mlp).max() > 0


def test_a_patch_is_a_table_of_its_cells(engine):
    about = {"source": "Mary lost [MASK] keys.", "target": "John lost [MASK] keys.", "answers": ("her", "his")}
    grid = patch(engine, **about)
    table = grid.to_pandas()
    row = table[(table.layer == 3) & (table.target_token == "[MASK]")].iloc[0]
    found = [row.effect, row.difference, row.first_answer, row.second_answer]
    assert found == pytest.approx([grid.effect[3, 3], grid.difference[3, 3], *grid.probabilities[3, 3]])


def test_how_many_runs_a_map_takes_is_said_before_the_first_which_reads_the_source(engine, monkeypatch):
    said, run = [], DeviceRunner.run
    monkeypatch.setattr(DeviceRunner, "run", lambda *given, **options: [said.append("run"), run(*given, **options)][1])
    with watch_runs(lambda done, total, _: said.append((done, total))):
        grid = patch(engine, source=SUBJECT.format("keys"), target=SUBJECT.format("key"), answers=("are", "is"))
    total = (engine.info.num_layers - 1) * len(grid.target) + 2
    assert said[:2] == [(0, total), "run"] and said[-1] == (total, total)
