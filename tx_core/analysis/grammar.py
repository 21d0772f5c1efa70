"""Relations of grammar that heads follow, as `python -m tx_core.training.evaluate … --grammar` measured them on a treebank.

A relation leads from a dependent to its head, as in Universal Dependencies: from a subject to its verb (nsubj). A head of the
model follows it if the word that it attends to most is the other end more often than any fixed distance finds it (Clark et al.
2019, table 1).
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from tx_core.engine import catalogue

FILE = "grammar.json"
TREEBANK_NAME = "Universal Dependencies, English Web Treebank (dev)"
MIN_GAIN = 0.1
"""How much more often than the best fixed distance a head must find the other end to be listed."""

Direction = Literal["to head", "to dependent"]


@dataclass(frozen=True)
class HeadRelation:
    """How often a head of the model finds the other end of a relation, and how often a fixed distance does.

    Attributes:
        layer: Counted from 0.
        head: Counted from 0.
        relation: As Universal Dependencies names it.
        direction: "to head" where the dependent attends to its head.
        accuracy: Of the head of the model, 0 to 1.
        baseline: Of the fixed distance that finds most heads of dependents.
        offset: That distance in words, from the dependent to its head.
        occurrences: How often the relation occurs in the half of the treebank that was measured.
    """

    layer: int
    head: int
    relation: str
    direction: Direction
    accuracy: float
    baseline: float
    offset: int
    occurrences: int


Grammar = Mapping[tuple[int, int], tuple[HeadRelation, ...]]
"""The relations of each head (layer, head) that follows any, the largest gain first."""


@cache
def grammar_of(model: str) -> Grammar | None:
    """Return the relations that the heads of a model follow; None for a model that was not measured.

    Only the embedded model's are known: the file is one of this project's own.
    """
    return read_grammar(catalogue.MODELS / model) if model == catalogue.DEFAULT else None


def read_grammar(directory: Path) -> Grammar:
    """Read the relations that were stored beside a checkpoint."""
    stored = json.loads((directory / FILE).read_text(encoding="utf-8"))
    found = sorted((HeadRelation(**entry) for entry in stored["relations"]), key=lambda one: one.baseline - one.accuracy)
    heads = dict.fromkeys((one.layer, one.head) for one in found)
    return {place: tuple(one for one in found if (one.layer, one.head) == place) for place in heads}


def write_grammar(directory: Path, relations: tuple[HeadRelation, ...]) -> None:
    """Store relations beside a checkpoint, one a line."""
    lines = ",\n".join(f"  {json.dumps(asdict(one))}" for one in relations)
    text = f'{{\n "treebank": {json.dumps(TREEBANK_NAME)},\n "relations": [\n{lines}\n ]\n}}\n'
    (directory / FILE).write_text(text, encoding="utf-8")
