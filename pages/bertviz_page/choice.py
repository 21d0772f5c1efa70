"""What a reader chooses within bertviz's own drawing: the layer, the heads, the filter, what is enlarged.

A drawing reports it, and starts with it, as one line such as "layer=2&heads=0_3&filter=1", counted from 0 as bertviz
counts. The session and the address count from 1, as the rest of the app does.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pages.ui.panels.view_options import MAX_LAYERS_OR_HEADS
from pages.ui.shell.address import Field, flag_field, number_field
from tx_core.transformer.trace import AttentionStack, Encoding

MAX_NEURON_TOKENS = 1000
"""More tokens than bertviz is asked to draw."""
NUM_PAIR_FILTERS = 5
"""The filters of bertviz for two sentences: everything, each within itself, and from each to the other."""
MAX_CHOICE_CHARACTERS = 5000
"""The length of a line: enough for every head of the largest layer."""
NUMBERS = re.compile(r"[0-9]{1,4}(?:_[0-9]{1,4})*")


def read_heads(written: str) -> tuple[int, ...]:
    """Read the heads that are on, as a link names them, "1_3"; ValueError for anything else. The model may still lack them."""
    heads = _numbers(written)
    if heads != tuple(sorted(set(heads))) or not 1 <= heads[0] <= heads[-1] <= MAX_LAYERS_OR_HEADS:
        raise ValueError("heads must be written like 1_3, each once and in order")
    return heads


def write_heads(heads: Sequence[int]) -> str:
    """Write the heads that are on for a link."""
    return "_".join(map(str, heads))


FIELDS = (
    number_field("layer", 1, 1, MAX_LAYERS_OR_HEADS),
    number_field("head", 1, 1, MAX_LAYERS_OR_HEADS),
    Field("heads", (), read_heads, write_heads),
    number_field("filter", 1, 1, NUM_PAIR_FILTERS),
    flag_field("enlarged"),
    number_field("token", 0, 0, MAX_NEURON_TOKENS),
)
"""heads: those on in the head view, none for all. enlarged: a head of the model view. token: opened in the neuron view, or 0."""


@dataclass(frozen=True)
class Extent:
    """What a drawing offers: its layers, from 0, and the number of heads, filters and tokens."""

    layers: range
    heads: int
    filters: int
    tokens: int

    @classmethod
    def of(cls, stacks: Sequence[AttentionStack], only: int | None) -> "Extent":
        """Give the extent of a drawing of these stacks. only: the one layer that it holds, from 0, None for all."""
        layers, heads = stacks[0].weights.shape[:2]
        tokens = stacks[0].query_tokens
        pair = [stack.kind for stack in stacks] == ["self"] and second_sentence(tokens)
        drawn = range(layers) if only is None else range(only, only + 1)
        return cls(drawn, heads, NUM_PAIR_FILTERS if pair else len(stacks), len(tokens))


def second_sentence(tokens: Encoding) -> int | None:
    """Give the position where the second sentence begins; None without one, or without segments."""
    place = tokens.segments.index(1) if 1 in tokens.segments else None
    return place if place and tokens.segments == (0,) * place + (1,) * (len(tokens) - place) else None


def choice_line(view: str, chosen: Mapping[str, object], extent: Extent) -> str:
    """Write the fields for a drawing; a layer or head that it lacks becomes its last one, anything else is left out."""
    layer = min(max(chosen["layer"] - 1, extent.layers[0]), extent.layers[-1])
    one_head = {"layer": layer, "head": min(chosen["head"], extent.heads) - 1}
    if view == "neuron":
        parts = one_head | ({"token": chosen["token"] - 1} if 0 < chosen["token"] <= extent.tokens else {})
    else:
        on = [head - 1 for head in chosen["heads"] if head <= extent.heads]
        some = view == "head" and 0 < len(on) < extent.heads
        parts = {"layer": layer} if view == "head" else one_head if chosen["enlarged"] else {}
        parts |= {"heads": write_heads(on)} if some else {}
        parts |= {"filter": chosen["filter"] - 1} if 1 < chosen["filter"] <= extent.filters else {}
    return "&".join(f"{name}={value}" for name, value in parts.items())


def read_choice(view: str, line: object, extent: Extent) -> dict[str, object] | None:
    """Read the line of a drawing into fields; None for anything that is not a line about this drawing."""
    if not isinstance(line, str) or len(line) > MAX_CHOICE_CHARACTERS:
        return None
    parts = [part.partition("=") for part in line.split("&")] if line else []
    try:
        numbers = {name: _numbers(written) for name, _, written in parts}
    except ValueError:
        return None
    there = {"layer": extent.layers, "head": range(extent.heads), "filter": range(extent.filters), "token": range(extent.tokens)}
    heads = numbers.pop("heads", ())
    unknown = [name for name, places in numbers.items() if len(places) > 1 or places[0] not in there.get(name, ())]
    if unknown or len(numbers) + bool(heads) < len(parts) or not set(heads) <= set(range(extent.heads)):
        return None
    chosen = {name: place + 1 for name, (place,) in numbers.items()}
    if view == "neuron":
        return {"token": 0} | chosen
    if view == "model":
        return {"filter": 1, "enlarged": {"layer", "head"} <= chosen.keys()} | chosen
    on = tuple(sorted({head + 1 for head in heads}))
    return {"filter": 1, "heads": on if len(on) < extent.heads else ()} | chosen


def _numbers(written: str) -> tuple[int, ...]:
    if not NUMBERS.fullmatch(written):
        raise ValueError("numbers must be written like 0_3")
    return tuple(map(int, written.split("_")))
