"""Configurations of a BERT, of an encoder-decoder and of a causal language model: frozen, and validated when they are made."""

from dataclasses import dataclass
from typing import Literal

AttentionKind = Literal["self", "decoder", "cross"]
"""Self-attention of an encoder or of a decoder-only model, self-attention of an encoder-decoder's decoder, cross-attention."""
ACTIVATIONS = ("gelu", "gelu_new", "relu")


@dataclass(frozen=True)
class TransformerConfig:
    """The sizes that every transformer here has. Raises ValueError with the rule and the value.

    hidden_size: a multiple of num_heads. num_layers: of an encoder-decoder, of the encoder, and of the decoder. max_positions: of
    an encoder-decoder, of the source, and of the target. layer_norm_eps: added to the variance in every layer norm. dropout: the
    share of numbers dropped while training, in [0, 1).
    """

    vocab_size: int
    hidden_size: int
    num_layers: int
    num_heads: int
    intermediate_size: int
    max_positions: int
    activation: str
    layer_norm_eps: float
    dropout: float

    def __post_init__(self) -> None:
        for name in ("vocab_size", "hidden_size", "num_layers", "num_heads", "intermediate_size", "max_positions"):
            require_positive(name, getattr(self, name))
        if self.hidden_size % self.num_heads:
            raise ValueError(f"hidden_size must divide by num_heads, got {self.hidden_size} and {self.num_heads}")
        require_among("activation", self.activation, ACTIVATIONS)
        if not isinstance(self.layer_norm_eps, float) or not 0 <= self.layer_norm_eps < 1:
            raise ValueError(f"layer_norm_eps must lie in [0, 1), got {self.layer_norm_eps!r}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must lie in [0, 1), got {self.dropout}")

    @property
    def head_dim(self) -> int:
        """The length of one head's query, key or value."""
        return self.hidden_size // self.num_heads


@dataclass(frozen=True)
class BertConfig(TransformerConfig):
    """The sizes of a BERT (Devlin et al. 2019, section 3). num_segments: the number of segment embeddings."""

    num_segments: int

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive("num_segments", self.num_segments)


@dataclass(frozen=True)
class Seq2SeqConfig(TransformerConfig):
    """The sizes of an encoder-decoder (Vaswani et al. 2017, table 3).

    norm_first: normalise before each sublayer (pre-norm) instead of after it (post-norm).
    """

    norm_first: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hidden_size % 2:
            raise ValueError(f"hidden_size must be even for sinusoidal positions, got {self.hidden_size}")


@dataclass(frozen=True)
class CausalConfig(TransformerConfig):
    """The sizes of a causal language model.

    rotary_base: the base of the frequencies by which queries and keys are rotated (`positions.rotary_angles`).
    """

    rotary_base: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.head_dim % 2:
            raise ValueError(f"hidden_size / num_heads must be even for rotary positions, got {self.head_dim}")
        if not self.rotary_base > 1:
            raise ValueError(f"rotary_base must be above 1, got {self.rotary_base}")


def require_positive(name: str, value: object) -> None:
    """Raise ValueError unless a size is a whole number of 1 or more."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a whole number of 1 or more, got {value!r}")


def require_among(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Raise ValueError unless a value is one of those allowed."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value}")
