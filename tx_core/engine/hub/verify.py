"""Verify that a model of the transformers library computes the same with our attention, and describe it.

The library itself is not imported here: load.py passes the loaded model. Its own attention is the reference: outputs, hidden
states and the attention weights of every layer are compared, on several texts, alone and in a padded batch.
"""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from tx_core.engine.checkpoint import NOT_FINITE_WEIGHTS
from tx_core.engine.engine import ModelInfo
from tx_core.engine.hub.hub_engine import axes, model_inputs, shift_right
from tx_core.engine.hub.parts import FAMILY_MODULES, Parts, apply_head, find_parts
from tx_core.engine.hub.recorder import Recorder
from tx_core.engine.tokenizer import Tokenizer
from tx_core.errors import CheckpointProblem, ModelUnavailable
from tx_core.settings import host_settings
from tx_core.transformer.attention import merge_heads
from tx_core.transformer.config import AttentionKind
from tx_core.transformer.trace import Encoding

ATTENTION_IMPLEMENTATION = "tx_core"
MAX_RELATIVE_TOKENS = 512  # for relative positions, which set no limit of their own
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


@dataclass(frozen=True)
class ProbeTexts:
    """Texts of one batch, and what the decoder of an encoder-decoder reads for each."""

    rows: Sequence[Encoding]
    targets: Sequence[Encoding] | None


@dataclass(frozen=True)
class Run:
    """The outputs of a model for a probe, with the library's attention or with ours."""

    output: Tensor
    hidden: Sequence[Tensor]
    weights: dict[AttentionKind, Sequence[Tensor]]


def verify_parity(model: Any, tokenizer: Tokenizer, has_head: bool) -> tuple[ModelInfo, Parts | None]:
    """Run texts through the library's own attention and through ours; describe the model and locate its parts.

    Raises:
        ModelUnavailable: If the two differ: what would be shown is then not what the model computes.
        CheckpointProblem: If the model computes numbers that are not finite.
    """
    try:
        with torch.inference_mode():
            return _verify(model, tokenizer, _describe(model, tokenizer, has_head))
    except UNFIT as unfit:
        raise cannot_show(model.config.model_type) from unfit


def _verify(model: Any, tokenizer: Tokenizer, info: ModelInfo) -> tuple[ModelInfo, Parts | None]:
    probes = _probes(tokenizer, info)
    recorders = [Recorder(("weights",), first_layer=info.first_layer) for _ in probes]
    theirs = [_run(model, probe, info, tokenizer, output_attentions=True) for probe in probes]
    model.set_attn_implementation(ATTENTION_IMPLEMENTATION)
    ours = [
        replace(_run(model, probe, info, tokenizer, recorder=recorder), weights=_recorded(recorder, info))
        for probe, recorder in zip(probes, recorders, strict=True)
    ]
    if not all(run.output.isfinite().all() for run in theirs[: len(PROBES)]):
        raise CheckpointProblem(NOT_FINITE_WEIGHTS.format(name="the output of the model"))
    for probe, mine, reference in zip(probes, ours, theirs, strict=True):
        for number in range(len(probe.rows)):
            if not _agree(*(_without_padding(run, probe, number) for run in (mine, reference))):
                raise cannot_show(info.family)
    info = _number_layers(info, recorders[0], model.config)
    return info, _verified_parts(model, info, tokenizer, probes[0])


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
    """Return whether the head of a model scores the token that follows: GPT-2's, Starcoder2's, or a BERT's that is a decoder."""
    family = FAMILY_MODULES.get(config.model_type)
    is_decoder = getattr(config, "is_decoder", False) and not config.is_encoder_decoder
    return family is not None and (family.predicts_next or is_decoder)


def _max_tokens(model: nn.Module) -> int:
    """Return the length of the longest input that has positions."""
    limit = getattr(model.config, "max_position_embeddings", None) or MAX_RELATIVE_TOKENS
    for name, module in model.named_modules():
        # RoBERTa numbers positions from padding_idx + 1 on, so the first rows of its table are unused.
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            limit = module.num_embeddings - module.padding_idx - 1
    return limit


def _probes(tokenizer: Tokenizer, info: ModelInfo) -> list[ProbeTexts]:
    """Return each text alone, a long one, and all of them in one padded batch."""
    sentence = PROBES[0][0]
    texts = [*PROBES, (" ".join([sentence] * (MAX_PROBE_TOKENS // len(sentence.split()))), None)]
    most, whole = min(MAX_PROBE_TOKENS, info.max_tokens), [tokenizer.encode(*text) for text in texts]
    rows = [replace(row, ids=row.ids[:most], segments=row.segments[:most]) for row in whole]
    targets = None if info.decoder_start is None else [shift_right(row, info.decoder_start, tokenizer) for row in rows]
    alone = [ProbeTexts([row], None if targets is None else [targets[number]]) for number, row in enumerate(rows)]
    return [*alone, ProbeTexts(rows[:2], None if targets is None else targets[:2])]


def _run(model: Any, probe: ProbeTexts, info: ModelInfo, tokenizer: Tokenizer, **options: object) -> Run:
    batch = model_inputs(probe.rows, probe.targets, info, tokenizer.padding_id, "cpu")
    output = model(**batch, output_hidden_states=True, **options)
    if info.decoder_start is None:
        hidden, weights = output.hidden_states, {"self": output.get("attentions")}
    else:
        hidden = output.encoder_hidden_states
        weights = {kind: output.get(name) for kind, name in LIBRARY_NAMES.items()}
    # A layer without attention (a convolution, a recurrence) returns None.
    return Run(output[0], hidden, {kind: [w for w in found or () if w is not None] for kind, found in weights.items()})


def _recorded(recorder: Recorder, info: ModelInfo) -> dict[AttentionKind, Sequence[Tensor]]:
    return {kind: [layer["weights"] for layer in recorder.layers.get(kind, [])] for kind in info.layers}


def _without_padding(run: Run, probe: ProbeTexts, number: int) -> Run:
    """Return the outputs for one text of a batch, without those of padding, which are meaningless."""
    row, target = probe.rows[number], None if probe.targets is None else probe.targets[number]
    last = row if target is None else target
    sides = axes(row, target)
    return Run(
        run.output[number, : len(last)],
        [layer[number, : len(row)] for layer in run.hidden],
        {
            kind: [layer[number, :, : len(sides[kind][0]), : len(sides[kind][1])] for layer in layers]
            for kind, layers in run.weights.items()
        },
    )


def _agree(ours: Run, theirs: Run) -> bool:
    """Return whether two runs on a text have the same layers, of one shape, and the same numbers up to rounding."""
    layers = [(ours.hidden, theirs.hidden), *((layers, theirs.weights[kind]) for kind, layers in ours.weights.items())]
    if any(len(mine) != len(reference) or len({layer.shape for layer in mine}) != 1 for mine, reference in layers):
        return False
    vectors = [(ours.output, theirs.output), *zip(ours.hidden, theirs.hidden, strict=True)]
    weights = [pair for mine, reference in layers[1:] for pair in zip(mine, reference, strict=True)]
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


def _verified_parts(model: Any, info: ModelInfo, tokenizer: Tokenizer, probe: ProbeTexts) -> Parts | None:
    """Locate the parts of a model by the table of families; None if their results differ from the model's."""
    parts = find_parts(model.base_model, info)
    if parts is None:
        return None
    recorder, read = Recorder(("context",), first_layer=info.first_layer), []
    modules = {model.base_model.get_submodule(path) for path in parts.projections}
    hooks = [module.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0])) for module in modules]
    try:
        run = _run(model, probe, info, tokenizer, recorder=recorder)
    finally:
        for hook in hooks:
            hook.remove()
    contexts = [merge_heads(layer["context"]) for layer in recorder.layers["self"]]
    located = len(read) == len(contexts) and all(map(torch.equal, read, contexts))
    if located and info.has_head and info.decoder_start is None:
        logits = run.output[0]
        located = _close(apply_head(model, parts, run.hidden[-1][0]), logits, OUTPUT_TOLERANCE * float(logits.abs().max()))
    return parts if located else None
