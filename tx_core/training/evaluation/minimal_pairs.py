"""Minimal pairs: BLiMP, and subject-verb agreement across attractors."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tx_core.training.evaluation.probe import Probe, ProbeRow, in_batches

# Sets of Marvin & Linzen (2018) that are about verbs agreeing with their subjects: the others hold "ever" or "himself".
_OTHER_PHENOMENA = ("npi", "reflexive")


@dataclass(frozen=True)
class Pair:
    """Two sentences that differ in one point, the first grammatical; kind says what the difference tests."""

    good: str
    bad: str
    kind: str


def pseudo_log_likelihoods(probe: Probe, sentences: Sequence[str]) -> list[float]:
    """Sum the log-probability of each piece with it alone masked (Salazar et al. 2020, equation 1).

    A sentence that is too long is truncated.
    """
    rows, answers, owners = [], [], []
    blank, most = probe.tokenizer.mask_id, probe.max_tokens
    for number, sentence in enumerate(sentences):
        ids = probe.tokenizer.backend.encode(sentence).ids
        ids = ids if len(ids) <= most else [*ids[: most - 1], ids[-1]]
        for place in range(1, len(ids) - 1):
            rows.append(ProbeRow((*ids[:place], blank, *ids[place + 1 :]), (place,)))
            answers.append(ids[place])
            owners.append(number)
    sums = [0.0] * len(sentences)
    for numbers, batch in in_batches(rows):
        chances = probe.log_probabilities(batch)
        for row, number in enumerate(numbers):
            sums[owners[number]] += float(chances[row, answers[number]])
    return sums


def share_preferred(probe: Probe, pairs: Sequence[Pair]) -> dict[str, float]:
    """Return, for each kind, the share of pairs whose grammatical sentence is more probable; chance is 0.5."""
    sentences = list(dict.fromkeys(sentence for pair in pairs for sentence in (pair.good, pair.bad)))
    likely = dict(zip(sentences, pseudo_log_likelihoods(probe, sentences), strict=True))
    right: dict[str, list[bool]] = {}
    for pair in pairs:
        right.setdefault(pair.kind, []).append(likely[pair.good] > likely[pair.bad])
    return {kind: sum(answers) / len(answers) for kind, answers in right.items()}


def read_blimp(folder: Path, sample: int) -> tuple[list[Pair], dict[str, str]]:
    """Read the first `sample` pairs of every paradigm (0: all), and the phenomenon that each belongs to."""
    pairs, phenomena = [], {}
    for file in sorted(folder.glob("*.jsonl")):
        for item in _items(file, sample):
            pairs.append(Pair(item["sentence_good"], item["sentence_bad"], item["UID"]))
            phenomena[item["UID"]] = item["linguistics_term"]
    return pairs, phenomena


def by_phenomenon(paradigms: Mapping[str, float], phenomena: Mapping[str, str]) -> dict[str, float]:
    """Average the paradigms of each phenomenon; "mean" averages all paradigms, as BLiMP is reported."""
    groups: dict[str, list[float]] = {}
    for paradigm, share in paradigms.items():
        groups.setdefault(phenomena[paradigm], []).append(share)
    means = {phenomenon: sum(shares) / len(shares) for phenomenon, shares in sorted(groups.items())}
    return {"mean": sum(paradigms.values()) / len(paradigms), **means}


def read_agreement(folder: Path, sample: int) -> list[Pair]:
    """Read subject-verb agreement of Marvin & Linzen (2018): with a noun of another number in between, or without.

    Kinds: "attractor", "no attractor". A full stop is added, as the model never reads a sentence without.
    """
    pairs = []
    for file in sorted(folder.glob("*.jsonl")):
        if any(word in file.stem for word in _OTHER_PHENOMENA):
            continue
        for item in _items(file, sample):
            distracted = "sing_" in item["case"] and "plur_" in item["case"]
            good, bad = (f"{sentence} ." for sentence in item["sents"][:2])
            pairs.append(Pair(good, bad, "attractor" if distracted else "no attractor"))
    return pairs


def _items(file: Path, sample: int) -> list[dict]:
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [json.loads(line) for line in (lines[:sample] if sample else lines)]
