"""Predictions at masked positions: on held-out texts, in cloze tests, and for minimal pairs.

Held-out texts are measured source by source. Cloze tests are everyday sentences, simple facts and capitals. Minimal pairs are
BLiMP, and subject-verb agreement across attractors.
"""

import csv
import json
import random
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch

from tx_core.training.evaluation.probe import Probe, ProbeRow, in_batches

HERE = Path(__file__).parent
RATE = 0.15
MAX_HELD_OUT_WORDS = 60
"""Words of a line that are read: enough for a paragraph, and within 128 pieces."""
RANKS = (1, 5, 20)
_OTHER_PHENOMENA = ("npi", "reflexive")
"""Sets of Marvin & Linzen (2018) that are not about verbs agreeing with their subjects: they hold "ever" or "himself"."""


@dataclass(frozen=True)
class HeldOut:
    """Predictions of masked pieces and of masked words; by `next_tokens`, of every piece, and of every word.

    Attributes:
        loss: Cross-entropy per piece, in nats, with pieces masked one by one (Devlin et al. 2019).
        accuracy: The share of pieces predicted first.
        word_loss: Cross-entropy per word, in nats, with all pieces of a word masked together; comparable between vocabularies.
        pieces: The number of pieces predicted.
        words: The number of words predicted.
    """

    loss: float
    accuracy: float
    word_loss: float
    pieces: int
    words: int


class _Sums(NamedTuple):
    nats: float
    right: int
    pieces: int
    words: int


def measure_held_out(probe: Probe, files: Sequence[Path], most_lines: int) -> dict[str, HeldOut]:
    """Mask 15 % of each text, piece by piece and then word by word, and score the predictions; "all" sums up every source."""
    one_by_one: dict[str, _Sums] = {}
    whole: dict[str, _Sums] = {}
    for file in files:
        lines = sample_evenly(file.read_text(encoding="utf-8").splitlines(), most_lines)
        one_by_one[file.stem] = _guess(probe, [_blanked(probe, line, whole_words=False) for line in lines])
        whole[file.stem] = _guess(probe, [_blanked(probe, line, whole_words=True) for line in lines])
    for sums in (one_by_one, whole):
        sums["all"] = _Sums(*(sum(column) for column in zip(*sums.values(), strict=True)))
    return {source: _held_out(one_by_one[source], whole[source]) for source in one_by_one if one_by_one[source].pieces}


def as_numbers(measured: Mapping[str, HeldOut]) -> dict[str, dict[str, Any]]:
    """Return plain numbers, to be stored."""
    return {source: asdict(figures) for source, figures in measured.items()}


def _held_out(one_by_one: _Sums, whole: _Sums) -> HeldOut:
    pieces = one_by_one.pieces
    return HeldOut(one_by_one.nats / pieces, one_by_one.right / pieces, whole.nats / whole.words, pieces, whole.words)


def sample_evenly(lines: Sequence[str], most: int) -> list[str]:
    """Return at most `most` lines, sampled evenly from the whole file."""
    step = max(1, len(lines) // most)
    return [line for line in lines[::step] if line.strip()][:most]


class _Blanked(NamedTuple):
    """A text with blanks, the pieces that stood there, and how many words they are of."""

    row: ProbeRow
    answers: list[int]
    words: int


def _guess(probe: Probe, texts: Sequence[_Blanked]) -> _Sums:
    texts = [text for text in texts if text.answers]
    nats, right = 0.0, 0
    for numbers, batch in in_batches([text.row for text in texts]):
        chances = probe.log_probabilities(batch)
        wanted = torch.tensor([piece for number in numbers for piece in texts[number].answers])
        nats -= float(chances.gather(1, wanted[:, None]).sum())
        right += int((chances.argmax(dim=1) == wanted).sum())
    return _Sums(nats, right, sum(len(text.answers) for text in texts), sum(text.words for text in texts))


def _blanked(probe: Probe, line: str, *, whole_words: bool) -> _Blanked:
    """Mask some pieces, or all pieces of some words, at least one. The choice depends on the text alone."""
    read = probe.tokenizer.backend.encode(" ".join(line.split()[:MAX_HELD_OUT_WORDS]))
    ids, words = list(read.ids), read.word_ids
    if len(ids) > probe.max_tokens:  # truncate, keeping [SEP]
        ids, words = [*ids[: probe.max_tokens - 1], ids[-1]], [*words[: probe.max_tokens - 1], None]
    owners = [(place, word if whole_words else place) for place, word in enumerate(words) if word is not None]
    chance = random.Random(zlib.crc32(line.encode()))
    drawn = {owner: chance.random() for owner in dict.fromkeys(owner for _, owner in owners)}
    chosen = {owner for owner, number in drawn.items() if number <= max(RATE, min(drawn.values()))}
    places = tuple(place for place, owner in owners if owner in chosen)
    answers = [ids[place] for place in places]
    for place in places:
        ids[place] = probe.tokenizer.mask_id
    return _Blanked(ProbeRow(tuple(ids), places), answers, len(chosen))


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
            ranks[number] = len(row) + 1 if best is None else int((row >= best).sum())  # ties rank the answer last
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
    """Return `share_likelier` by the pseudo-log-likelihood."""
    return share_likelier(lambda sentences: pseudo_log_likelihoods(probe, sentences), pairs)


def share_likelier(score: Callable[[Sequence[str]], list[float]], pairs: Sequence[Pair]) -> dict[str, float]:
    """Return, for each kind, the share of pairs whose grammatical sentence has the higher score; chance is 0.5."""
    sentences = list(dict.fromkeys(sentence for pair in pairs for sentence in (pair.good, pair.bad)))
    likely = dict(zip(sentences, score(sentences), strict=True))
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
