"""The reader's changes of a run: their place in an address, and their names."""

from collections.abc import Sequence
from typing import NamedTuple

from pages.ui.shell.address import Field
from tx_core.transformer.interventions import MAX_INTERVENTIONS, Intervention, read_interventions, write_interventions

PLACES_TAKEN_BACK = "This is another text or model: hidden tokens and cut links were taken back."
STACKS = {"self": "encoder", "decoder": "decoder", "cross": "cross-attention"}
Changes = tuple[Intervention, ...]
CHANGES_FIELD: Field[Changes] = Field("changes", (), read_interventions, write_interventions)


def added(changes: Changes, new: Intervention) -> Changes:
    """Add a change at the end, in place of one that it contradicts; a softmax as it was trained is no change."""
    kept = tuple(change for change in changes if change.slot != new.slot)
    plain = new.kind == "temperature" and new.value == 1
    return kept if plain or len(kept) >= MAX_INTERVENTIONS else (*kept, new)


def without(changes: Changes, gone: Intervention) -> Changes:
    """Take one change back."""
    return tuple(change for change in changes if change != gone)


def without_places(changes: Changes) -> Changes:
    """Leave out what names tokens: in another text, it would be another word."""
    return tuple(change for change in changes if not change.positions)


class StackNames(NamedTuple):
    """One kind of attention of a run, for naming changes: its layers, and the tokens of both its axes."""

    kind: str
    layers: int
    queries: tuple[str, ...]
    keys: tuple[str, ...]


def in_words(change: Intervention, stacks: Sequence[StackNames]) -> str:
    """Name a change as a reader would, with the tokens of the run and, where it has several stacks, the stack."""
    stack, where = _where(change, stacks)
    inside = f" in {where[0].lower()}{where[1:]}" if where else ""

    def token(place: int, names: Sequence[str]) -> str:
        return f"“{names[place]}” ({place + 1})" if place < len(names) else f"token {place + 1}"

    if change.kind in ("off", "uniform"):
        return f"{where} {change.kind}"
    if change.kind == "hidden":
        return f"{token(change.positions[0], stack.keys)} hidden{inside}"
    if change.kind == "cut":
        query, key = change.positions
        return f"{token(query, stack.queries)} ↛ {token(key, stack.keys)}{inside}"
    if change.kind == "temperature":
        return f"Temperature {change.value:g}{inside}"
    return f"{change.kind.capitalize()} attention{inside}"


def _where(change: Intervention, stacks: Sequence[StackNames]) -> tuple[StackNames, str]:
    """Find the stack that a change is of, and name its layer and head there."""
    stack, layer = stacks[0], change.layer
    if layer is None:
        return stack, ""
    for candidate in stacks[1:]:
        if layer < stack.layers:
            break
        layer, stack = layer - stack.layers, candidate
    named = f"Layer {layer + 1}" if change.head is None else f"Layer {layer + 1}, head {change.head + 1}"
    return stack, named if len(stacks) == 1 else f"{named} ({STACKS[stack.kind]})"
