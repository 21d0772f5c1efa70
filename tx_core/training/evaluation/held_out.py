"""Masked-word predictions on held-out texts, source by source."""

import random
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch

from tx_core.training.evaluation.probe import Probe, ProbeRow, in_batches

RATE = 0.15
MAX_HELD_OUT_WORDS = 60
"""Words of a line that are read: enough for a paragraph, and within 128 pieces."""


@dataclass(frozen=True)
class HeldOut:
    """Predictions of masked pieces and of masked words.

    Attributes:
        loss: Cross-entropy per piece, in nats, with pieces masked one by one (Devlin et al. 2019).
        accuracy: The share of pieces predicted first.
        word_loss: Cross-entropy per word, in nats, with all pieces of a word masked together; comparable between vocabularies.
        pieces: The number of masked pieces.
        words: The number of masked words.
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
        lines = _spread(file.read_text(encoding="utf-8").splitlines(), most_lines)
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


def _spread(lines: Sequence[str], most: int) -> list[str]:
    """Take lines evenly from the whole file."""
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
    if len(ids) > probe.max_tokens:  # what does not fit is left out, the closing mark kept
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
