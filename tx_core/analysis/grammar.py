"""Relations of grammar that heads follow, as `python -m tx_core.training.evaluate … --grammar` measured them on a treebank.

A relation leads from a dependent to its head, as in Universal Dependencies: from a subject to its verb (nsubj). A head of the
model follows it if the word that it attends to most is the other end more often than any fixed distance finds it (Clark et al.
2019, table 1).
"""

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import Annotated, Literal

from cachetools import TTLCache, cached
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from tx_core.analysis.probabilities import wilson_interval
from tx_core.engine import catalogue
from tx_core.engine.checkpoint_files import read_json
from tx_core.errors import CheckpointProblem, ModelUnavailable

FILE = "grammar.json"
TREEBANK_NAME = "Universal Dependencies, English Web Treebank (dev)"
MIN_GAIN = 0.1
"""The least gain in accuracy over the best fixed distance for a head to be listed."""

REREAD_SECONDS = 30

Direction = Literal["to head", "to dependent"]
Share = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True)
class HeadRelation:
    """The accuracy with which a head finds the other end of a relation, and that of the best fixed distance.

    The head's choice is the word that it attends to most, special tokens and the word itself left out. Layers and heads are
    counted from 0. direction: "to head" where the dependent attends to its head. accuracy: the share of occurrences that the head
    finds. baseline, offset: the same for the fixed distance that finds most other ends, and that distance in words. occurrences:
    the words of the half of the treebank that was measured which have another end.
    """

    __pydantic_config__ = ConfigDict(strict=True, extra="forbid")

    layer: int
    head: int
    relation: str
    direction: Direction
    accuracy: Share
    baseline: Share
    offset: int
    occurrences: Annotated[int, Field(gt=0)]

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the accuracy."""
        return wilson_interval(self.accuracy, self.occurrences)


_RELATIONS = TypeAdapter(list[HeadRelation])
Grammar = Mapping[tuple[int, int], tuple[HeadRelation, ...]]
"""The relations of each head (layer, head) that follows any, the largest gain first."""


@cached(TTLCache(maxsize=64, ttl=REREAD_SECONDS), lock=Lock())
def grammar_of(model: str) -> Grammar | None:
    """Return the relations that the heads of a model follow; None for a model that was not measured.

    They ship with the embedded model; `evaluate --grammar` stores them beside a checkpoint in the host's directory. A
    file that cannot be used is ignored with a warning in the log.
    """
    if model == catalogue.DEFAULT:
        return read_grammar(catalogue.MODELS / model)
    try:
        directory = catalogue.card(model).directory
    except ModelUnavailable:
        return None
    if directory is None or not (directory / FILE).is_file():
        return None
    try:
        return read_grammar(directory)
    except CheckpointProblem as problem:
        logging.getLogger(__name__).warning("%s of %s: %s", FILE, model, problem)
        return None


def read_grammar(directory: Path) -> Grammar:
    """Read the relations that were stored beside a checkpoint; raise CheckpointProblem for a file that is not of this kind."""
    entries = read_json(directory / FILE).get("relations")
    try:
        relations = _RELATIONS.validate_json(json.dumps(entries))
    except ValidationError as wrong:
        raise CheckpointProblem(f"{FILE} does not list relations as this app writes them: measure the model again.") from wrong
    found = sorted(relations, key=lambda one: one.baseline - one.accuracy)
    heads = dict.fromkeys((one.layer, one.head) for one in found)
    return {place: tuple(one for one in found if (one.layer, one.head) == place) for place in heads}


def write_grammar(directory: Path, relations: tuple[HeadRelation, ...]) -> None:
    """Store relations beside a checkpoint, one a line."""
    lines = ",\n".join(f"  {json.dumps(asdict(one))}" for one in relations)
    text = f'{{\n "treebank": {json.dumps(TREEBANK_NAME)},\n "relations": [\n{lines}\n ]\n}}\n'
    (directory / FILE).write_text(text, encoding="utf-8")
