"""Deeper models from trained ones: new blocks that add nothing at first, and the weights that stay frozen."""

import math
from collections.abc import Sequence
from dataclasses import replace

import torch

from tx_core.transformer.bert import Bert, random_bert
from tx_core.transformer.layers import EncoderBlock, LayerNorm


def deepen_model(trained: Bert, num_layers: int) -> Bert:
    """Add new blocks to a trained model, spread evenly, the last at its end.

    In a new block, the two matrices and biases that add to a token's vector are zero, as in LLaMA Pro (Wu et al. 2024). The
    rest of its feed-forward part is a copy of the block before it. Its attention is random, so that its heads attend evenly:
    copies of the block before it attended to [CLS] and [SEP] from the start, and stayed there. A post-norm block normalises its
    input all the same, so its norms restore the mean and deviation of the block before it, one number each for all tokens.

    Raises:
        ValueError: If num_layers is less than the model has.
    """
    old = trained.config.num_layers
    if num_layers < old:
        raise ValueError(f"a model of {old} layers cannot be deepened to {num_layers}")
    model = random_bert(replace(trained.config, num_layers=num_layers), 0, with_head=trained.head is not None)
    _take_over(model, trained)
    new = new_blocks(old, num_layers)
    for place, origin in enumerate(_origins(old, num_layers)):
        block, state = model.encoder.blocks[place], trained.encoder.blocks[origin].state_dict()
        if place in new:
            state |= {name: weights for name, weights in block.state_dict().items() if name.startswith("attention.")}
        block.load_state_dict(state)
        if place in new:
            _silence(block)
    return model


def new_blocks(old: int, num_layers: int) -> list[int]:
    """Return the indices of the new blocks of a model deepened from `old` blocks."""
    origins = _origins(old, num_layers)
    return [place for place in range(1, num_layers) if origins[place] == origins[place - 1]]


def _origins(old: int, num_layers: int) -> list[int]:
    """Return the block of the trained model that each block comes from."""
    new = num_layers - old
    after = [math.ceil(number * old / new) - 1 for number in range(1, new + 1)]
    return sorted([*range(old), *after])


def _take_over(model: Bert, trained: Bert) -> None:
    kept = {name: tensor for name, tensor in trained.state_dict().items() if not name.startswith("encoder.")}
    unmatched = model.load_state_dict(kept, strict=False)
    if unmatched.unexpected_keys:
        raise ValueError(f"nothing of a deeper model is called {', '.join(unmatched.unexpected_keys)}")


@torch.no_grad()
def _silence(block: EncoderBlock) -> None:
    for part in (block.attention.output, block.feed_forward.down):
        part.weight.zero_()
        part.bias.zero_()
    mean, deviation = _output_moments(block.feed_forward_norm)
    for norm in (block.attention_norm, block.feed_forward_norm):
        norm.weight.fill_(deviation)
        norm.bias.fill_(mean)


def _output_moments(norm: LayerNorm) -> tuple[float, float]:
    """Return the mean and standard deviation of a norm's output, assuming independent inputs."""
    squares = norm.weight.pow(2).mean() + norm.bias.pow(2).mean()
    mean = norm.bias.mean()
    return mean.item(), (squares - mean.pow(2)).sqrt().item()


OUTPUT_PARTS = ("attention.value", "attention.output", "attention_norm", "feed_forward.", "feed_forward_norm")
"""The weights of a block that determine its output for given attention weights."""


def frozen_while_new_blocks_learn(model: Bert, places: Sequence[int]) -> list[str]:
    """Return the names of all weights but OUTPUT_PARTS of the new blocks; none without new blocks."""
    adding = tuple(f"encoder.blocks.{place}.{part}" for place in places for part in OUTPUT_PARTS)
    return [name for name, _ in model.named_parameters() if not name.startswith(adding)] if adding else []


def query_and_key_weights(model: Bert, layers: Sequence[int]) -> list[str]:
    """Return the names of the query and key weights of layers, counted from 1 in the deepened model; ValueError for others."""
    if absent := [layer for layer in layers if not 1 <= layer <= model.config.num_layers]:
        raise ValueError(f"freeze_attention must name layers from 1 to {model.config.num_layers}, got {absent[0]}")
    parts = tuple(f"encoder.blocks.{layer - 1}.attention.{part}." for layer in layers for part in ("query", "key"))
    return [name for name, _ in model.named_parameters() if name.startswith(parts)] if parts else []
