"""Weights that a training leaves as they are, by their names: for its first part, or all along."""

from collections.abc import Sequence

from tx_core.transformer.bert import Bert

ADDING = ("attention.value", "attention.output", "attention_norm", "feed_forward.", "feed_forward_norm")
"""The parts of a block that decide what it adds to a token's vector, wherever it looks."""


def all_but_added(model: Bert, places: Sequence[int]) -> list[str]:
    """Name all weights but those that decide what the new blocks at some places add; none where no block is new."""
    adding = tuple(f"encoder.blocks.{place}.{part}" for place in places for part in ADDING)
    return [name for name, _ in model.named_parameters() if not name.startswith(adding)] if adding else []


def looking(model: Bert, layers: Sequence[int]) -> list[str]:
    """Name the weights that decide where the heads of some layers look; raises ValueError for one that the model has not.

    layers: from 1, as the model has them once it is deepened.
    """
    if absent := [layer for layer in layers if not 1 <= layer <= model.config.num_layers]:
        raise ValueError(f"hold_looking must name layers from 1 to {model.config.num_layers}, got {absent[0]}")
    parts = tuple(f"encoder.blocks.{layer - 1}.attention.{part}." for layer in layers for part in ("query", "key"))
    return [name for name, _ in model.named_parameters() if name.startswith(parts)] if parts else []
