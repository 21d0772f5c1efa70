"""Find the heads that follow a relation between words: one that a reader chooses, or those of grammar (Clark et al. 2019).

>>> found = find_heads(load("embedded"), Relation(query=Condition("deprel", "obj"), link="head"))
>>> found.to_pandas().head(3)  # an object looks at its verb: heads by their share, the best fixed offset and chance beside it
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from tx_core.analysis.grammar import MIN_GAIN
from tx_core.analysis.probabilities import wilson_interval
from tx_core.corpus.sentence_file import Sentences, embedded_sentences
from tx_core.corpus.statistics import read_all
from tx_core.corpus.words import COLUMNS, AttendedWords, Word
from tx_core.engine.engine import Engine
from tx_core.errors import TextProblem
from tx_core.transformer.interventions import Head

if TYPE_CHECKING:
    import pandas

MOST_EXPRESSION, MOST_VALUE = 200, 50
"""Characters of a regular expression, and of a value that are compared; RE2 takes time in proportion to both."""
FIRST_VALUES, PART_SECONDS, MATCH_SECONDS = 20, 0.2, 2.0
"""Values that are compared before the clock is asked, for how long before it is asked again, and how long all may take."""
CANDIDATES = 50
"""Words among which the strongest sentences are looked for, since several may stand in the same one."""
OFFSETS = tuple(offset for offset in range(-6, 7) if offset)
"""The fixed offsets of the baseline, in words."""

NO_COLUMN = "There is no column {column!r}: choose one of {columns}."
NOTHING_READ = (
    "The model can read none of these sentences word by word: each is too long for it, or its words do not fit its tokens."
)
NOT_ANNOTATED = (
    "None of these sentences is annotated, so that only words can be compared: choose the column of words, and “anywhere in the "
    "sentence”, or upload a CoNLL-U file."
)
NO_OCCURRENCE = "No sentence has two words of this relation: loosen what the words must match, or bring more sentences."


@dataclass(frozen=True)
class Condition:
    """Which words count: those whose column (its first 50 letters) matches a regular expression as a whole, in any case.

    column: a name of `words.COLUMNS`: form, lemma, upos, xpos, feats or deprel. A deprel such as nsubj:pass also counts as nsubj,
    and of feats each counts alone. expression: in the syntax of RE2; "" for every word. It takes time in proportion to the text,
    whatever it is.
    """

    column: str = "form"
    expression: str = ""

    def matches(self, words: Sequence[Word]) -> Bool[np.ndarray, "word"]:
        """Return which words count; raise TextProblem for an expression that cannot be used."""
        if self.column not in COLUMNS:
            raise TextProblem(NO_COLUMN.format(column=self.column, columns=", ".join(COLUMNS)))
        if not self.expression:
            return np.ones(len(words), dtype=bool)
        if len(self.expression) > MOST_EXPRESSION:
            raise TextProblem(
                f"A regular expression may have {MOST_EXPRESSION} characters, and this one has {len(self.expression):,}: shorten "
                "it."
            )
        # Imported here: only an expression needs it, and whoever opens a page has asked for none yet.
        import pyarrow
        from pyarrow import compute

        values = [getattr(word, self.column) for word in words]
        kinds = {value: _spellings(self.column, value[:MOST_VALUE]) for value in dict.fromkeys(values)}
        spelled = list(dict.fromkeys(one for found in kinds.values() for one in found))
        matching, end = set[str](), time.monotonic() + MATCH_SECONDS
        try:
            compute.match_substring_regex(pyarrow.array([""]), self.expression)  # alone: brackets must not close those around it
            start, size = 0, FIRST_VALUES
            while start < len(spelled):
                now = time.monotonic()
                if start and now > end:
                    raise TextProblem(f"“{self.expression}” takes too long to compare with all words: simplify it.")
                some = spelled[start : start + size]
                found = compute.match_substring_regex(pyarrow.array(some), rf"\A(?:{self.expression})\z", ignore_case=True)
                matching.update(one for one, fits in zip(some, found.to_pylist(), strict=True) if fits)
                start, size = start + size, 2 * size if time.monotonic() - now < PART_SECONDS else max(1, size // 2)
        except ValueError as wrong:  # also of characters that are no text
            problem = str(wrong).removeprefix("Invalid regular expression: ")
            raise TextProblem(
                f"“{self.expression}” is no regular expression that can be used: {problem}. Write, for example, she|he or .*ing, "
                "in the syntax of RE2; a sign such as [ or ? that is meant as such needs a \\ before it."
            ) from wrong
        fits = {value: not matching.isdisjoint(found) for value, found in kinds.items()}
        return np.array([fits[value] for value in values], dtype=bool)


def _spellings(column: str, value: str) -> list[str]:
    """Return what an expression may match in a value; nothing in a word without this annotation."""
    parts = {"deprel": value.split(":")[:1], "feats": value.split("|")}.get(column, [])
    return [value, *parts] if value else []


Link = Literal["any", "head", "dependent"]


@dataclass(frozen=True)
class Relation:
    """Query words, and the words that each should attend to.

    link: where a query's related words stand: "any" where in the sentence, the "head" that it depends on, or a "dependent" of it.
    """

    query: Condition = Condition()
    key: Condition = Condition()
    link: Link = "any"


class Example(NamedTuple):
    """A word of a sentence, and the one that a head attends to most from it, the same where it attends to no other.

    sentence: its number among those that were to be read. related: the words that the query should attend to. token: the position
    of the query's first token in its text.
    """

    sentence: int
    query: str
    attended: str
    related: tuple[str, ...]
    token: int
    weight: float
    hit: bool


@dataclass(frozen=True)
class HeadsFound:
    """How often the largest attention of query words falls on a related word, for each head. Each query word counts once.

    queries: the positions in `words` of the query words that have a related word. hits: whether the word with the largest
    attention is related. offset_hits: whether the word at each of OFFSETS is. chances: the share of the other words that are
    related. related: whether words at positions (query, key), in one sentence, are related.
    """

    relation: Relation
    words: AttendedWords = field(repr=False)
    queries: Int[np.ndarray, "occurrence"] = field(repr=False)
    hits: Bool[np.ndarray, "layer head occurrence"] = field(repr=False)
    offset_hits: Bool[np.ndarray, "offset occurrence"] = field(repr=False)
    chances: Float[np.ndarray, "occurrence"] = field(repr=False)
    related: Callable[..., Bool[np.ndarray, "..."]] = field(repr=False)

    @property
    def occurrences(self) -> int:
        """How many query words have a related word."""
        return len(self.queries)

    @cached_property
    def sentences(self) -> Int[np.ndarray, "occurrence"]:
        """The place of each query's sentence, in `words`."""
        return np.searchsorted(self.words.starts, self.queries, side="right") - 1

    @cached_property
    def shares(self) -> Float[np.ndarray, "layer head"]:
        """The share of query words whose largest attention falls on a related word."""
        return self.hits.mean(axis=-1)

    @property
    def offset(self) -> int:
        """The fixed offset that finds most related words, in words from the query."""
        return OFFSETS[int(self.offset_hits.sum(axis=-1).argmax())]

    def share_at(self, offset: int) -> float:
        """Return the share that a fixed offset finds, one of OFFSETS."""
        return float(self.offset_hits[OFFSETS.index(offset)].mean())

    @property
    def baseline(self) -> float:
        """The share that the best offset finds."""
        return self.share_at(self.offset)

    @property
    def chance(self) -> float:
        """The share that a head finds which attends to any other word with equal probability."""
        return float(self.chances.mean())

    @property
    def best(self) -> Head:
        layer, head = np.unravel_index(self.shares.argmax(), self.shares.shape)
        return int(layer), int(head)

    @property
    def following(self) -> Bool[np.ndarray, "layer head"]:
        """The heads whose share is at least `grammar.MIN_GAIN` above the best fixed offset."""
        return self.shares - self.baseline >= MIN_GAIN - 1e-12

    def interval(self, head: Head) -> tuple[float, float]:
        """Return the 95 % confidence interval of a head's share (Wilson 1927)."""
        return wilson_interval(float(self.shares[head]), self.occurrences)

    def among(self, chosen: Bool[np.ndarray, "occurrence"]) -> "HeadsFound":
        """Return the same of some of the query words."""
        parts = {name: getattr(self, name)[..., chosen] for name in ("queries", "hits", "offset_hits", "chances")}
        return replace(self, **parts)

    def examples(self, head: Head, most: int, *, weakest: bool = False) -> list[Example]:
        """Return the sentences in which a head is surest of a related word, or of another (weakest): one query of each."""
        weights = self.words.weights[head][self.queries].astype(np.float64)
        scores = np.where(self.hits[head], weights, -weights) * (-1 if weakest else 1)
        found: dict[tuple[str, ...], Example] = {}
        few = np.argpartition(-scores, range(min(CANDIDATES, len(scores))))[:CANDIDATES]  # to sort all would take seconds
        for place in few:
            if len(found) == most or bool(self.hits[head][place]) is weakest:
                break
            query, start = self.queries[place], self.words.starts
            attended, number = self.words.attended[head][query], self.sentences[place]
            positions = np.arange(start[number], start[number + 1])
            text = tuple(self.words.words[position].form for position in positions)
            related = tuple(
                self.words.words[position].form for position in positions[self.related(self.queries[[place]], positions)]
            )
            names = self.words.words[query].form, self.words.words[attended].form, related
            token, sentence = int(self.words.tokens[query]), int(self.words.numbers[number])
            found.setdefault(text, Example(sentence, *names, token, float(weights[place]), not weakest))
        return list(found.values())

    def to_pandas(self) -> "pandas.DataFrame":
        """Return a table with a row for each head, from 1, the highest share first; low and high end its 95 % interval."""
        import pandas

        rows = []
        for place in np.ndindex(self.shares.shape):
            low, high = self.interval(place)
            found = {"layer": place[0] + 1, "head": place[1] + 1, "share": float(self.shares[place]), "low": low, "high": high}
            beside = {"offset": self.offset, "offset share": self.baseline, "chance": self.chance}
            rows.append(found | {"occurrences": self.occurrences} | beside)
        return pandas.DataFrame(rows).sort_values("share", ascending=False, kind="stable", ignore_index=True)


def find_heads(
    engine: Engine, relation: Relation, sentences: Sentences | Sequence[str] | None = None, *, half: bool = False
) -> HeadsFound:
    """Find the heads of a model that follow a relation: read the sentences, and count.

    For each head: the share of query words whose largest attention falls on a related word, among the other words of the
    sentence. Attention to a word is the sum over its tokens, and from it the mean (Clark et al. 2019, section 4).

    sentences: texts, or what `read_sentences` read of a file; by default those that ship with the app, which are annotated.
    Raises TextProblem if the model can read none of the sentences, an expression is wrong, or the relation does not occur.
    """
    if sentences is None:
        sentences = embedded_sentences()
    elif not isinstance(sentences, Sentences):
        sentences = Sentences("", tuple(sentences), tuple(range(1, len(sentences) + 1)), ())
    report = read_all(engine, sentences, half=half)
    return count_hits(report.attended if report else None, relation)


def count_hits(words: AttendedWords | None, relation: Relation) -> HeadsFound:
    """Count in what was read how often each head follows a relation; raise TextProblem as `find_heads` does.

    Of a causal model, in which no word attends to a later one, only words before the query count as related.
    """
    if words is None:
        raise TextProblem(NOTHING_READ)
    queries, keys = relation.query.matches(words.words), relation.key.matches(words.words)
    lengths = np.diff(words.starts)
    first, sizes = np.repeat(words.starts[:-1], lengths), np.repeat(lengths, lengths)
    place = np.arange(len(words.words))
    heads = np.array([-1 if word.head is None else word.head for word in words.words])
    heads = np.where(heads < 0, -1, heads + first)
    is_causal = not (words.attended > place).any()

    def related(query: Int[np.ndarray, "..."], key: Int[np.ndarray, "..."]) -> Bool[np.ndarray, "..."]:
        fits = keys[key] & (query != key) & ((key < query) if is_causal else True)
        if relation.link == "any":
            return fits
        return fits & (heads[query] == key if relation.link == "head" else heads[key] == query)

    counts = _count_related(relation.link, keys, heads, first, sizes, is_causal=is_causal)
    asked = np.flatnonzero(queries & (counts > 0))
    if not asked.size:
        is_annotated = any(word.head is not None or word.upos or word.deprel for word in words.words)
        needs = relation.link != "any" or {relation.query.column, relation.key.column} != {"form"}
        raise TextProblem(NO_OCCURRENCE if is_annotated or not needs else NOT_ANNOTATED)
    beside = asked + np.array(OFFSETS)[:, None]
    inside = (beside >= first[asked]) & (beside < first[asked] + sizes[asked])
    offset_hits = inside & related(asked, np.where(inside, beside, asked))
    reachable = (asked - first[asked]) if is_causal else sizes[asked] - 1
    hits = related(asked, words.attended[:, :, asked])
    return HeadsFound(relation, words, asked, hits, offset_hits, counts[asked] / reachable, related)


def _count_related(
    link: Link,
    keys: Bool[np.ndarray, "word"],
    heads: Int[np.ndarray, "word"],
    first: Int[np.ndarray, "word"],
    sizes: Int[np.ndarray, "word"],
    *,
    is_causal: bool,
) -> Int[np.ndarray, "word"]:
    """Return how many words are related to each word. heads: -1 for none. first, sizes: of each word's sentence."""
    place = np.arange(len(keys))
    if link == "any":
        before = np.concatenate([[0], np.cumsum(keys)])
        return before[place if is_causal else first + sizes] - before[first] - (0 if is_causal else keys)
    if link == "head":
        return ((heads >= 0) & keys[heads] & ((heads < place) | (not is_causal))).astype(int)
    dependents = keys & (heads >= 0) & ((place < heads) | (not is_causal))
    return np.bincount(heads[dependents], minlength=len(keys))
