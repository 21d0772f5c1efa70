"""Deeper models from trained ones: new blocks that add nothing at first, and the weights that stay frozen."""

import math
from collections.abc import Sequence
from dataclasses import replace

import torch

from tx_core.transformer.bert import Bert, random_bert

OUTPUT_PARTS = ("attention.value", "attention.output", "attention_norm", "feed_forward.", "feed_forward_norm")
"""The weights of a block that determine its output for given attention weights."""


@torch.no_grad()
def deepen_model(trained: Bert, num_layers: int) -> Bert:
    """Return a trained model with new blocks, spread evenly, the last at its end.

    In a new block, the two matrices and biases that add to a token's vector are zero, as in LLaMA Pro (Wu et al. 2024). The
    rest of its feed-forward part is a copy of the block before it. Its attention is random, so that its heads attend evenly:
    copies of the block before it attended to [CLS] and [SEP] from the start, and stayed there. A post-norm block normalises its
    input all the same, so its norms restore the mean and deviation of the block before it, one number each for all tokens.
    """
    model = random_bert(replace(trained.config, num_layers=num_layers), 0, with_head=trained.head is not None)
    shared = {name: tensor for name, tensor in trained.state_dict().items() if not name.startswith("encoder.")}
    model.load_state_dict(shared, strict=False)
    origins, new = _origins(trained.config.num_layers, num_layers), new_blocks(trained.config.num_layers, num_layers)
    for place, origin in enumerate(origins):
        block, state = model.encoder.blocks[place], trained.encoder.blocks[origin].state_dict()
        if place not in new:
            block.load_state_dict(state)
            continue
        block.load_state_dict({name: weights for name, weights in state.items() if "attention." not in name}, strict=False)
        for part in (block.attention.output, block.feed_forward.down):
            part.weight.zero_()
            part.bias.zero_()
        # The mean and deviation of the norm's output, assuming independent inputs.
        weight, bias = state["feed_forward_norm.weight"], state["feed_forward_norm.bias"]
        deviation = (weight.pow(2).mean() + bias.pow(2).mean() - bias.mean().pow(2)).sqrt()
        for norm in (block.attention_norm, block.feed_forward_norm):
            norm.weight.fill_(deviation)
            norm.bias.fill_(bias.mean())
    return model


def _origins(old: int, num_layers: int) -> list[int]:
    """Return the block of the trained model that each block comes from."""
    new = num_layers - old
    return sorted([*range(old), *(math.ceil(number * old / new) - 1 for number in range(1, new + 1))])


def new_blocks(old: int, num_layers: int) -> list[int]:
    """Return the indices of the new blocks of a model deepened from `old` blocks."""
    origins = _origins(old, num_layers)
    return [place for place in range(1, num_layers) if origins[place] == origins[place - 1]]


def frozen_while_new_blocks_learn(model: Bert, places: Sequence[int]) -> list[str]:
    """Return the names of all weights but OUTPUT_PARTS of the new blocks; none without new blocks."""
    adding = tuple(f"encoder.blocks.{place}.{part}" for place in places for part in OUTPUT_PARTS)
    return [name for name, _ in model.named_parameters() if not name.startswith(adding)] if adding else []


def query_and_key_weights(model: Bert, layers: Sequence[int]) -> list[str]:
    """Return the names of the query and key weights of layers, counted from 1."""
    parts = tuple(f"encoder.blocks.{layer - 1}.attention.{part}." for layer in layers for part in ("query", "key"))
    return [name for name, _ in model.named_parameters() if name.startswith(parts)]
