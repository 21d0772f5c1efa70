"""Verify that a model of the transformers library computes the same with our attention, and describe it.

The library itself is not imported here: load.py passes the loaded model. Its own attention is the reference: outputs, hidden
states and the attention weights of every layer are compared, on several texts, alone and in a padded batch.
"""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, MODEL_FOR_MASKED_LM_MAPPING_NAMES

from tx_core.engine.checkpoint import NOT_FINITE_WEIGHTS
from tx_core.engine.engine import ModelInfo
from tx_core.engine.hub.hub_engine import model_inputs, shift_right
from tx_core.engine.hub.parts import Parts, apply_head, find_parts
from tx_core.engine.hub.recorder import Recorder
from tx_core.engine.tokenizer import Tokenizer
from tx_core.errors import CheckpointProblem, ModelUnavailable
from tx_core.settings import host_settings
from tx_core.transformer.attention import merge_heads
from tx_core.transformer.config import AttentionKind
from tx_core.transformer.trace import Encoding, axes

ATTENTION_IMPLEMENTATION = "tx_core"
MAX_RELATIVE_TOKENS = 512  # for relative positions, which set no limit of their own
READING_BOTH_WAYS = {*MODEL_FOR_MASKED_LM_MAPPING_NAMES, "bert-generation", "xlnet"}
"""Families that the library has a causal head for, and which attend to what comes later unless they are decoders."""
PROBES = (("Time flies like an arrow.", None), ("Where does each head look", "when it reads two sentences?"))
MAX_PROBE_TOKENS = 160
"""Length of a third probe: longer than the windows of local attention (128 in ModernBERT)."""
WEIGHT_TOLERANCE, OUTPUT_TOLERANCE = 1e-5, 1e-4
"""The largest differences allowed: of attention weights, and of outputs and hidden states as a share of their largest number."""
LIBRARY_NAMES: dict[AttentionKind, str] = {
    "self": "encoder_attentions",
    "decoder": "decoder_attentions",
    "cross": "cross_attentions",
}
"""The library's names for the weights of an encoder-decoder's three kinds of attention."""
UNFIT = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""Errors of a model that takes no text, or whose attention passes arguments that ours does not support."""


ProbeBatch = tuple[Sequence[Encoding], Sequence[Encoding] | None]
"""Texts of a batch, and what the decoder of an encoder-decoder reads for each."""


@dataclass(frozen=True)
class Run:
    """What a model computes for one text: its output and hidden states, and the weights of each kind of attention, by layer."""

    vectors: Sequence[Tensor]
    weights: dict[AttentionKind, Sequence[Tensor]]


def verify_parity(model: Any, tokenizer: Tokenizer, has_head: bool) -> tuple[ModelInfo, Parts | None]:
    """Run texts through the library's own attention and through ours; describe the model and locate its parts.

    Raises ModelUnavailable if the two differ: what would be shown is then not what the model computes; CheckpointProblem if the
    model computes numbers that are not finite.
    """
    try:
        with torch.inference_mode():
            return _verify(model, tokenizer, _describe(model, tokenizer, has_head))
    except UNFIT as unfit:
        raise cannot_show(model.config.model_type) from unfit


def _verify(model: Any, tokenizer: Tokenizer, info: ModelInfo) -> tuple[ModelInfo, Parts | None]:
    batches = _probes(tokenizer, info)
    recorders = [Recorder(("weights",), first_layer=info.first_layer) for _ in batches]
    theirs = [run for batch in batches for run in _runs(model, batch, info, tokenizer)]
    model.set_attn_implementation(ATTENTION_IMPLEMENTATION)
    pairs = zip(batches, recorders, strict=True)
    ours = [run for batch, recorder in pairs for run in _runs(model, batch, info, tokenizer, recorder)]
    if not all(run.vectors[0].isfinite().all() for run in theirs[: len(PROBES)]):
        raise CheckpointProblem(NOT_FINITE_WEIGHTS.format(name="the output of the model"))
    if not all(map(_agree, ours, theirs)):
        raise cannot_show(info.family)
    if info.predicts_next and any(layer.triu(1).any() for layer in theirs[0].weights["self"]):
        info = replace(info, predicts_next=False)  # it has seen the token that its head would have to predict
    info = _number_layers(info, recorders[0], model.config)
    return info, _verified_parts(model, info, tokenizer, batches[0])


def cannot_show(family: str) -> ModelUnavailable:
    """Return the error for a family whose attention cannot be shown."""
    return ModelUnavailable(
        f"Models of the kind {family!r} compute their attention in a way that cannot be shown here: choose another model."
    )


def _describe(model: Any, tokenizer: Tokenizer, has_head: bool) -> ModelInfo:
    """Describe a model by its settings; its layers and heads are those of its first run."""
    config = model.config
    kinds: tuple[AttentionKind, ...] = ("self", "decoder", "cross") if config.is_encoder_decoder else ("self",)
    predicts_next = has_head and predicts_next_token(config)
    starts = (getattr(config, name, None) for name in ("decoder_start_token_id", "bos_token_id", "pad_token_id"))
    takes_segments = "token_type_ids" in inspect.signature(model.forward).parameters
    return ModelInfo(
        family=config.model_type,
        layers=dict.fromkeys(kinds, 0),
        num_heads=0,
        hidden_size=getattr(config, "hidden_size", 0),
        max_tokens=min(_max_tokens(model), host_settings().max_model_tokens),
        has_head=has_head,
        fills_blanks=has_head and not predicts_next and tokenizer.mask_id is not None,
        predicts_next=predicts_next,
        num_segments=(getattr(config, "type_vocab_size", None) or 0) if takes_segments else 0,
        decoder_start=next((one for one in starts if one is not None), 0) if config.is_encoder_decoder else None,
    )


def predicts_next_token(config: Any) -> bool:
    """Return whether the head of a model scores the token that follows: that of any family that the library has a causal head
    for, and of one that also reads both ways, such as BERT, where it is a decoder.
    """
    if config.is_encoder_decoder or config.model_type not in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        return False
    return bool(getattr(config, "is_decoder", False)) or config.model_type not in READING_BOTH_WAYS


def _max_tokens(model: nn.Module) -> int:
    """Return the length of the longest input that has positions."""
    limit = getattr(model.config, "max_position_embeddings", None) or MAX_RELATIVE_TOKENS
    for name, module in model.named_modules():
        # RoBERTa numbers positions from padding_idx + 1 on, so the first rows of its table are unused.
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            limit = module.num_embeddings - module.padding_idx - 1
    return limit


def _probes(tokenizer: Tokenizer, info: ModelInfo) -> list[ProbeBatch]:
    """Return each text alone, a long one, and all of them in one padded batch."""
    sentence = PROBES[0][0]
    texts = [*PROBES, (" ".join([sentence] * (MAX_PROBE_TOKENS // len(sentence.split()))), None)]
    most, whole = min(MAX_PROBE_TOKENS, info.max_tokens), [tokenizer.encode(*text) for text in texts]
    rows = [replace(row, ids=row.ids[:most], segments=row.segments[:most]) for row in whole]
    targets = None if info.decoder_start is None else [shift_right(row, info.decoder_start, tokenizer) for row in rows]
    alone = [([row], None if targets is None else [targets[number]]) for number, row in enumerate(rows)]
    return [*alone, (rows[:2], None if targets is None else targets[:2])]


def _runs(
    model: Any, batch: ProbeBatch, info: ModelInfo, tokenizer: Tokenizer, recorder: Recorder | None = None
) -> Iterator[Run]:
    """Run a batch, with our attention where a recorder is given; yield the run of each text, without padding."""
    rows, targets = batch
    options = {"output_attentions": True} if recorder is None else {"recorder": recorder}
    output = model(**model_inputs(rows, targets, info, tokenizer.padding_id, "cpu"), output_hidden_states=True, **options)
    if recorder is None:
        names = {"self": "attentions"} if info.decoder_start is None else LIBRARY_NAMES
        # A layer without attention (a convolution, a recurrence) returns None.
        found = {kind: [one for one in output.get(name) or () if one is not None] for kind, name in names.items()}
    else:
        found = {kind: [layer["weights"] for layer in recorder.layers.get(kind, [])] for kind in info.layers}
    hidden = output.hidden_states if info.decoder_start is None else output.encoder_hidden_states
    for number, row in enumerate(rows):
        target = None if targets is None else targets[number]
        sides = {kind: (len(query or row), len(key or row)) for kind, (query, key) in axes(row, target).items()}
        yield Run(
            [output[0][number, : len(row if target is None else target)], *(layer[number, : len(row)] for layer in hidden)],
            {kind: [layer[number, :, : sides[kind][0], : sides[kind][1]] for layer in found[kind]] for kind in found},
        )


def _agree(ours: Run, theirs: Run) -> bool:
    """Return whether two runs on a text have the same layers, of one shape, and the same numbers up to rounding."""
    layers = [(ours.vectors[1:], theirs.vectors[1:]), *((ours.weights[kind], theirs.weights[kind]) for kind in ours.weights)]
    if any(len(mine) != len(reference) or len({layer.shape for layer in mine}) != 1 for mine, reference in layers):
        return False
    weights = [pair for mine, reference in layers[1:] for pair in zip(mine, reference, strict=True)]
    vectors = zip(ours.vectors, theirs.vectors, strict=True)
    return all(_close(*pair, OUTPUT_TOLERANCE * float(pair[1].abs().max())) for pair in vectors) and all(
        _close(*pair, WEIGHT_TOLERANCE) for pair in weights
    )


def _close(mine: Tensor, reference: Tensor, tolerance: float) -> bool:
    return mine.shape == reference.shape and float((mine - reference).abs().max()) <= tolerance


def _number_layers(info: ModelInfo, recorder: Recorder, config: Any) -> ModelInfo:
    """Add to the description, from a run: layers, heads, and the numbers of the layers with attention if some have none."""
    layers = {kind: len(recorder.layers[kind]) for kind in info.layers}
    total = getattr(config, "num_hidden_layers", layers["self"])
    numbers = tuple(recorder.numbers)
    if info.decoder_start is None and layers["self"] != total:
        if None in numbers or len(set(numbers)) != layers["self"]:
            raise cannot_show(config.model_type)
        info = replace(info, layer_numbers=numbers)
    return replace(info, layers=layers, num_heads=recorder.layers["self"][0]["weights"].shape[1])


def _verified_parts(model: Any, info: ModelInfo, tokenizer: Tokenizer, batch: ProbeBatch) -> Parts | None:
    """Locate the parts of a model by the table of families; None if their results differ from the model's."""
    parts = find_parts(model.base_model, info)
    if parts is None:
        return None
    recorder, read = Recorder(("context", "weights"), first_layer=info.first_layer), []
    modules = {model.base_model.get_submodule(path) for path in parts.projections}
    hooks = [module.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0])) for module in modules]
    try:
        (run,) = _runs(model, batch, info, tokenizer, recorder)
    finally:
        for hook in hooks:
            hook.remove()
    contexts = [merge_heads(layer["context"]) for layer in recorder.layers["self"]]
    located = len(read) == len(contexts) and all(map(torch.equal, read, contexts))
    if located and info.has_head and info.decoder_start is None:
        logits = run.vectors[0]
        located = _close(apply_head(model, parts, run.vectors[-1]), logits, OUTPUT_TOLERANCE * float(logits.abs().max()))
    return parts if located else None
