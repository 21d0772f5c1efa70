"""What a model predicts on held-out texts, in cloze tests and of minimal pairs: masked words, or of a writer every token.

Minimal pairs differ in one point, and a model that knows grammar finds the right one likelier: BLiMP (Warstadt et al. 2020), and
subject-verb agreement across attractors (Marvin & Linzen 2018).
"""

import csv
import json
import random
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from tx_core.analysis.probabilities import log_probabilities
from tx_core.engine.engine import Engine
from tx_core.fill_mask.predictions import blank_logits_in_batches
from tx_core.training.pretraining.vocabulary import CLS_ID, SEP_ID
from tx_core.transformer.trace import Encoding

HERE = Path(__file__).parent
RATE = 0.15
MAX_HELD_OUT_WORDS, HELD_OUT_LINES = 60, 40
"""Words of a line that are read: enough for a paragraph, and within 128 pieces. Lines of a source, at most."""
RANKS = (1, 5, 20)


class Question(NamedTuple):
    """What a model reads, with the places where it predicts as its blanks; the pieces wanted there, and of how many words."""

    row: Encoding
    answers: Sequence[int]
    words: int


class HeldOut(NamedTuple):
    """Predictions of masked pieces and of masked words; of a causal language model, of every piece, and of every word.

    loss, word_loss: cross-entropy, in nats, with pieces masked one by one (Devlin et al. 2019), and with all pieces of a word
    masked together, comparable between vocabularies. accuracy: the share of pieces predicted first.
    """

    loss: float
    accuracy: float
    word_loss: float
    pieces: int
    words: int


def text_row(ids: Sequence[int], places: Sequence[int] = ()) -> Encoding:
    """Return ids as a text of one segment that is asked at some places, without its words and tokens."""
    return Encoding("", None, tuple(ids), (), (0,) * len(ids), (), (), (), tuple(places), ())


def measure_held_out(engine: Engine, files: Sequence[Path], most_lines: int = HELD_OUT_LINES) -> dict[str, HeldOut]:
    """Predict 15 % of each text, piece by piece and then word by word, or every token; "all" sums up every source.

    Of a causal language model, exp(loss) is the perplexity.
    """
    sums: dict[str, tuple[float, ...]] = {}
    for file in files:
        lines = file.read_text(encoding="utf-8").splitlines()
        lines = [line for line in lines[:: max(1, len(lines) // most_lines)] if line.strip()][:most_lines]
        if engine.info.predicts_next:
            nats, right, pieces, words = _guess(engine, [_every_token(engine, _first_words(line)) for line in lines])
            sums[file.stem] = (nats, right, pieces, nats, words)
        else:
            nats, right, pieces, _ = _guess(engine, [_some_blanked(engine, line, whole_words=False) for line in lines])
            word_nats, _, _, words = _guess(engine, [_some_blanked(engine, line, whole_words=True) for line in lines])
            sums[file.stem] = (nats, right, pieces, word_nats, words)
    sums["all"] = tuple(map(sum, zip(*sums.values(), strict=True)))
    return {
        source: HeldOut(nats / pieces, right / pieces, word_nats / words, pieces, words)
        for source, (nats, right, pieces, word_nats, words) in sums.items()
        if pieces
    }


def log_likelihoods(engine: Engine, sentences: Sequence[str]) -> list[float]:
    """Return the log-probability of each sentence, its end included; a sentence that is too long is truncated.

    Of a BERT, the sum of that of each piece with it alone masked (Salazar et al. 2020, equation 1).
    """
    asked = []
    for number, sentence in enumerate(sentences):
        if engine.info.predicts_next:
            asked.append((number, _every_token(engine, sentence)))
        else:
            ids, _ = _read(engine, sentence)
            asked += [(number, _blanked(engine, ids, (place,))) for place in range(1, len(ids) - 1)]
    sums = [0.0] * len(sentences)
    for at, logs in _answers(engine, [question.row for _, question in asked]):
        number, question = asked[at]
        sums[number] += float(logs[range(len(logs)), question.answers].sum())
    return sums


def _answers(engine: Engine, rows: Sequence[Encoding]) -> Iterator[tuple[int, Float[np.ndarray, "place vocab"]]]:
    """Yield the number of each row with its log-probabilities, rows of similar length together."""
    order = sorted(range(len(rows)), key=lambda number: len(rows[number]))
    batches = blank_logits_in_batches(engine, [rows[number] for number in order]) if rows else ()
    answered = (logits for batch in batches for logits in batch)
    yield from ((number, log_probabilities(logits)) for number, logits in zip(order, answered, strict=True))


def _guess(engine: Engine, questions: Sequence[Question]) -> tuple[float, int, int, int]:
    """Return nats, right ones, and the numbers of pieces and of words."""
    questions, nats, right = [question for question in questions if question.answers], 0.0, 0
    for number, logs in _answers(engine, [question.row for question in questions]):
        wanted = np.array(questions[number].answers)
        nats -= float(logs[range(len(logs)), wanted].sum())
        right += int((logs.argmax(axis=-1) == wanted).sum())
    return nats, right, sum(len(one.answers) for one in questions), sum(one.words for one in questions)


def _first_words(line: str) -> str:
    return " ".join(line.split()[:MAX_HELD_OUT_WORDS])


def _read(engine: Engine, text: str) -> tuple[list[int], list[int | None]]:
    """Return the ids of a text as a BERT reads it, truncated but for [SEP], and the word of each."""
    read, most = engine.tokenizer.backend.encode(text), engine.info.max_tokens
    if len(read.ids) <= most:
        return list(read.ids), list(read.word_ids)
    return [*read.ids[: most - 1], read.ids[-1]], [*read.word_ids[: most - 1], None]


def _every_token(engine: Engine, text: str) -> Question:
    """Ask for every token of [CLS] text [SEP] but the first."""
    ids = [CLS_ID, *engine.tokenizer.backend.encode(text, add_special_tokens=False).ids, SEP_ID][: engine.info.max_tokens]
    return Question(text_row(ids[:-1], range(len(ids) - 1)), ids[1:], len(text.split()))


def _blanked(engine: Engine, ids: Sequence[int], places: Sequence[int], words: int = 1) -> Question:
    """Ask for the pieces at some places, blanked."""
    shown = list(ids)
    for place in places:
        shown[place] = engine.tokenizer.mask_id
    return Question(text_row(shown, places), [ids[place] for place in places], words)


def _some_blanked(engine: Engine, line: str, *, whole_words: bool) -> Question:
    """Mask some pieces, or all pieces of some words, at least one. The choice depends on the text alone."""
    ids, words = _read(engine, _first_words(line))
    owners = [(place, word if whole_words else place) for place, word in enumerate(words) if word is not None]
    chance = random.Random(zlib.crc32(line.encode()))
    drawn = {owner: chance.random() for owner in dict.fromkeys(owner for _, owner in owners)}
    chosen = {owner for owner, number in drawn.items() if number <= max(RATE, min(drawn.values()))}
    return _blanked(engine, ids, [place for place, owner in owners if owner in chosen], len(chosen))


class Prompt(NamedTuple):
    """A sentence with [MASK] and the words that fill it well."""

    text: str
    answers: tuple[str, ...]


def measure_cloze(engine: Engine, prompts: Sequence[Prompt]) -> tuple[float, ...]:
    """Return the shares of prompts with a good answer among the first 1, 5 and 20 guesses, and of those that have any.

    An answer that is no single piece of the vocabulary counts as wrong.
    """
    backend, unknown = engine.tokenizer.backend, engine.tokenizer.unknown_id
    rows = []
    for prompt in prompts:
        ids = backend.encode(prompt.text).ids
        rows.append(text_row(ids, (ids.index(engine.tokenizer.mask_id),)))
    spelled = [[backend.encode(word, add_special_tokens=False).ids for word in prompt.answers] for prompt in prompts]
    accepted = [[ids[0] for ids in words if len(ids) == 1 and ids[0] != unknown] for words in spelled]
    ranks = [
        int((logs[0] >= logs[0, accepted[number]].max()).sum())  # ties rank the answer last
        for number, logs in _answers(engine, rows)
        if accepted[number]
    ]
    return (*(sum(rank <= limit for rank in ranks) / len(prompts) for limit in RANKS), len(ranks) / len(prompts))


def read_prompts(file: Path) -> list[Prompt]:
    """Read sentences with their answers: 200 everyday ones, none of them in the corpus, or 60 facts, worded differently."""
    return [Prompt(row["prompt"], tuple(row["answers"].split())) for row in _table(file)]


def capital_prompts(file: Path) -> list[Prompt]:
    """Return prompts for the capitals of a table (country, capital), in the wording kept out of the corpus."""
    return [Prompt(f"The capital of {row['country']} is [MASK].", (row["capital"],)) for row in _table(file)]


def _table(file: Path) -> list[Mapping[str, str]]:
    with file.open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table, delimiter="\t"))


# Minimal pairs

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


def share_likelier(engine: Engine, pairs: Sequence[SentencePair]) -> dict[str, float]:
    """Return, for each kind, the share of pairs whose grammatical sentence has the higher score; chance is 0.5."""
    sentences = list(dict.fromkeys(sentence for pair in pairs for sentence in (pair.good, pair.bad)))
    likely = dict(zip(sentences, log_likelihoods(engine, sentences), strict=True))
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
