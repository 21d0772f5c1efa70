"""Syntax: the relations of a treebank that heads follow (Clark et al. 2019)."""

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tx_core.analysis.grammar import MIN_GAIN, Direction, HeadRelation
from tx_core.corpus.find_heads import Condition, HeadsFound, Relation, count_hits
from tx_core.corpus.sentence_file import Sentences
from tx_core.corpus.statistics import read_all
from tx_core.corpus.words import AttendedWords
from tx_core.engine.engine import Engine
from tx_core.transformer.interventions import Head

MIN_OCCURRENCES = 50
"""Occurrences in either half below which a relation is left out."""
NO_RELATIONS = ("", "root", "punct")
"""Of Universal Dependencies, those that lead to no word, or from none."""


def measure_heads(engine: Engine, treebank: Sentences) -> tuple[tuple[HeadRelation, ...], tuple[HeadRelation, ...]]:
    """Measure all heads over the annotated sentences of two words or more; raise ValueError if the model can read none.

    Returns for each relation its best head, with the best fixed offset as its baseline (Clark et al. 2019, table 1), both chosen
    on one half of the sentences and measured on the other; and all relations that each head follows.
    """
    longer = [(text, line) for text, line in zip(treebank.texts, treebank.lines, strict=True) if " " in text]
    texts, lines = zip(*longer, strict=True)
    report = read_all(engine, replace(treebank, texts=texts, lines=lines))
    if report is None or report.attended is None:
        raise ValueError("the model can read none of the sentences")
    names = sorted({word.deprel.split(":")[0] for word in report.attended.words} - set(NO_RELATIONS))
    measured = {name: halves for name in names if (halves := _halves(report.attended, name))}
    followed = (one for name, found in measured.items() for way, halves in found.items() for one in _followed(name, way, *halves))
    return tuple(_best(name, found) for name, found in measured.items()), tuple(followed)


Halves = dict[Direction, tuple[HeadsFound, HeadsFound]]
"""Of a relation, what is found in every other sentence and in the rest, in each direction."""


def _halves(words: AttendedWords, name: str) -> Halves | None:
    """Count how often each head follows a relation; None for a rare one."""
    condition = Condition("deprel", re.escape(name))
    ways = {"to head": Relation(query=condition, link="head"), "to dependent": Relation(key=condition, link="dependent")}
    found = {direction: count_hits(words, relation) for direction, relation in ways.items()}
    halves = {direction: tuple(one.among(one.sentences % 2 == half) for half in (0, 1)) for direction, one in found.items()}
    return halves if min(one.occurrences for pair in halves.values() for one in pair) >= MIN_OCCURRENCES else None


def _best(name: str, found: Halves) -> HeadRelation:
    """Return the head that finds most in the first half, in the direction in which it finds most above the best offset."""
    direction = max(found, key=lambda one: found[one][0].shares.max() - found[one][0].baseline)
    return _relation(name, direction, *found[direction], found[direction][0].best)


def _followed(name: str, direction: Direction, chosen_on: HeadsFound, measured_on: HeadsFound) -> Iterator[HeadRelation]:
    """List the heads that find the other end MIN_GAIN more often than the best offset, in both halves."""
    gains = [half.shares - half.share_at(chosen_on.offset) for half in (chosen_on, measured_on)]
    for layer, head in np.argwhere(np.minimum(*gains) >= MIN_GAIN).tolist():
        found = _relation(name, direction, chosen_on, measured_on, (layer, head))
        yield replace(found, accuracy=round(found.accuracy, 4), baseline=round(found.baseline, 4))


def _relation(name: str, direction: Direction, chosen_on: HeadsFound, measured_on: HeadsFound, head: Head) -> HeadRelation:
    shares = float(measured_on.shares[head]), measured_on.share_at(chosen_on.offset)
    return HeadRelation(*head, name, direction, *shares, chosen_on.offset, measured_on.occurrences)
