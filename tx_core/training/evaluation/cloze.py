"""Cloze tests: everyday sentences, simple facts, capitals."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tx_core.training.evaluation.probe import Probe, ProbeRow, in_batches

HERE = Path(__file__).parent
RANKS = (1, 5, 20)


@dataclass(frozen=True)
class Prompt:
    """A sentence with [MASK] and the words that fill it well."""

    text: str
    answers: tuple[str, ...]


@dataclass(frozen=True)
class ClozeResult:
    """Shares of prompts with a good answer among the first 1, 5 and 20 guesses.

    answerable: the share whose answer is a single piece of the vocabulary; the others count as wrong.
    missed: prompts without a good answer among the first five, with the first guess.
    """

    top1: float
    top5: float
    top20: float
    answerable: float
    prompts: int
    missed: tuple[tuple[str, str], ...]


def measure_cloze(probe: Probe, prompts: Sequence[Prompt]) -> ClozeResult:
    """Fill every blank and find the rank of the best acceptable answer."""
    blank, backend = probe.tokenizer.mask_id, probe.tokenizer.backend
    rows = []
    for prompt in prompts:
        ids = tuple(backend.encode(prompt.text).ids)
        rows.append(ProbeRow(ids, (ids.index(blank),)))
    accepted = [_single_pieces(probe, prompt.answers) for prompt in prompts]
    ranks, first = [0] * len(prompts), [""] * len(prompts)
    for numbers, batch in in_batches(rows):
        for row, number in zip(probe.log_probabilities(batch), numbers, strict=True):
            best = max((float(row[piece]) for piece in accepted[number]), default=None)
            ranks[number] = len(row) + 1 if best is None else int((row >= best).sum())  # ties count against it
            first[number] = probe.tokenizer.word(int(row.argmax()))
    shares = [sum(rank <= limit for rank in ranks) / len(ranks) for limit in RANKS]
    missed = tuple((prompt.text, guess) for prompt, rank, guess in zip(prompts, ranks, first, strict=True) if rank > 5)
    return ClozeResult(*shares, sum(map(bool, accepted)) / len(prompts), len(prompts), missed)


def everyday_prompts() -> list[Prompt]:
    """Return the 200 everyday sentences written for this project; none is in its corpus."""
    return _read(HERE / "everyday_cloze.tsv")


def fact_prompts() -> list[Prompt]:
    """Return 60 simple facts, worded differently than in the corpus."""
    return _read(HERE / "basic_facts.tsv")


def capital_prompts(file: Path) -> list[Prompt]:
    """Return prompts for the capitals of a table (country, capital), in the wording kept out of the corpus."""
    with file.open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table, delimiter="\t"))
    return [Prompt(f"The capital of {row['country']} is [MASK].", (row["capital"],)) for row in rows]


def seen_capitals() -> Path:
    """Return the table of other countries, whose capitals may be in the corpus in this wording."""
    return HERE / "seen_capitals.tsv"


def _single_pieces(probe: Probe, words: Sequence[str]) -> list[int]:
    pieces = [probe.tokenizer.backend.encode(word, add_special_tokens=False).ids for word in words]
    return [ids[0] for ids in pieces if len(ids) == 1 and ids[0] != probe.tokenizer.unknown_id]


def _read(file: Path) -> list[Prompt]:
    with file.open(encoding="utf-8", newline="") as table:
        return [Prompt(row["prompt"], tuple(row["answers"].split())) for row in csv.DictReader(table, delimiter="\t")]
