"""Run a model on what a person typed, and hand back the record. Nothing stays behind on the model."""

import copy
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from tx_core.bert import Bert
from tx_core.device import computing_slot
from tx_core.encoder import EncoderRun
from tx_core.errors import TextProblem
from tx_core.interventions import UNCHANGED, Interventions, RowInterventions, check_fit, for_rows
from tx_core.masks import padding_mask
from tx_core.tokenizer import Tokenizer
from tx_core.trace import AttentionStack, Encoding, Trace, check_parts

Result = TypeVar("Result")
LayerWeights = Sequence[Float[Tensor, "batch head query key"]]
MOST_TOKENS = 1024  # what this app is ready to draw: twelve layers of twelve heads are 600 MB then
FALLBACK_NOTICE = "The graphics card is out of memory: this was computed on the CPU instead."


@dataclass(frozen=True)
class BlankLogits:
    """The scores of the whole vocabulary at every blank of every row, in ordinary memory.

    device: where they were computed. notice: a sentence for the reader where that is not the engine's own.
    """

    rows: list[Float[Tensor, "_blank vocab"]]  # _: each row has its own number of blanks
    device: str
    notice: str = ""


@runtime_checkable
class Engine(Protocol):
    """What every model here can be asked, ours or the transformers library's.

    name: as in the catalogue. max_tokens: the longest input, special tokens included.
    fills_blanks: whether `blank_logits` answers.
    """

    name: str
    title: str
    device: str
    max_tokens: int
    num_layers: int
    num_heads: int
    fills_blanks: bool
    tokenizer: Tokenizer

    def encode(self, text: str, pair: str | None = None) -> Encoding:
        """Read the text; raise TextProblem when it is empty or too long for the model."""

    def trace(
        self,
        text: str,
        pair: str | None = None,
        *,
        keep: Collection[str] = ("weights",),
        interventions: Interventions = UNCHANGED,
    ) -> Trace:
        """Run the model once and keep the parts asked for (`trace.PARTS`).

        Raises TextProblem as `encode` does, and ChangeProblem for interventions on what the run does not have.
        """

    def blank_logits(
        self, rows: Sequence[Encoding], *, interventions: Interventions | Sequence[Interventions] = UNCHANGED
    ) -> BlankLogits:
        """Score the whole vocabulary at every blank of every row, in one batch; a row may have its own interventions."""

    def over_weights(self, rows: Sequence[Encoding], measure: Callable[[LayerWeights], Result]) -> Result:
        """Run the rows in one padded batch and give what `measure` makes of the weights of the first stack's layers.

        `measure` is called where the model is computed, on its device, and nothing else of the run is kept. No token
        looks at padding, but padding itself looks somewhere: rows of the weights beyond a text's tokens mean nothing.
        """


class Placement:
    """A module on its device, with a copy on the CPU for when the device's memory is full.

    A module that does not fit onto the device at all stays on the CPU, and every run says so.
    """

    def __init__(self, model: nn.Module, device: str):
        self.device, self._model, self._notice = device, model, ""
        try:
            model.to(device)
            return
        except RuntimeError as problem:
            if device == "cpu" or not _is_full(problem):
                raise
        self.device, self._model, self._notice = "cpu", model.to("cpu"), FALLBACK_NOTICE
        _give_memory_back()

    @cached_property
    def _on_cpu(self) -> nn.Module:
        weights = [*self._model.parameters(), *self._model.buffers()]
        with torch.inference_mode(False):  # else no gradient could ever be asked of the copy
            copied = {id(weight): weight.detach().to("cpu", copy=True) for weight in weights}  # no room for two on the device
            copied |= {
                id(weight): nn.Parameter(copied[id(weight)], weight.requires_grad) for weight in self._model.parameters()
            }
            return copy.deepcopy(self._model, copied)

    def run(self, compute: Callable[[nn.Module, str], Result]) -> tuple[Result, str, str]:
        """Compute with the module; return the result, the device used and a notice for the reader.

        The call that runs out of memory is repeated on the CPU; the module itself stays where it is, for others.
        """
        with computing_slot(), torch.inference_mode():
            try:
                return compute(self._model, self.device), self.device, self._notice
            except RuntimeError as problem:
                if self.device == "cpu" or not _is_full(problem):
                    raise
            _give_memory_back()
            return compute(self._on_cpu, "cpu"), "cpu", FALLBACK_NOTICE


def _is_full(problem: RuntimeError) -> bool:
    """Tell a device without memory from any other problem; MPS has no error class of its own for it."""
    return isinstance(problem, torch.OutOfMemoryError) or "out of memory" in str(problem)


def _give_memory_back() -> None:
    torch.cuda.empty_cache()
    if torch.backends.mps.is_available():
        torch.mps.empty_cache()


@dataclass(frozen=True)
class BertEngine:
    """Our own BERT with its tokenizer."""

    name: str
    title: str
    tokenizer: Tokenizer
    model: Bert
    placement: Placement

    @property
    def device(self) -> str:
        """Where it computes."""
        return self.placement.device

    @property
    def max_tokens(self) -> int:
        """The longest input, special tokens included."""
        return min(self.model.config.max_positions, MOST_TOKENS)

    @property
    def num_layers(self) -> int:
        """The number of blocks."""
        return self.model.config.num_layers

    @property
    def num_heads(self) -> int:
        """The number of heads in each block."""
        return self.model.config.num_heads

    @property
    def fills_blanks(self) -> bool:
        """Whether there is a masked-word head and a blank to fill."""
        return self.model.head is not None and self.tokenizer.mask_id is not None

    def encode(self, text: str, pair: str | None = None) -> Encoding:
        """Read the text; raise TextProblem when it is empty or too long for the model."""
        return check_length(self.tokenizer.encode(text, pair), self.max_tokens)

    def trace(
        self,
        text: str,
        pair: str | None = None,
        *,
        keep: Collection[str] = ("weights",),
        interventions: Interventions = UNCHANGED,
    ) -> Trace:
        """Run the model once and keep the parts asked for (`trace.PARTS`)."""
        parts, encoding = check_parts(keep), self.encode(text, pair)
        check_fit(interventions, self.num_heads, self._sizes(encoding))

        def compute(model: nn.Module, device: str) -> EncoderRun:
            ids, segments, _ = batch_tensors([encoding], self.tokenizer.padding_id, device)
            return model(ids, segments, None, keep=parts, interventions=interventions)

        run, device, notice = self.placement.run(compute)
        stacked = {part: stack_layers([layer[part] for layer in run.layers]) for part in run.layers[0]}
        hidden = stack_layers(run.hidden) if "hidden" in parts else None
        stack = AttentionStack("self", encoding, encoding, **stacked)
        return Trace(self.name, device, (stack,), hidden, interventions, notice)

    def blank_logits(
        self, rows: Sequence[Encoding], *, interventions: Interventions | Sequence[Interventions] = UNCHANGED
    ) -> BlankLogits:
        """Score the whole vocabulary at every blank of every row, in one batch; a row may have its own interventions.

        Raises ChangeProblem for interventions on what a row does not have.
        """

        changes = for_rows(interventions, len(rows))
        for row, change in zip(rows, changes, strict=True):
            check_fit(change, self.num_heads, self._sizes(row))
        changes = RowInterventions(changes)

        def compute(model: nn.Module, device: str) -> list[Tensor]:
            ids, segments, mask = batch_tensors(rows, self.tokenizer.padding_id, device)
            output = model(ids, segments, mask, interventions=changes).output
            return [model.predict(output[number, list(row.blanks)]).cpu() for number, row in enumerate(rows)]

        return BlankLogits(*self.placement.run(compute))

    def over_weights(self, rows: Sequence[Encoding], measure: Callable[[LayerWeights], Result]) -> Result:
        """Run the rows in one padded batch and give what `measure` makes of the weights of its layers."""

        def compute(model: nn.Module, device: str) -> Result:
            return measure(model.all_weights(*batch_tensors(rows, self.tokenizer.padding_id, device)))

        return self.placement.run(compute)[0]

    def _sizes(self, encoding: Encoding) -> list[tuple[int, int]]:
        return [(len(encoding), len(encoding))] * self.num_layers


def check_length(encoding: Encoding, most: int) -> Encoding:
    """Return the encoding, or raise TextProblem that says by how much it is too long."""
    if len(encoding) > most:
        raise TextProblem(
            f"This text is {len(encoding):,} tokens long and the model reads at most {most:,}, "
            f"special tokens included: shorten it by {len(encoding) - most:,} tokens."
        )
    return encoding


def batch_tensors(rows: Sequence[Encoding], padding_id: int, device: str) -> tuple[Tensor, Tensor, Tensor | None]:
    """Pad the rows to one length; give ids, segments, and the mask, which is None when nothing is padded."""
    longest = max(len(row) for row in rows)

    def padded(numbers: tuple[int, ...], filler: int) -> list[int]:
        return [*numbers, *[filler] * (longest - len(numbers))]

    ids = torch.tensor([padded(row.ids, padding_id) for row in rows], device=device)
    segments = torch.tensor([padded(row.segments, 0) for row in rows], device=device)
    lengths = [len(row) for row in rows]
    return ids, segments, None if min(lengths) == longest else padding_mask(lengths).to(device)


def stack_layers(layers: Sequence[Float[Tensor, "1 ..."]]) -> Float[np.ndarray, "layer ..."]:
    """Put the layers of one sentence into one read-only array in ordinary memory."""
    stacked = torch.cat([layer.detach() for layer in layers]).float().cpu().numpy()
    stacked.setflags(write=False)
    return stacked
