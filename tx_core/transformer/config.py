"""Configurations of a BERT, of an encoder-decoder and of a causal language model: frozen, and validated when they are made."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tx_core.errors import CheckpointProblem

AttentionKind = Literal["self", "decoder", "cross"]
"""Self-attention of an encoder or of a decoder-only model, self-attention of an encoder-decoder's decoder, cross-attention."""
ACTIVATIONS = ("gelu", "gelu_new", "relu")


@dataclass(frozen=True)
class TransformerConfig:
    """The sizes that every transformer here has. Raises ValueError with the rule and the value.

    Attributes:
        vocab_size: the number of entries of the vocabulary.
        hidden_size: the length of a token's vector; a multiple of num_heads.
        num_layers: the number of blocks; of an encoder-decoder, of the encoder, and of the decoder.
        num_heads: the number of attention heads in each block.
        intermediate_size: the length of the feed-forward network's inner vector.
        max_positions: the largest number of tokens; of an encoder-decoder, of the source, and of the target.
        activation: one of ACTIVATIONS.
        layer_norm_eps: added to the variance in every layer norm.
        dropout: the share of numbers dropped while training, in [0, 1).
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


def require_within(settings: object, limits: Mapping[str, tuple[int, int]]) -> None:
    """Raise ValueError unless each of the named settings is a whole number from its least to its most."""
    for name, (least, most) in limits.items():
        value = getattr(settings, name)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ValueError(f"{name} must be a whole number from {least} to {most}, got {value!r}")


def require_learning_rate(rate: float) -> None:
    """Raise ValueError unless a learning rate lies in (0, 1]."""
    if not 0 < rate <= 1:
        raise ValueError(f"learning_rate must lie above 0 and be 1 at most, got {rate}")


# Our name → the name in a checkpoint's config.json, and the default where the file does not name it.
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


def is_plain_bert(settings: Mapping[str, Any]) -> bool:
    """Return whether a checkpoint's config.json is that of a BERT encoder with an activation from ACTIVATIONS."""
    is_bert = settings.get("model_type", "bert") == "bert"
    return is_bert and not settings.get("is_decoder") and settings.get("hidden_act", "gelu") in ACTIVATIONS


CAUSAL_FAMILY = "starcoder2"
"""The family of the transformers library in whose layout our causal language models are written: it has their every part."""


def is_our_causal_lm(settings: Mapping[str, Any]) -> bool:
    """Return whether a config.json is that of a causal language model as ours: a Starcoder2 with biases, tied words, plain rotary
    positions in every dimension, one key and value for each query, no window, and an activation from ACTIVATIONS.
    """
    rope = settings.get("rope_parameters") or {}
    return (
        settings.get("model_type") == CAUSAL_FAMILY
        and settings.get("num_attention_heads") == settings.get("num_key_value_heads")
        and bool(settings.get("use_bias", True) and settings.get("tie_word_embeddings", True))
        and not settings.get("sliding_window")
        and rope.get("rope_type") == "default"
        and settings.get("hidden_act") in (*ACTIVATIONS, "gelu_pytorch_tanh")
    )


def bert_config_from_hub(settings: Mapping[str, Any]) -> BertConfig:
    """Read the sizes from the config.json of a BERT checkpoint. Dropout is 0: a checkpoint is loaded for inference.

    Raises CheckpointProblem unless the settings are those of a plain BERT encoder.
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
