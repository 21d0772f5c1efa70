"""An engine whose model runs in this process: what our own models and those of the transformers library do alike."""

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from tx_core.engine.device import DeviceRunner
from tx_core.engine.engine import (
    Engine,
    Result,
    ScoreGradients,
    WeightMeasure,
    check_record,
    head_parts,
    mean_vectors,
    no_head,
    record_bytes,
    run_limits,
)
from tx_core.engine.tensors import attention_stack, score_gradients, stack_layers, stack_tokens
from tx_core.engine.tokenizer import Tokenizer
from tx_core.transformer.config import AttentionKind
from tx_core.transformer.interventions import Intervention, RunLimits, Vectors, check_run
from tx_core.transformer.trace import Encoding, Trace, axes, check_parts

NO_LOGIT_LENS = "Its predictions after each layer cannot be computed."
SHARE_OF_CARD = 0.5
"""Of the memory that is free on a card, what the records of texts may take that run together."""
VECTOR_NAMES = tuple(field.name for field in fields(Vectors))
Score = Callable[[Any, Float[Tensor, "step token hidden"]], Float[Tensor, "step"]]
_means: WeakKeyDictionary[DeviceRunner, dict[bool, Vectors]] = WeakKeyDictionary()
_means_lock = Lock()
"""By model, the means of what its layers compute, with and without special tokens."""


class Batch(NamedTuple):
    """Texts to run together.

    targets: what the decoder of an encoder-decoder reads for each; None to run the encoder alone. changes: the interventions of
    each row. keep: parts of `trace.ALL_PARTS` and of `Vectors`. blanks: of each row, the positions whose logits are wanted.
    """

    rows: Sequence[Encoding]
    targets: Sequence[Encoding] | None = None
    changes: Sequence[Sequence[Intervention]] = ()
    vectors: Mapping[str, Vectors] = {}
    keep: Collection[str] = ()
    blanks: Sequence[Sequence[int]] = ()


class Computed(NamedTuple):
    """What a forward pass computed.

    layers: of each kind of attention, the parts that were kept of every layer. hidden: the vectors after the embeddings and after
    each layer of the first stack, where "hidden" was kept. logits: of each row, the scores of the vocabulary at its blanks; empty
    where none were asked for. scales: of each kind of attention, as `AttentionStack.scales`.
    """

    layers: Mapping[AttentionKind, Sequence[dict[str, Tensor]]]
    hidden: Sequence[Float[Tensor, "row token hidden"]] = ()
    logits: Sequence[Float[Tensor, "_blank vocab"]] = ()
    scales: Mapping[AttentionKind, Sequence[float]] = {}


@dataclass(frozen=True)
class LocalEngine(Engine):
    """A model with its tokenizer and its device; what `Engine` asks for is described there."""

    name: str
    title: str
    tokenizer: Tokenizer
    runner: DeviceRunner

    @property
    def device(self) -> str:
        return self.runner.device

    @property
    def bfloat16(self) -> bool:
        return self.runner.bfloat16

    @abstractmethod
    def forward(self, model: Any, device: str, batch: Batch) -> Computed:
        """Run a batch of texts."""

    @abstractmethod
    def read_target(self, source: Encoding) -> Encoding | None:
        """Return what a decoder reads for a text; None for a model without one."""

    @abstractmethod
    def read_vectors(
        self, model: Any, device: str, encoding: Encoding, steps: int
    ) -> Callable[[Float[Tensor, "step token embedding"]], Float[Tensor, "step token hidden"]]:
        """Return the function from so many sets of word vectors of a text to the last hidden states of the first stack."""

    @abstractmethod
    def require_head(self, limitation: str) -> None:
        """Raise ModelUnavailable unless a head reads the first stack. limitation: what cannot be computed without it."""

    @abstractmethod
    def predict(self, model: Any, hidden: Float[Tensor, "row hidden"]) -> Float[Tensor, "row vocab"]:
        """Apply the head to last hidden states."""

    @abstractmethod
    def predict_early(self, model: Any, states: Float[Tensor, "depth hidden"]) -> Float[Tensor, "depth vocab"]:
        """Apply the head to a token's hidden states after every layer."""

    @abstractmethod
    def projection(self, model: Any, layer: int) -> Float[Tensor, "hidden joined"]:
        """Return the weight of the output projection of a layer."""

    @abstractmethod
    def words(self, model: Any) -> nn.Module:
        """Return the table of word vectors."""

    def require_layers(self) -> None:
        """Raise ModelUnavailable where what the layers compute cannot be located."""

    def notices(self, target: Encoding | None) -> tuple[str, ...]:
        """Return what a reader should know of every run."""
        return ()

    def trace(
        self,
        text: str,
        pair: str | None = None,
        *,
        keep: Collection[str] = ("weights",),
        interventions: Sequence[Intervention] = (),
        written: Sequence[int] = (),
        vectors: Mapping[str, Vectors] = {},
    ) -> Trace:
        return self._traces([self.encode(text, pair, written)], keep, interventions, vectors)[0]

    def _traces(
        self,
        sources: Sequence[Encoding],
        keep: Collection[str],
        interventions: Sequence[Intervention],
        vectors: Mapping[str, Vectors],
    ) -> list[Trace]:
        parts, targets = check_parts(keep), [self.read_target(source) for source in sources]
        pairs = list(zip(sources, targets, strict=True))
        changes = [check_run(interventions, self._limits(*pair, vectors)) for pair in pairs]
        given, sides = self.with_means(changes, vectors), [axes(*pair) for pair in pairs]
        sizes = [{kind: (len(side[kind][0]), len(side[kind][1])) for kind in self.info.layers} for side in sides]
        most = min(check_record(self.info, size, parts) for size in sizes)
        largest = max(record_bytes(self.info, size, parts) for size in sizes)
        most = int(min(most, max(1, self.runner.free_bytes * SHARE_OF_CARD / max(largest, 1))))
        if most < len(sources):
            smaller = [sources[start : start + most] for start in range(0, len(sources), most)]
            return [trace for batch in smaller for trace in self._traces(batch, keep, interventions, vectors)]
        scores = "blank_logits" in parts and self.info.fills_blanks
        # None if the decoder reads a second sentence.
        blanks = [source.blanks if scores and (target is None or source.pair is None) else () for source, target in pairs]

        def compute(model: nn.Module, device: str) -> list[Trace]:
            read = None if None in targets else targets
            run = self.forward(model, device, Batch(sources, read, changes, given, parts, blanks if any(blanks) else ()))
            return [label_row(run, device, row) for row in range(len(sources))]

        def label_row(run: Computed, device: str, row: int) -> Trace:
            own = slice(row, row + 1)
            stacks = [
                attention_stack(
                    kind,
                    *sides[row][kind],
                    [{part: values[own] for part, values in layer.items()} for layer in run.layers[kind]],
                    tuple(run.scales.get(kind, ())),
                )
                for kind in self.info.layers
            ]
            hidden = stack_layers([state[own, : len(sources[row])] for state in run.hidden]) if run.hidden else None
            logits = stack_layers([run.logits[row][None]])[0] if blanks[row] else None
            return Trace(self.name, device, tuple(stacks), hidden, changes[row], blank_logits=logits)

        result = self.runner.run(compute)
        notices = [" ".join(filter(None, (result.notice, *self.notices(target)))) for target in targets]
        return [replace(one, notice=notice) for one, notice in zip(result.value, notices, strict=True)]

    def blank_logits(
        self,
        rows: Sequence[Encoding],
        *,
        interventions: Sequence[Sequence[Intervention]] = (),
        vectors: Mapping[str, Vectors] = {},
    ) -> tuple[Float[np.ndarray, "_blank vocab"], ...]:
        if not self.info.has_head:
            raise ValueError(f"{self.name} has no head that scores the vocabulary")
        targets = [self.read_target(replace(row, pair=None)) for row in rows]
        if interventions and len(interventions) != len(rows):
            raise ValueError(f"every row must have its interventions, got {len(interventions)} for {len(rows)} rows")
        limits = [self._limits(row, target, vectors) for row, target in zip(rows, targets, strict=True)]
        changes = tuple(check_run(own, limit) for own, limit in zip(interventions, limits, strict=False))
        given = self.with_means(changes, vectors)

        def compute(model: nn.Module, device: str) -> tuple[np.ndarray, ...]:
            read = None if None in targets else targets
            run = self.forward(model, device, Batch(rows, read, changes, given, blanks=[row.blanks for row in rows]))
            return tuple(logits.cpu().numpy() for logits in run.logits)

        return self.runner.run(compute).value

    def vectors(
        self,
        encoding: Encoding,
        *,
        more: Sequence[Encoding] = (),
        interventions: Sequence[Intervention] = (),
        vectors: Mapping[str, Vectors] = {},
    ) -> Vectors:
        self.require_layers()
        changes = check_run(interventions, self._limits(encoding, None, vectors))
        given, rows = self.with_means([changes], vectors), [encoding, *more]

        def compute(model: nn.Module, device: str) -> Vectors:
            run = self.forward(model, device, Batch(rows, None, [changes] * len(rows), given, VECTOR_NAMES))
            layers = {name: [layer[name] for layer in run.layers["self"]] for name in VECTOR_NAMES}
            return Vectors(**{name: stack_tokens(parts, len(encoding)) for name, parts in layers.items()})

        return self.runner.run(compute).value

    def over_weights(self, rows: Sequence[Encoding], measure: WeightMeasure, *, half: bool = False) -> Result:

        def compute(model: nn.Module, device: str) -> Result:
            run = self.forward(model, device, Batch(rows, keep=("weights",)))
            return measure([layer["weights"] for layer in run.layers["self"]])

        return self.runner.in_precision(half).run(compute).value

    def output_projection(self, layer: int) -> Float[np.ndarray, "head head_dim hidden"]:
        weight = self.runner.run(lambda model, _: self.projection(model, layer).detach().cpu().numpy()).value
        return head_parts(weight, self.info.num_heads)

    def early_scores(
        self, states: Float[np.ndarray, "layer_and_embeddings hidden"]
    ) -> Float[np.ndarray, "layer_and_embeddings vocab"]:
        self.require_head(NO_LOGIT_LENS)
        return self.runner.run(
            lambda model, device: self.predict_early(model, torch.tensor(states, device=device)).float().cpu().numpy()
        ).value

    def embed(self, ids: Sequence[int]) -> Float[np.ndarray, "token embedding"]:
        return self.runner.run(lambda model, device: self.words(model)(torch.tensor(ids, device=device)).cpu().numpy()).value

    def gradients(
        self,
        encoding: Encoding,
        inputs_embeds: Float[np.ndarray, "step token embedding"],
        position: int,
        word: int,
        against: int | None = None,
    ) -> ScoreGradients:
        self.require_head("The attribution of its predictions to the input cannot be computed.")
        if not self.info.fills_blanks:
            raise no_head(self.title)

        def score(model: Any, hidden: Float[Tensor, "step token hidden"]) -> Float[Tensor, "step"]:
            found = self.predict(model, hidden[:, position]).float().log_softmax(dim=-1)
            return found[:, word] if against is None else found[:, word] - found[:, against]

        return self.differentiate(encoding, inputs_embeds, score)

    def differentiate(
        self,
        encoding: Encoding,
        inputs_embeds: Float[np.ndarray, "step token embedding"],
        score: Score,
        rules: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> ScoreGradients:
        """Differentiate a score of the last hidden states with respect to the word vectors of a text. rules: of gradients."""

        def compute(model: nn.Module, device: str) -> ScoreGradients:
            read = self.read_vectors(model, device, encoding, len(inputs_embeds))
            with rules():
                return score_gradients(lambda vectors: score(model, read(vectors)), inputs_embeds, device)

        return self.runner.run(compute, gradients=True).value

    def with_means(self, batch: Sequence[Sequence[Intervention]], vectors: Mapping[str, Vectors]) -> Mapping[str, Vectors]:
        """Return the vectors of a run, with the means of the model where an intervention asks for some that are not given.

        They are computed once for each model, with and without special tokens, and kept as long as the model is.
        """
        if "mean" in vectors or not any(one.kind == "mean" for row in batch for one in row):
            return vectors
        kept, reads = _means.setdefault(self.runner, {}), self.tokenizer.special_tokens
        with _means_lock:  # two runs at once wait for one computation
            if reads not in kept:
                kept[reads] = mean_vectors(self)
        return {**vectors, "mean": kept[reads]}

    def _limits(self, source: Encoding, target: Encoding | None, vectors: Mapping[str, Vectors]) -> RunLimits:
        sides = axes(source, target)
        sizes = [tuple(map(len, sides[kind])) for kind, count in self.info.layers.items() for _ in range(count)]
        return run_limits(self.info, sizes, vectors)
