"""Predictions at masked positions: on held-out texts, source by source, in cloze tests, and of whole sentences."""

import csv
import random
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from tx_core.engine.tensors import batch_tensors
from tx_core.engine.tokenizer import Tokenizer
from tx_core.transformer.bert import Bert
from tx_core.transformer.trace import Encoding

HERE = Path(__file__).parent
RATE = 0.15
MAX_HELD_OUT_WORDS, HELD_OUT_LINES = 60, 40
"""Words of a line that are read: enough for a paragraph, and within 128 pieces. Lines of a source, at most."""
RANKS = (1, 5, 20)
PROBE_TOKENS_AT_ONCE = 4096


class ProbeRow(NamedTuple):
    """A text as ids with [CLS] and [SEP], and the positions to predict."""

    ids: tuple[int, ...]
    places: tuple[int, ...]


class Probe:
    """Our own BERT under test: log-probabilities at masked positions, attention weights."""

    def __init__(self, model: Bert, tokenizer: Tokenizer, device: str = "cpu"):
        self.model, self.tokenizer, self.device = model.to(device).eval(), tokenizer, device

    @property
    def max_tokens(self) -> int:
        """The longest input, special tokens included."""
        return self.model.config.max_positions

    @torch.inference_mode()
    def log_probabilities(self, rows: Sequence[ProbeRow]) -> Float[Tensor, "place vocab"]:
        """Return the log-probability of every piece at the positions of all rows, concatenated."""
        ids, segments, mask = batch_tensors([_encoding(row) for row in rows], self.tokenizer.padding_id, self.device)
        output = self.model(ids, segments, mask).output
        row = [number for number, row in enumerate(rows) for _ in row.places]
        place = [place for row in rows for place in row.places]
        return self.model.predict(output[row, place]).float().log_softmax(dim=-1).cpu()

    @torch.inference_mode()
    def weights(self, ids: Sequence[int]) -> Float[Tensor, "layer head query key"]:
        """Return the attention weights of all heads for one text."""
        run = self.model(torch.tensor([list(ids)], device=self.device), keep=("weights",))
        return torch.cat([layer["weights"] for layer in run.layers]).cpu()


def in_batches(rows: Sequence[ProbeRow]) -> Iterator[tuple[list[int], list[ProbeRow]]]:
    """Group rows of similar length: their numbers, and the rows, at most PROBE_TOKENS_AT_ONCE tokens together."""
    order = sorted(range(len(rows)), key=lambda number: len(rows[number].ids))
    group: list[int] = []
    for number in order:
        if group and len(rows[number].ids) * (len(group) + 1) > PROBE_TOKENS_AT_ONCE:
            yield group, [rows[n] for n in group]
            group = []
        group.append(number)
    if group:
        yield group, [rows[n] for n in group]


def _encoding(row: ProbeRow) -> Encoding:
    """Wrap ids in an Encoding; only ids, segments and blanks are used."""
    one_segment = (0,) * len(row.ids)
    return Encoding("", None, row.ids, (), one_segment, (), (), (), row.places, ())


class HeldOut(NamedTuple):
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


Sums = tuple[float, int, int, float, int]
"""Of a source: nats and right ones of its pieces, their number, nats of its words, their number."""


def held_out_means(sums: Mapping[str, Sums]) -> dict[str, HeldOut]:
    """Return the means of each source; "all" sums up every source."""
    sums = {**sums, "all": tuple(map(sum, zip(*sums.values(), strict=True)))}
    return {
        source: HeldOut(nats / pieces, right / pieces, word_nats / words, pieces, words)
        for source, (nats, right, pieces, word_nats, words) in sums.items()
        if pieces
    }


def sample_lines(file: Path, most: int) -> list[str]:
    """Return at most `most` lines of a text, sampled evenly."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [line for line in lines[:: max(1, len(lines) // most)] if line.strip()][:most]


def first_words(line: str) -> str:
    """Return what is read of a line."""
    return " ".join(line.split()[:MAX_HELD_OUT_WORDS])


def measure_held_out(probe: Probe, files: Sequence[Path], most_lines: int = HELD_OUT_LINES) -> dict[str, HeldOut]:
    """Mask 15 % of each text, piece by piece and then word by word, and score the predictions."""
    sums = {}
    for file in files:
        lines = sample_lines(file, most_lines)
        nats, right, pieces, _ = _guess(probe, [_blanked(probe, line, whole_words=False) for line in lines])
        word_nats, _, _, words = _guess(probe, [_blanked(probe, line, whole_words=True) for line in lines])
        sums[file.stem] = (nats, right, pieces, word_nats, words)
    return held_out_means(sums)


class _Blanked(NamedTuple):
    """A text with blanks, the pieces that stood there, and how many words they are of."""

    row: ProbeRow
    answers: list[int]
    words: int


def _guess(probe: Probe, texts: Sequence[_Blanked]) -> tuple[float, int, int, int]:
    """Return nats, right ones, and the numbers of pieces and of words."""
    texts = [text for text in texts if text.answers]
    nats, right = 0.0, 0
    for numbers, batch in in_batches([text.row for text in texts]):
        chances = probe.log_probabilities(batch)
        wanted = torch.tensor([piece for number in numbers for piece in texts[number].answers])
        nats -= float(chances.gather(1, wanted[:, None]).sum())
        right += int((chances.argmax(dim=1) == wanted).sum())
    return nats, right, sum(len(text.answers) for text in texts), sum(text.words for text in texts)


def _blanked(probe: Probe, line: str, *, whole_words: bool) -> _Blanked:
    """Mask some pieces, or all pieces of some words, at least one. The choice depends on the text alone."""
    read = probe.tokenizer.backend.encode(first_words(line))
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


class Prompt(NamedTuple):
    """A sentence with [MASK] and the words that fill it well."""

    text: str
    answers: tuple[str, ...]


class ClozeResult(NamedTuple):
    """Shares of prompts with a good answer among the first 1, 5 and 20 guesses.

    answerable: the share whose answer is a single piece of the vocabulary; the others count as wrong.
    """

    top1: float
    top5: float
    top20: float
    answerable: float


def measure_cloze(probe: Probe, prompts: Sequence[Prompt]) -> ClozeResult:
    """Fill every blank and find the rank of the best acceptable answer."""
    blank, backend = probe.tokenizer.mask_id, probe.tokenizer.backend
    rows = []
    for prompt in prompts:
        ids = tuple(backend.encode(prompt.text).ids)
        rows.append(ProbeRow(ids, (ids.index(blank),)))
    accepted = [_single_pieces(probe, prompt.answers) for prompt in prompts]
    ranks = [0] * len(prompts)
    for numbers, batch in in_batches(rows):
        for row, number in zip(probe.log_probabilities(batch), numbers, strict=True):
            best = max((float(row[piece]) for piece in accepted[number]), default=None)
            ranks[number] = len(row) + 1 if best is None else int((row >= best).sum())  # ties rank the answer last
    shares = [sum(rank <= limit for rank in ranks) / len(ranks) for limit in RANKS]
    return ClozeResult(*shares, sum(map(bool, accepted)) / len(prompts))


def read_prompts(file: Path) -> list[Prompt]:
    """Read sentences with their answers: 200 everyday ones, none of them in the corpus, or 60 facts, worded differently."""
    with file.open(encoding="utf-8", newline="") as table:
        return [Prompt(row["prompt"], tuple(row["answers"].split())) for row in csv.DictReader(table, delimiter="\t")]


def capital_prompts(file: Path) -> list[Prompt]:
    """Return prompts for the capitals of a table (country, capital), in the wording kept out of the corpus."""
    with file.open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table, delimiter="\t"))
    return [Prompt(f"The capital of {row['country']} is [MASK].", (row["capital"],)) for row in rows]


def _single_pieces(probe: Probe, words: Sequence[str]) -> list[int]:
    pieces = [probe.tokenizer.backend.encode(word, add_special_tokens=False).ids for word in words]
    return [ids[0] for ids in pieces if len(ids) == 1 and ids[0] != probe.tokenizer.unknown_id]


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
