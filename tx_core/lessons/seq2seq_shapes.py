"""The shape of every tensor in an encoder-decoder, read from a real run, and its three masks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn

from tx_core.transformer.attention import causal_mask, combine, padding_mask
from tx_core.transformer.config import Seq2SeqConfig
from tx_core.transformer.seq2seq import Seq2Seq, Seq2SeqRun


@dataclass(frozen=True)
class BatchSizes:
    """A batch of sources and targets with padding at the end of each; raises ValueError for padding without tokens."""

    batch: int
    source: int
    target: int
    source_padding: int = 0
    target_padding: int = 0

    def __post_init__(self) -> None:
        for name, tokens, padding in (("source", self.source, self.source_padding), ("target", self.target, self.target_padding)):
            if not 0 <= padding < tokens:
                raise ValueError(f"{name}_padding must be less than {name}, got {padding} and {tokens}")


@dataclass(frozen=True)
class NamedShape:
    """One tensor. layers: how many layers compute one of this shape."""

    where: str
    name: str
    axes: tuple[str, ...]
    shape: tuple[int, ...]
    layers: int = 1


@dataclass(frozen=True)
class ShapesRun:
    """All shapes in order of computation, the three masks (True = may attend) and the number of parameters."""

    shapes: tuple[NamedShape, ...]
    encoder_mask: Bool[np.ndarray, "source source"]
    decoder_mask: Bool[np.ndarray, "target target"]
    cross_mask: Bool[np.ndarray, "target source"]
    parameters: int


def _named_shapes(run: Seq2SeqRun, ids: Sequence[Int[Tensor, "batch _"]], layers: int) -> tuple[NamedShape, ...]:
    """List the tensors of a run of one layer, in order of computation. layers: the number of layers that repeat them."""
    encoder, own, cross = run.encoder.layers[0], run.decoder.layers[0], run.decoder.cross_layers[0]
    tokens = ("batch", "source", "hidden")
    return (
        NamedShape("source", "ids", ("batch", "source"), tuple(ids[0].shape)),
        NamedShape("encoder", "embeddings", tokens, tuple(run.encoder.hidden[0].shape)),
        NamedShape("encoder", "queries", ("batch", "head", "source", "head_dim"), tuple(encoder["query"].shape), layers),
        NamedShape("encoder", "self-attention", ("batch", "head", "source", "source"), tuple(encoder["weights"].shape), layers),
        NamedShape("encoder", "output", tokens, tuple(run.encoder.output.shape)),
        NamedShape("target", "ids", ("batch", "target"), tuple(ids[1].shape)),
        NamedShape("decoder", "self-attention", ("batch", "head", "target", "target"), tuple(own["weights"].shape), layers),
        NamedShape(
            "decoder", "queries of cross-attention", ("batch", "head", "target", "head_dim"), tuple(cross["query"].shape), layers
        ),
        NamedShape(
            "decoder", "keys of cross-attention", ("batch", "head", "source", "head_dim"), tuple(cross["key"].shape), layers
        ),
        NamedShape("decoder", "cross-attention", ("batch", "head", "target", "source"), tuple(cross["weights"].shape), layers),
        NamedShape("decoder", "output", ("batch", "target", "hidden"), tuple(run.decoder.output.shape)),
        NamedShape("vocabulary", "logits", ("batch", "target", "vocab"), tuple(run.logits.shape)),
    )


def run_shapes(config: Seq2SeqConfig, sizes: BatchSizes) -> ShapesRun:
    """Run one layer of each stack on dummy input and record every shape; further layers repeat them."""
    model = Seq2Seq(replace(config, num_layers=1)).eval()
    source_mask = padding_mask([sizes.source - sizes.source_padding] * sizes.batch, sizes.source)
    target_mask = padding_mask([sizes.target - sizes.target_padding] * sizes.batch, sizes.target)
    ids = [torch.ones(sizes.batch, tokens, dtype=torch.long) for tokens in (sizes.source, sizes.target)]
    with torch.no_grad():
        run = model(*ids, source_mask, target_mask, keep=("query", "key", "weights", "hidden"))
    shapes = _named_shapes(run, ids, config.num_layers)
    decoder_mask = combine(causal_mask(sizes.target), target_mask[0, 0])
    return ShapesRun(
        shapes,
        source_mask[0, 0].expand(sizes.source, -1).numpy(),
        decoder_mask.numpy(),
        source_mask[0, 0].expand(sizes.target, -1).numpy(),
        _size(model) + (config.num_layers - 1) * (_size(model.encoder.blocks) + _size(model.decoder.blocks)),
    )


def _size(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())
