"""What a caller may change in a run: arguments of the call, never a state of the model."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal, get_args

from tx_core.errors import ChangeProblem
from tx_core.transformer.attention import Kind
from tx_core.transformer.layer_change import LayerChange, Normaliser, RowChanges

Head = tuple[int, int | None]
HiddenToken = tuple[int | None, int | None, int]
CutEdge = tuple[int | None, int | None, int, int]
What = Literal["layer", "head", "token"]
NOTHING = frozenset()


@dataclass(frozen=True)
class Interventions:
    """The changes of one run. Layers, heads and places of tokens are counted from 0.

    A layer or head of None means all. Layers of an encoder-decoder are numbered through its stacks: encoder, decoder,
    cross-attention; there a change of all layers is one of the text: tokens are hidden where they are
    keys (encoder and cross-attention), edges are cut within the encoder, the softmax is changed everywhere.

    heads_off: (layer, head) whose weights become zero, so that they add nothing (Michel et al. 2019, section 2.3).
    uniform: (layer, head) whose queries look at all keys that they may attend to alike.
    hidden_tokens: (layer, head, key) that no query looks at; the token itself still looks at others.
    cut_edges: (layer, head, query, key) where this query does not look at this key.
    temperatures: (layer, temperature) that scores, bias included, are divided by; a layer's own goes before that of all.
    normalisers: (layer, "sparse" or "hard"): sparsemax (Martins & Astudillo 2016) or argmax in place of the softmax.

    A query that is left no key gets zeros. Scores in a record are those before all of this.
    Raises ValueError for negative numbers, a head without its layer, two values for one layer, a temperature that is
    not a number above 0, and an unknown normaliser.
    """

    heads_off: frozenset[Head] = NOTHING
    uniform: frozenset[Head] = NOTHING
    hidden_tokens: frozenset[HiddenToken] = NOTHING
    cut_edges: frozenset[CutEdge] = NOTHING
    temperatures: frozenset[tuple[int | None, float]] = NOTHING
    normalisers: frozenset[tuple[int | None, Normaliser]] = NOTHING

    def __post_init__(self):
        for name in ("heads_off", "uniform", "hidden_tokens", "cut_edges"):
            for change in getattr(self, name):
                _check_places(name, change)
        for name in ("temperatures", "normalisers"):
            layers = [layer for layer, _ in getattr(self, name)]
            if any(layer is not None and layer < 0 for layer in layers) or len(set(layers)) < len(layers):
                raise ValueError(f"{name} must hold one value a layer, counted from 0, got {layers}")
        for _, temperature in self.temperatures:
            if not 0 < temperature < math.inf:
                raise ValueError(f"temperature must be a number above 0, got {temperature}")
        for _, normaliser in self.normalisers:
            if normaliser not in get_args(Normaliser):
                raise ValueError(f"normaliser must be one of {', '.join(get_args(Normaliser))}, got {normaliser}")

    def at(self, layer: int, kind: Kind = "self") -> LayerChange | None:
        """Give the change of one layer's attention, or None where nothing changes."""
        if self == UNCHANGED:
            return None
        of_text = {None, layer} if kind == "self" else {layer}
        keys_of_text = {layer} if kind == "decoder" else {None, layer}
        temperatures, normalisers = dict(self.temperatures), dict(self.normalisers)
        change = LayerChange(
            off=frozenset(head for at, head in self.heads_off if at == layer),
            uniform=frozenset(head for at, head in self.uniform if at == layer),
            hidden=frozenset((head, key) for at, head, key in self.hidden_tokens if at in keys_of_text),
            cut=frozenset((head, query, key) for at, head, query, key in self.cut_edges if at in of_text),
            temperature=temperatures.get(layer, temperatures.get(None, 1.0)),
            normaliser=normalisers.get(layer, normalisers.get(None)),
        )
        return None if change == LayerChange() else change

    def widened(self, place: int, pieces: int) -> "Interventions":
        """Follow the tokens of a text in which `pieces` tokens take the place of one; a change of it becomes one of all."""
        if pieces == 1 or not (self.hidden_tokens or self.cut_edges):
            return self

        def moved(at: int) -> range:
            if at == place:
                return range(place, place + pieces)
            return range(at, at + 1) if at < place else range(at + pieces - 1, at + pieces)

        hidden = {(layer, head, key) for layer, head, at in self.hidden_tokens for key in moved(at)}
        cut = {
            (layer, head, query, key)
            for layer, head, looking, at in self.cut_edges
            for query in moved(looking)
            for key in moved(at)
        }
        return replace(self, hidden_tokens=frozenset(hidden), cut_edges=frozenset(cut))


UNCHANGED = Interventions()


@dataclass(frozen=True)
class RowInterventions:
    """Interventions of its own for each row of a batch."""

    rows: tuple[Interventions, ...]

    def at(self, layer: int, kind: Kind = "self") -> LayerChange | RowChanges | None:
        """Give the changes of one layer's attention, row by row, or None where nothing changes."""
        changes = tuple(row.at(layer, kind) for row in self.rows)
        return changes[0] if len(set(changes)) == 1 else RowChanges(changes)


def for_rows(interventions: Interventions | Sequence[Interventions], rows: int) -> tuple[Interventions, ...]:
    """Give every row its interventions: the same for all, or its own; raise ValueError for another number of them."""
    if isinstance(interventions, Interventions):
        return (interventions,) * rows
    if len(interventions) != rows:
        raise ValueError(f"every row needs its interventions, got {len(interventions)} for {rows} rows")
    return tuple(interventions)


def fitting(
    interventions: Interventions, num_heads: int, sizes: Sequence[tuple[int, int]]
) -> tuple[Interventions, tuple[str, ...]]:
    """Leave out what a run does not have; tell in a sentence each what is missing.

    sizes: for every layer how many queries and keys it has.
    """
    kept, missing = {}, {}
    for field in fields(interventions):
        found = getattr(interventions, field.name)
        lacks = {change: _lacks(field.name, change, num_heads, sizes) for change in found}
        kept[field.name] = frozenset(change for change, lack in lacks.items() if not lack)
        missing |= dict.fromkeys(sorted(lack for lack in lacks.values() if lack))
    return Interventions(**kept), tuple(missing)


def check_fit(interventions: Interventions, num_heads: int, sizes: Sequence[tuple[int, int]]) -> None:
    """Raise ChangeProblem where a run does not have what is to be changed; `sizes` as in `fitting`."""
    if interventions != UNCHANGED:
        _, missing = fitting(interventions, num_heads, sizes)
        if missing:
            raise ChangeProblem(f"{' '.join(missing)} Take this change out, or change something that is there.")


def _check_places(name: str, change: Head | HiddenToken | CutEdge) -> None:
    layer, head, *places = change
    if any(number is not None and number < 0 for number in change):
        raise ValueError(f"{name} must be counted from 0, got {change}")
    if layer is None and head is not None:
        raise ValueError(f"{name} must name the layer of a head, got {change}")
    if layer is None and not places:
        raise ValueError(f"{name} must name a layer, got {change}")


def _lacks(name: str, change: tuple, num_heads: int, sizes: Sequence[tuple[int, int]]) -> str:
    """Say what a run lacks for a change, or nothing."""
    layer, *rest = change
    if layer is not None and layer >= len(sizes):
        return f"This model has {len(sizes)} layers: there is no layer {layer + 1:,} to change."
    if name in ("temperatures", "normalisers"):
        return ""
    head, *places = rest
    if head is not None and head >= num_heads:
        return f"This model has {num_heads} heads in a layer: there is no head {head + 1:,} to change."
    queries, keys = sizes[layer or 0]
    bounds = (keys,) if len(places) == 1 else (queries, keys)
    for place, bound in zip(places, bounds, strict=False):
        if place >= bound:
            return f"This text has {bound} tokens: there is no token {place + 1:,} to change."
    return ""
