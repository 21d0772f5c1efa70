"""The reader's changes of a run: how they stand in an address, in words, and what they ask of the core.

An address names them as a reader counts, from 1, joined by _: off~2-3 (layer 2, head 3), off~2 (all of layer 2), even~2-3,
hide~5 (token 5, everywhere), hide~5~2-3, cut~4-7 (4 does not look at 7), cut~4-7~2, temperature~0.5, temperature~0.5~2,
sparse~2, hard.
"""

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from pages.ui.shell.address import Field

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.transformer.interventions import Interventions

MAX_CHANGES = 60
PLACES_TAKEN_BACK = "This is another text or model: hidden tokens and cut links were taken back."
MIN_TEMPERATURE, MAX_TEMPERATURE = 0.01, 100.0
Kind = Literal["off", "even", "hide", "cut", "temperature", "sparse", "hard"]
STACKS = {"self": "encoder", "decoder": "decoder", "cross": "cross-attention"}
_NUMBER = "([1-9][0-9]{0,3})"
_PLACE = "([1-9][0-9]{0,5})"
_WRITTEN = {
    "off": rf"(?:~{_NUMBER}(?:-{_NUMBER})?)",
    "even": rf"(?:~{_NUMBER}(?:-{_NUMBER})?)",
    "hide": rf"~{_PLACE}(?:~{_NUMBER}(?:-{_NUMBER})?)?",
    "cut": rf"~{_PLACE}-{_PLACE}(?:~{_NUMBER}(?:-{_NUMBER})?)?",
    "temperature": rf"~([0-9]{{1,3}}(?:\.[0-9]{{1,20}})?)(?:~{_NUMBER})?",
    "sparse": rf"(?:~{_NUMBER})?",
    "hard": rf"(?:~{_NUMBER})?",
}


class Change(NamedTuple):
    """One change: of a layer or a head (None for all), counted from 0.

    places: the hidden token, or the query and the key of a cut edge. value: the temperature.
    """

    kind: Kind
    layer: int | None = None
    head: int | None = None
    places: tuple[int, ...] = ()
    value: float = 1.0

    @property
    def of_softmax(self) -> bool:
        """Whether it changes how scores become weights; a layer has one temperature and one normaliser."""
        return self.kind in ("temperature", "sparse", "hard")


Changes = tuple[Change, ...]


def write_changes(changes: Sequence[Change]) -> str:
    """Write changes for an address."""
    return "_".join(map(_write, changes))


def read_changes(written: str) -> Changes:
    """Read changes from an address; raise ValueError for what is no change, for two that contradict, and for too many."""
    parts = written.split("_") if written else []
    if len(parts) > MAX_CHANGES:
        raise ValueError(f"changes must be at most {MAX_CHANGES}, got {len(parts)}")
    found = tuple(map(_read, parts))
    if len({_slot(change) for change in found}) < len(found):
        raise ValueError("changes must not be given twice")
    return found


CHANGES_FIELD: Field[Changes] = Field("changes", (), read_changes, write_changes)


def added(changes: Changes, new: Change) -> Changes:
    """Add a change at the end, in place of one that it contradicts; a softmax as it was trained is no change."""
    kept = tuple(change for change in changes if _slot(change) != _slot(new))
    plain = new.kind == "temperature" and new.value == 1
    return kept if plain or len(kept) >= MAX_CHANGES else (*kept, new)


def without(changes: Changes, gone: Change) -> Changes:
    """Take one change back."""
    return tuple(change for change in changes if change != gone)


def without_places(changes: Changes) -> Changes:
    """Leave out what names tokens: in another text, it would be another word."""
    return tuple(change for change in changes if not change.places)


def interventions(changes: Sequence[Change]) -> "Interventions":
    """Say the same to the core."""
    from tx_core.transformer.interventions import Interventions

    def of(*kinds: Kind) -> list[Change]:
        return [change for change in changes if change.kind in kinds]

    return Interventions(
        heads_off=frozenset((change.layer, change.head) for change in of("off")),
        uniform=frozenset((change.layer, change.head) for change in of("even")),
        hidden_tokens=frozenset((change.layer, change.head, *change.places) for change in of("hide")),
        cut_edges=frozenset((change.layer, change.head, *change.places) for change in of("cut")),
        temperatures=frozenset((change.layer, change.value) for change in of("temperature")),
        normalisers=frozenset((change.layer, change.kind) for change in of("sparse", "hard")),
    )


class StackNames(NamedTuple):
    """One kind of attention of a run, for naming changes: its layers, and the tokens of both its axes."""

    kind: str
    layers: int
    queries: tuple[str, ...]
    keys: tuple[str, ...]


def in_words(change: Change, stacks: Sequence[StackNames]) -> str:
    """Name a change as a reader would, with the tokens of the run and, where it has several stacks, the stack."""
    stack, where = _where(change, stacks)
    inside = f" in {where[0].lower()}{where[1:]}" if where else ""

    def token(place: int, names: Sequence[str]) -> str:
        return f"“{names[place]}” ({place + 1})" if place < len(names) else f"token {place + 1}"

    if change.kind in ("off", "even"):
        return f"{where} {change.kind}"
    if change.kind == "hide":
        return f"{token(change.places[0], stack.keys)} hidden{inside}"
    if change.kind == "cut":
        query, key = change.places
        return f"{token(query, stack.queries)} ↛ {token(key, stack.keys)}{inside}"
    if change.kind == "temperature":
        return f"Temperature {change.value:g}{inside}"
    return f"{change.kind.capitalize()} attention{inside}"


def _where(change: Change, stacks: Sequence[StackNames]) -> tuple[StackNames, str]:
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


def _slot(change: Change) -> tuple:
    """Give what only one change may fill: a layer's temperature, a layer's normaliser, or the change itself."""
    if change.kind == "temperature":
        return ("temperature", change.layer)
    return ("normaliser", change.layer) if change.of_softmax else change


def _write(change: Change) -> str:
    at = "" if change.layer is None else f"~{change.layer + 1}"
    at += "" if change.head is None else f"-{change.head + 1}"
    if change.kind == "temperature":
        return f"temperature~{change.value!r}{at}"
    places = "-".join(str(place + 1) for place in change.places)
    return f"{change.kind}~{places}{at}" if places else f"{change.kind}{at}"


def _read(written: str) -> Change:
    kind = written.partition("~")[0]
    found = re.fullmatch(kind + _WRITTEN[kind], written, flags=re.ASCII) if kind in _WRITTEN else None
    if found is None:
        raise ValueError("a change must be written like off~2-3, hide~5, cut~4-7, temperature~0.5 or sparse~2")
    parts = list(found.groups())
    if kind == "temperature":
        value = float(parts.pop(0))
        if not MIN_TEMPERATURE <= value <= MAX_TEMPERATURE or value == 1 or math.isnan(value):
            raise ValueError(f"temperature must be within {MIN_TEMPERATURE} and {MAX_TEMPERATURE} and not 1, got {value}")
        return Change(kind, _counted(parts[0]), value=value)
    places = tuple(_counted(parts.pop(0)) for _ in range({"hide": 1, "cut": 2}.get(kind, 0)))
    return Change(kind, *map(_counted, parts), places=places)


def _counted(number: str | None) -> int | None:
    return None if number is None else int(number) - 1
