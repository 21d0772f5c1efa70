"""Minimal pairs: sentences that differ in one point, of which a model that knows grammar finds the right one likelier.

BLiMP (Warstadt et al. 2020), and subject-verb agreement across attractors (Marvin & Linzen 2018).
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

_OTHER_PHENOMENA = ("npi", "reflexive")
"""Sets of Marvin & Linzen (2018) that are not about verbs agreeing with their subjects: they hold "ever" or "himself"."""


class SentencePair(NamedTuple):
    """Two sentences that differ in one point, the first grammatical.

    kind: what the difference tests. phenomenon: to which it belongs.
    """

    good: str
    bad: str
    kind: str
    phenomenon: str = ""


def share_likelier(score: Callable[[Sequence[str]], list[float]], pairs: Sequence[SentencePair]) -> dict[str, float]:
    """Return, for each kind, the share of pairs whose grammatical sentence has the higher score; chance is 0.5."""
    sentences = list(dict.fromkeys(sentence for pair in pairs for sentence in (pair.good, pair.bad)))
    likely = dict(zip(sentences, score(sentences), strict=True))
    right: dict[str, list[bool]] = {}
    for pair in pairs:
        right.setdefault(pair.kind, []).append(likely[pair.good] > likely[pair.bad])
    return {kind: sum(answers) / len(answers) for kind, answers in right.items()}


def by_phenomenon(paradigms: dict[str, float], pairs: Sequence[SentencePair]) -> dict[str, float]:
    """Average the paradigms of each phenomenon; "mean" averages all paradigms, as BLiMP is reported."""
    groups: dict[str, list[float]] = {}
    for paradigm, phenomenon in dict.fromkeys((pair.kind, pair.phenomenon) for pair in pairs):
        groups.setdefault(phenomenon, []).append(paradigms[paradigm])
    means = {phenomenon: sum(shares) / len(shares) for phenomenon, shares in sorted(groups.items())}
    return {"mean": sum(paradigms.values()) / len(paradigms), **means}


def read_blimp(folder: Path, sample: int) -> list[SentencePair]:
    """Read the first `sample` pairs of every paradigm (0: all)."""
    return [
        SentencePair(item["sentence_good"], item["sentence_bad"], item["UID"], item["linguistics_term"])
        for file in sorted(folder.glob("*.jsonl"))
        for item in _items(file, sample)
    ]


def read_agreement(folder: Path, sample: int) -> list[SentencePair]:
    """Read subject-verb agreement: with a noun of another number in between, or without.

    Kinds: "attractor", "no attractor". A full stop is added, as the model never reads a sentence without.
    """
    pairs = []
    for file in sorted(folder.glob("*.jsonl")):
        for item in [] if any(word in file.stem for word in _OTHER_PHENOMENA) else _items(file, sample):
            distracted = "sing_" in item["case"] and "plur_" in item["case"]
            good, bad = (f"{sentence} ." for sentence in item["sents"][:2])
            pairs.append(SentencePair(good, bad, "attractor" if distracted else "no attractor"))
    return pairs


def _items(file: Path, sample: int) -> list[dict]:
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [json.loads(line) for line in (lines[:sample] if sample else lines)]
