"""The architectures that run in our own code, as the hub stores them: sizes and names of weights, both ways. Imports no torch."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from tx_core.errors import CheckpointProblem
from tx_core.transformer.config import ACTIVATIONS, BertConfig, CausalConfig

Weight = TypeVar("Weight")
CAUSAL_FAMILY = "starcoder2"
"""The family of the transformers library in whose layout our causal language models are written: it has their every part."""
TIED_OUTPUT = "head.vocabulary.weight"
"""The scores of the vocabulary share the word vectors, which are written once."""
NOT_OURS = (
    "This checkpoint ({family!r}) is neither a plain BERT encoder nor a Starcoder2 with biases, tied words, plain rotary "
    "positions and no shared keys."
)
_SIZES = {
    "vocab_size": "vocab_size",
    "hidden_size": "hidden_size",
    "num_layers": "num_hidden_layers",
    "num_heads": "num_attention_heads",
    "intermediate_size": "intermediate_size",
    "max_positions": "max_position_embeddings",
    "activation": "hidden_act",
}
_ACTIVATIONS = {"gelu_pytorch_tanh": "gelu_new"}
"""What Starcoder2 calls an activation that BERT calls otherwise."""
_PARTS = {"layer": r"\d+", "role": "query|key|value", "part": r"\w+"}


@dataclass(frozen=True)
class Architecture:
    """One of our models, as the hub stores it.

    fits: whether a config.json is that of a model which computes as ours does. sizes: our names of sizes, and those in
    config.json. defaults: what the library takes for sizes that an old config.json does not name. written: what else is written.
    prefix: with or without it stand the names of all weights but those of heads. names: pairs of names of weights, theirs and
    ours; of several that match, the first counts. unused: names of weights that other tasks need, which are not loaded.
    """

    family: str
    config: type[BertConfig] | type[CausalConfig]
    fits: Callable[[Mapping[str, Any]], bool]
    sizes: Mapping[str, str]
    defaults: Mapping[str, Any]
    written: Callable[[Any], dict[str, Any]]
    prefix: str
    names: tuple[tuple[str, str], ...]
    unused: str


def _is_bert(settings: Mapping[str, Any]) -> bool:
    return (
        settings.get("model_type", "bert") == "bert"
        and not settings.get("is_decoder")
        and settings.get("position_embedding_type", "absolute") == "absolute"
        and settings.get("hidden_act", "gelu") in ACTIVATIONS
    )


def _is_causal(settings: Mapping[str, Any]) -> bool:
    return (
        settings.get("model_type") == CAUSAL_FAMILY
        and settings.get("num_attention_heads") == settings.get("num_key_value_heads")
        and bool(settings.get("use_bias", True) and settings.get("tie_word_embeddings", True))
        and not settings.get("sliding_window")
        and (settings.get("rope_parameters") or {}).get("rope_type") == "default"
        and settings.get("hidden_act") in (*ACTIVATIONS, *_ACTIVATIONS)
    )


BERT = Architecture(
    family="bert",
    config=BertConfig,
    fits=_is_bert,
    sizes={**_SIZES, "num_segments": "type_vocab_size", "layer_norm_eps": "layer_norm_eps"},
    defaults={
        "vocab_size": 30522,
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
        "max_position_embeddings": 512,
        "type_vocab_size": 2,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
    },
    written=lambda config: {
        "architectures": ["BertForMaskedLM"],
        "hidden_dropout_prob": config.dropout,
        "attention_probs_dropout_prob": config.dropout,
        "pad_token_id": 0,
    },
    prefix="bert.",
    names=(
        ("bert.embeddings.word_embeddings.weight", "embeddings.words.weight"),
        ("bert.embeddings.position_embeddings.weight", "embeddings.positions.weight"),
        ("bert.embeddings.token_type_embeddings.weight", "embeddings.segments.weight"),
        ("bert.embeddings.LayerNorm.{part}", "embeddings.norm.{part}"),
        ("bert.encoder.layer.{layer}.attention.self.{role}.{part}", "encoder.blocks.{layer}.attention.{role}.{part}"),
        ("bert.encoder.layer.{layer}.attention.output.dense.{part}", "encoder.blocks.{layer}.attention.output.{part}"),
        ("bert.encoder.layer.{layer}.attention.output.LayerNorm.{part}", "encoder.blocks.{layer}.attention_norm.{part}"),
        ("bert.encoder.layer.{layer}.intermediate.dense.{part}", "encoder.blocks.{layer}.feed_forward.up.{part}"),
        ("bert.encoder.layer.{layer}.output.dense.{part}", "encoder.blocks.{layer}.feed_forward.down.{part}"),
        ("bert.encoder.layer.{layer}.output.LayerNorm.{part}", "encoder.blocks.{layer}.feed_forward_norm.{part}"),
        ("cls.predictions.transform.dense.{part}", "head.dense.{part}"),
        ("cls.predictions.transform.LayerNorm.{part}", "head.norm.{part}"),
        ("cls.predictions.bias", "head.vocabulary.bias"),
        ("cls.predictions.decoder.{part}", "head.vocabulary.{part}"),
        ("bert.pooler.dense.{part}", "label_head.read.dense.{part}"),
        ("classifier.{part}", "label_head.label.{part}"),
    ),
    unused=r"cls\.seq_relationship\..*|(bert\.)?embeddings\.position_ids|(classifier|qa_outputs)\..*",
)
CAUSAL = Architecture(
    family=CAUSAL_FAMILY,
    config=CausalConfig,
    fits=_is_causal,
    sizes={**_SIZES, "layer_norm_eps": "norm_epsilon", "rotary_base": "rope_theta"},
    defaults={},
    written=lambda config: {
        "architectures": ["Starcoder2ForCausalLM"],
        "num_key_value_heads": config.num_heads,
        "rope_parameters": {"rope_type": "default", "rope_theta": config.rotary_base},
        "attention_dropout": config.dropout,
        "residual_dropout": config.dropout,
        "embedding_dropout": 0.0,
        "use_bias": True,
        "sliding_window": None,
        "bos_token_id": 2,
        "eos_token_id": 3,
        "pad_token_id": 0,
    },
    prefix="model.",
    names=(
        ("model.embed_tokens.weight", "words.weight"),
        ("model.layers.{layer}.input_layernorm.{part}", "encoder.blocks.{layer}.attention_norm.{part}"),
        ("model.layers.{layer}.self_attn.q_proj.{part}", "encoder.blocks.{layer}.attention.query.{part}"),
        ("model.layers.{layer}.self_attn.k_proj.{part}", "encoder.blocks.{layer}.attention.key.{part}"),
        ("model.layers.{layer}.self_attn.v_proj.{part}", "encoder.blocks.{layer}.attention.value.{part}"),
        ("model.layers.{layer}.self_attn.o_proj.{part}", "encoder.blocks.{layer}.attention.output.{part}"),
        ("model.layers.{layer}.post_attention_layernorm.{part}", "encoder.blocks.{layer}.feed_forward_norm.{part}"),
        ("model.layers.{layer}.mlp.c_fc.{part}", "encoder.blocks.{layer}.feed_forward.up.{part}"),
        ("model.layers.{layer}.mlp.c_proj.{part}", "encoder.blocks.{layer}.feed_forward.down.{part}"),
        ("model.norm.{part}", "norm.{part}"),
    ),
    unused="",
)


def own_architecture(settings: Mapping[str, Any]) -> Architecture | None:
    """Return the architecture of ours that a config.json describes in every part; None for a model that the library must run."""
    return next((one for one in (BERT, CAUSAL) if one.fits(settings)), None)


def config_from_hub(settings: Mapping[str, Any]) -> BertConfig | CausalConfig:
    """Read the sizes from a config.json; dropout is 0, as a checkpoint is loaded for inference.

    Raises CheckpointProblem for a model that is none of ours, or sizes that no model can have.
    """
    if (architecture := own_architecture(settings)) is None:
        raise CheckpointProblem(NOT_OURS.format(family=settings.get("model_type")))
    try:
        found = {**architecture.defaults, **settings, **(settings.get("rope_parameters") or {})}
        sizes = {ours: found[theirs] for ours, theirs in architecture.sizes.items()}
        if architecture is CAUSAL:
            sizes |= {"rotary_base": float(sizes["rotary_base"])}
        sizes["activation"] = _ACTIVATIONS.get(sizes["activation"], sizes["activation"])
        return architecture.config(**sizes, dropout=0.0)
    except (KeyError, TypeError, ValueError) as rule:
        raise CheckpointProblem(f"The checkpoint's config.json cannot be used: {rule}.") from rule


def config_to_hub(config: BertConfig | CausalConfig) -> dict[str, Any]:
    """Return the configuration as transformers names it."""
    architecture = _architecture_of(type(config))
    sizes = {theirs: getattr(config, ours) for ours, theirs in architecture.sizes.items() if theirs != "rope_theta"}
    if architecture is CAUSAL:
        theirs = {ours: name for name, ours in _ACTIVATIONS.items()}
        sizes["hidden_act"] = theirs.get(config.activation, config.activation)
    common = {"model_type": architecture.family, "dtype": "float16", "initializer_range": 0.02, "tie_word_embeddings": True}
    return architecture.written(config) | sizes | common


def names_to_hub(config: type[BertConfig] | type[CausalConfig], weights: Mapping[str, Weight]) -> dict[str, Weight]:
    """Translate our names of weights to the hub's; raise ValueError for one that has none."""
    pairs, named = tuple((ours, theirs) for theirs, ours in _architecture_of(config).names), {}
    for ours, weight in weights.items():
        theirs = translate(ours, pairs)
        if theirs is None:
            raise ValueError(f"the hub's layout has no name for {ours}")
        if ours != TIED_OUTPUT:
            named[theirs] = weight
    return named


def _architecture_of(config: type[BertConfig] | type[CausalConfig]) -> Architecture:
    return CAUSAL if config is CausalConfig else BERT


def translate(name: str, names: tuple[tuple[str, str], ...]) -> str | None:
    """Return the new name from the first pair whose old name matches, or None."""
    for old, new in names:
        if match := _pattern(old).fullmatch(name):
            return new.format(**match.groupdict())
    return None


@cache
def _pattern(template: str) -> re.Pattern[str]:
    """Compile a name with placeholders into a regular expression with one named group for each."""
    escaped = re.escape(template).replace(r"\{", "{").replace(r"\}", "}")
    return re.compile(re.sub(r"{(\w+)}", lambda field: f"(?P<{field[1]}>{_PARTS[field[1]]})", escaped))
