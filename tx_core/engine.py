"""What every model here can be asked, and how texts go in and arrays come out. Nothing stays behind on the model."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from tx_core.errors import TextProblem
from tx_core.interventions import UNCHANGED, Interventions
from tx_core.masks import padding_mask
from tx_core.placement import Result
from tx_core.tokenizer import Tokenizer
from tx_core.trace import Encoding, Trace

LayerWeights = Sequence[Float[Tensor, "batch head query key"]]
MOST_TOKENS = 1024  # what this app is ready to draw: twelve layers of twelve heads are 600 MB then


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
