"""Sizes of a transformer: frozen, checked once, trusted by everyone after."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tx_core.errors import CheckpointProblem

ACTIVATIONS = ("gelu", "gelu_new", "relu")
POSITIONS = ("sinusoidal", "learned", "none")


@dataclass(frozen=True)
class BertConfig:
    """The sizes of a BERT (Devlin et al. 2019, section 3).

    Raises ValueError that gives the rule and the value.
    """

    vocab_size: int
    hidden_size: int
    num_layers: int
    num_heads: int
    intermediate_size: int
    max_positions: int
    num_segments: int
    activation: str
    layer_norm_eps: float
    dropout: float

    def __post_init__(self) -> None:
        for name in (
            "vocab_size",
            "hidden_size",
            "num_layers",
            "num_heads",
            "intermediate_size",
            "max_positions",
            "num_segments",
        ):
            require_positive(name, getattr(self, name))
        require_divisible(self.hidden_size, self.num_heads)
        require_among("activation", self.activation, ACTIVATIONS)
        require_dropout(self.dropout)

    @property
    def head_dim(self) -> int:
        """The numbers in one head's query, key or value."""
        return self.hidden_size // self.num_heads


@dataclass(frozen=True)
class Seq2SeqConfig:
    """The sizes of an encoder-decoder (Vaswani et al. 2017, table 3).

    num_layers counts the blocks on either side. max_positions bounds the source and the target.
    Raises ValueError that gives the rule and the value.
    """

    vocab_size: int
    hidden_size: int
    num_layers: int
    num_heads: int
    intermediate_size: int
    max_positions: int
    positions: str
    norm_first: bool
    activation: str
    layer_norm_eps: float
    dropout: float

    def __post_init__(self) -> None:
        for name in ("vocab_size", "hidden_size", "num_layers", "num_heads", "intermediate_size", "max_positions"):
            require_positive(name, getattr(self, name))
        require_divisible(self.hidden_size, self.num_heads)
        require_among("positions", self.positions, POSITIONS)
        require_among("activation", self.activation, ACTIVATIONS)
        if self.positions == "sinusoidal" and self.hidden_size % 2:
            raise ValueError(f"hidden_size must be even for sinusoidal positions, got {self.hidden_size}")
        require_dropout(self.dropout)

    @property
    def head_dim(self) -> int:
        """The numbers in one head's query, key or value."""
        return self.hidden_size // self.num_heads


def require_positive(name: str, value: object) -> None:
    """Raise ValueError unless the size is a whole number of 1 or more."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a whole number of 1 or more, got {value!r}")


def require_divisible(hidden_size: int, num_heads: int) -> None:
    """Raise ValueError unless the heads can share the hidden size evenly."""
    if hidden_size % num_heads:
        raise ValueError(f"hidden_size must divide by num_heads, got {hidden_size} and {num_heads}")


def require_among(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Raise ValueError unless the value is one of those allowed."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value}")


def require_dropout(dropout: float) -> None:
    """Raise ValueError unless some of the numbers are left."""
    if not 0 <= dropout < 1:
        raise ValueError(f"dropout must lie in [0, 1), got {dropout}")


# Our name → the name in a checkpoint's config.json, and its value where the file leaves it out.
_HUB_NAMES: dict[str, tuple[str, Any]] = {
    "vocab_size": ("vocab_size", 30522),
    "hidden_size": ("hidden_size", 768),
    "num_layers": ("num_hidden_layers", 12),
    "num_heads": ("num_attention_heads", 12),
    "intermediate_size": ("intermediate_size", 3072),
    "max_positions": ("max_position_embeddings", 512),
    "num_segments": ("type_vocab_size", 2),
    "activation": ("hidden_act", "gelu"),
    "layer_norm_eps": ("layer_norm_eps", 1e-12),
}


def bert_config_from_hub(settings: Mapping[str, Any]) -> BertConfig:
    """Read the sizes from the settings of a BERT checkpoint's config.json.

    Dropout is left at 0: a checkpoint is loaded to be looked at.
    Raises CheckpointProblem when the settings are not those of a plain BERT encoder.
    """
    if settings.get("model_type", "bert") != "bert":
        raise CheckpointProblem(f"This checkpoint is a {settings['model_type']!r} model, not a BERT.")
    if settings.get("position_embedding_type", "absolute") != "absolute" or settings.get("is_decoder"):
        raise CheckpointProblem("This BERT has relative positions or is a decoder; only plain BERT encoders load here.")
    sizes = {ours: settings.get(theirs, default) for ours, (theirs, default) in _HUB_NAMES.items()}
    for ours, (theirs, default) in _HUB_NAMES.items():
        if not isinstance(sizes[ours], type(default)):
            raise CheckpointProblem(f"The checkpoint's config.json cannot be used: {theirs} is {sizes[ours]!r}.")
    try:
        return BertConfig(**sizes, dropout=0.0)
    except ValueError as rule:
        raise CheckpointProblem(f"The checkpoint's config.json cannot be used: {rule}.") from rule
