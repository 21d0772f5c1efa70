"""The probability of specific words at a blank: words of one piece directly, longer ones piece by piece."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from tx_core.analysis.probabilities import probabilities, rank_of
from tx_core.engine.engine import Engine
from tx_core.engine.tokenizer import Tokenizer
from tx_core.errors import TextProblem
from tx_core.fill_mask.blanks import widen_blank
from tx_core.fill_mask.next_words import next_logits, read_text
from tx_core.fill_mask.predictions import blank_logits_in_batches, blank_logits_of, encode_with_blanks
from tx_core.transformer.interventions import Intervention, shift_positions
from tx_core.transformer.trace import Encoding, Trace

MAX_SCORED_WORDS = 20
MAX_SCORED_TOKENS = 8
LENGTH_NOTE = (
    "A word of several pieces is scored in a blank widened to as many blanks: the probability of its first piece, "
    "times that of the second once the first is in place, and so on. A wider blank is another question than a "
    "single one, so compare only words of equally many pieces."
)
TOO_MANY_WORDS = "These are {count:,} words and at most {maximum} are scored at a time: remove some."
NOT_IN_VOCABULARY = "The model's vocabulary has no way to write this."
NO_SUCH_PIECE = "The model's vocabulary has no such piece."
TOO_MANY_PIECES = "This is {count} pieces long; at most {maximum} are scored."
NO_SPACE_FOR_WORD = "The text leaves no space for it: shorten it by {excess:,} tokens."
SCORED_IN_PIECES = "Scored as {count} pieces in {count} blanks."
_SEPARATOR = re.compile(r"[,;\n，、；]")


@dataclass(frozen=True)
class WordScore:
    """The score of a word at a blank.

    conditionals: the probability of each piece given those before it. probability: the product of `conditionals`; None if the
    word cannot be scored. rank: the rank among all entries, from 1, of a word of one piece; None for others.
    """

    word: str
    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    conditionals: tuple[float, ...]
    probability: float | None
    rank: int | None
    note: str


def read_words(text: str) -> tuple[str, ...]:
    """Split a comma-separated list of words and drop repeated ones. Raises TextProblem for more than MAX_SCORED_WORDS."""
    words = tuple(dict.fromkeys(word for part in _SEPARATOR.split(text) if (word := " ".join(part.split()))))
    if len(words) > MAX_SCORED_WORDS:
        raise TextProblem(TOO_MANY_WORDS.format(count=len(words), maximum=MAX_SCORED_WORDS))
    return words


def score_words(
    engine: Engine,
    text: str,
    words: Sequence[str],
    *,
    blank: int = 0,
    interventions: Sequence[Intervention] = (),
    trace: Trace | None = None,
) -> tuple[WordScore, ...]:
    """Compute the probability of each word at one blank of the text; other blanks stay masked.

    ##ing stands for the piece that continues the word before the blank. A word of several pieces is scored by the chain rule
    in as many blanks, see LENGTH_NOTE; interventions follow the tokens to their new positions, and one on the blank applies to
    all its pieces. trace: as for `fill_mask.predict`; it saves the run for words of one piece. Raises what
    `fill_mask.predict` raises, and ChangeProblem.
    """
    encoding = encode_with_blanks(engine, text)
    place = encoding.blanks[blank]
    spelled = [spell_word(engine.tokenizer, word, encoding.starts_sentence(place)) for word in words]
    problems = [_problem(engine, encoding, word, ids) for word, ids in zip(words, spelled, strict=True)]
    asked = [() if problem else ids for ids, problem in zip(spelled, problems, strict=True)]
    single = blank_logits_of(engine, encoding, interventions, trace) if any(len(ids) == 1 for ids in asked) else None
    answers = _chain_logits(engine, encoding, place, [ids for ids in asked if len(ids) > 1], interventions)
    scores = []
    for word, ids, problem in zip(words, spelled, problems, strict=True):
        if problem:
            pieces = tuple(engine.tokenizer.word(entry) for entry in ids)
            scores.append(WordScore(word, ids, pieces, (), None, None, problem))
        elif len(ids) == 1:
            scores.append(_scored(engine.tokenizer, word, ids, [single[blank]]))
        else:
            scores.append(_scored(engine.tokenizer, word, ids, [next(answers) for _ in ids]))
    return tuple(scores)


def score_next_word(engine: Engine, text: str, word: str, *, interventions: Sequence[Intervention] = ()) -> WordScore:
    """Compute the probability that a word follows a text, its pieces one after the other; raises what `next_words` raises."""
    ids = spell_word(engine.tokenizer, word, opens=False)
    before = read_text(engine, text)
    if problem := _problem(engine, before, word, ids):
        return WordScore(word, ids, (), (), None, None, problem)
    encoding = read_text(engine, text, ids[:-1])
    answers = list(next_logits(engine, encoding, range(len(before) - 1, len(encoding)), interventions))
    return _scored(engine.tokenizer, word, ids, answers)


def _chain_logits(
    engine: Engine, encoding: Encoding, place: int, words: Sequence[tuple[int, ...]], interventions: Sequence[Intervention]
) -> Iterator[Float[np.ndarray, "vocab"]]:
    """Yield, for the pieces of all words in order, the logits given the pieces before."""
    rows = [row for ids in words for row in blank_chain(encoding, engine.tokenizer, place, ids)]
    changes = [shift_positions(interventions, place, len(ids)) for ids in words for _ in ids]
    for batch in blank_logits_in_batches(engine, rows, changes) if rows else ():
        yield from (logits[0] for logits in batch)


def _scored(tokenizer: Tokenizer, word: str, ids: tuple[int, ...], logits: Sequence[Float[np.ndarray, "vocab"]]) -> WordScore:
    """Score a word by the logits at each of its pieces, given those before it."""
    pieces = tuple(tokenizer.word(entry) for entry in ids)
    conditionals = tuple(probabilities(one)[entry].item() for one, entry in zip(logits, ids, strict=True))
    rank = rank_of(logits[0], ids[0]) if len(ids) == 1 else None
    note = "" if len(ids) == 1 else SCORED_IN_PIECES.format(count=len(ids))
    return WordScore(word, ids, pieces, conditionals, math.prod(conditionals), rank, note)


def spell_word(tokenizer: Tokenizer, word: str, opens: bool) -> tuple[int, ...]:
    """Return the pieces of a word at the blank; a word written ##so continues the one before it."""
    if _continues(word):
        entry = tokenizer.entry(word)
        return tokenizer.pieces(word[2:], first=True) if entry is None else (entry,)
    return tokenizer.pieces(word, first=opens)


def _continues(word: str) -> bool:
    return word.startswith("##") and len(word) > 2


def _problem(engine: Engine, encoding: Encoding, word: str, ids: tuple[int, ...]) -> str:
    """Return why a word cannot be scored, "" if it can."""
    if not ids or engine.tokenizer.unknown_id in ids:
        return NOT_IN_VOCABULARY
    if _continues(word) and not engine.tokenizer.joins(ids[0]):
        return NO_SUCH_PIECE
    if len(ids) > MAX_SCORED_TOKENS:
        return TOO_MANY_PIECES.format(count=len(ids), maximum=MAX_SCORED_TOKENS)
    too_many = len(encoding) + len(ids) - 1 - engine.info.max_tokens
    return NO_SPACE_FOR_WORD.format(excess=too_many) if too_many > 0 else ""


def blank_chain(encoding: Encoding, tokenizer: Tokenizer, place: int, ids: tuple[int, ...]) -> list[Encoding]:
    """Encode the widened blank once per piece: with none filled, with the first filled, and so on."""
    blanks = (tokenizer.mask_id,) * len(ids)
    return [
        replace(widen_blank(encoding, tokenizer, place, ids[:known] + blanks[known:]), blanks=(place + known,))
        for known in range(len(ids))
    ]
