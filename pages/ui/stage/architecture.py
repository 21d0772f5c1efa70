"""One drawing of a model, for the stages of Build: embeddings, blocks of which one is opened, and what stands after them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pages.ui.stage import texts


@dataclass(frozen=True)
class Box:
    """A part of a model.

    Attributes:
        name: for `lit` and `cross`.
        said: its whole name, for a screen reader and on pointing; the title where it is empty.
        kind: a box, or the sum at which a residual connection ends.
        note: a number or a word on it, below its title.
        sets: fields of the page with the values, as links write them, that a click gives them; none where a click does nothing.
        lit: whether it is the part that is shown.
    """

    name: str
    title: str
    said: str = ""
    kind: Literal["box", "sum"] = "box"
    note: str = ""
    sets: Mapping[str, str] = field(default_factory=dict)
    lit: bool = False


@dataclass(frozen=True)
class Stack:
    """Blocks one after the other.

    Attributes:
        parts: what a block is made of, in order.
        block: the number of the one that is opened, from 1; 0 for none.
        before, after: what stands before and after all blocks.
        whole: what runs along all blocks.
        notes: a word on each block.
        part_notes: for each block, words on its parts by their names, for a stage whose browser chooses the block.
        sets: fields of the page that a click on a block sets, each to its value: to show the block where the page looks at none.
        field: what the same click sets to the block's number; none where a click does nothing.
        label: of a block, with a place for its {number}; "Block 2" where it is empty.
    """

    parts: Sequence[Box]
    count: int
    block: int = 1
    before: Sequence[Box] = ()
    after: Sequence[Box] = ()
    whole: Box | None = None
    notes: Sequence[str] = ()
    part_notes: Sequence[Mapping[str, str]] = ()
    sets: Mapping[str, str] = field(default_factory=dict)
    field: str = ""
    label: str = ""


def lit(boxes: Sequence[Box], *names: str) -> list[Box]:
    """Return boxes of which those with these names are lit."""
    return [replace(box, lit=box.name in names) for box in boxes]


def residual_parts(*parts: Box, norm_first: bool) -> list[Box]:
    """Return the parts of a block, each with its sum and its norm: named after it, and without a click.

    norm_first: whether the norm stands before its part (pre-norm), else after the sum (post-norm).
    """
    found, said = [], texts.NORM_BEFORE if norm_first else texts.NORM_AFTER
    for part in parts:
        norm = Box(f"{part.name}_norm", texts.NORM, said.format(part=part.title))
        total = Box(f"{part.name}_sum", "+", texts.RESIDUAL.format(part=part.title), "sum")
        found += [norm, part, total] if norm_first else [part, total, norm]
    return found


def architecture(*stacks: Stack, cross: str = "") -> dict[str, object]:
    """Return the drawing as a stage is told. cross: the part of the last stack that reads what the first one gives."""
    told = [_stack_message(stack) for stack in stacks]
    to = {"from": 0, "to": f"{len(stacks) - 1} part {cross}"}
    return {"label": texts.ARCHITECTURE, "stacks": told, "cross": to if cross else None}


def _stack_message(stack: Stack) -> dict[str, object]:
    boxes = {name: [_box(box) for box in getattr(stack, name)] for name in ("before", "parts", "after")}
    whole = stack.whole and _box(stack.whole)
    return {
        **vars(stack),
        **boxes,
        "sets": dict(stack.sets),
        "whole": whole,
        "notes": list(stack.notes),
        "partNotes": list(stack.part_notes),
        "blockLabel": stack.label or texts.BLOCK,
    }


def _box(box: Box) -> dict[str, object]:
    return {**vars(box), "said": box.said or box.title, "sets": dict(box.sets)}
