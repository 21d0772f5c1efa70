"""The record that a run returns: frozen, compact, and never without its labels."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
from jaxtyping import Float

from tx_core.transformer.attention import Kind
from tx_core.transformer.interventions import Intervention

Part = Literal["query", "key", "value", "scores", "weights", "context", "hidden"]
PARTS: tuple[Part, ...] = ("query", "key", "value", "scores", "weights", "context", "hidden")


@dataclass(frozen=True)
class Encoding:
    """A text as the model reads it: one entry a token in every field.

    ids: vocabulary ids. tokens: the pieces as a reader should see them.
    segments: 0 for the first sentence, 1 for the second. special: added or typed marks such as [CLS].
    words: the number of the word that a piece belongs to, counted through both sentences; None for specials.
    word_texts: each word as it was typed. blanks: the places of the mask token. unknown: the places of
    pieces that the vocabulary does not have.
    """

    text: str
    pair: str | None
    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    segments: tuple[int, ...]
    special: tuple[bool, ...]
    words: tuple[int | None, ...]
    word_texts: tuple[str, ...]
    blanks: tuple[int, ...]
    unknown: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.ids)

    def opens(self, place: int) -> bool:
        """Tell whether a token is the first of its sentence, with nothing but special tokens before it."""
        return place == 0 or self.special[place - 1]


@dataclass(frozen=True)
class AttentionStack:
    """One kind of attention through all layers, with the tokens of both its axes.

    kind: "self" in an encoder or a decoder-only model, "decoder" within the decoder of an
    encoder-decoder, "cross" from such a decoder to its encoder. What was not asked for is None.
    scores are those after scaling and bias, before the mask and before any intervention on this layer.
    """

    kind: Kind
    query_tokens: Encoding
    key_tokens: Encoding
    weights: Float[np.ndarray, "layer head query key"] | None = None
    scores: Float[np.ndarray, "layer head query key"] | None = None
    query: Float[np.ndarray, "layer head query head_dim"] | None = None
    key: Float[np.ndarray, "layer head key head_dim"] | None = None
    value: Float[np.ndarray, "layer head key head_dim"] | None = None
    context: Float[np.ndarray, "layer head query head_dim"] | None = None


@dataclass(frozen=True)
class Trace:
    """What one run computed, and what it computed it from.

    stacks: the attentions, the encoder's first. hidden: the vectors after the embeddings and after each
    layer of the first stack. notice: a sentence for the reader where something was not as asked for.
    """

    model: str
    device: str
    stacks: tuple[AttentionStack, ...]
    hidden: Float[np.ndarray, "layer_and_embeddings token hidden"] | None = None
    interventions: tuple[Intervention, ...] = ()
    notice: str = ""

    @property
    def attention(self) -> AttentionStack:
        """The first stack: self-attention, for every model that has only one."""
        return self.stacks[0]

    @property
    def nbytes(self) -> int:
        """The memory of all arrays, in bytes; caches are bounded by it."""
        arrays = [self.hidden, *(getattr(stack, f.name) for stack in self.stacks for f in fields(stack))]
        return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))


@dataclass(frozen=True)
class ReferenceRun:
    """What another implementation computed on a text, for comparison."""

    hidden: Float[np.ndarray, "layer_and_embeddings token hidden"]
    weights: Float[np.ndarray, "layer head query key"]
    logits: Float[np.ndarray, "token vocab"]


def check_parts(keep: Iterable[str]) -> frozenset[Part]:
    """Return the parts asked for, or raise ValueError for one that no run has."""
    asked = frozenset(keep)
    unknown = asked - set(PARTS)
    if unknown:
        raise ValueError(f"keep must be among {', '.join(PARTS)}, got {', '.join(sorted(unknown))}")
    return asked
