"""Pairs of sentences that differ in one word, which tells their answers apart, and how often each method names it.

    python -m tx_core.causal.deciding_words --model embedded --pairs 500

The table that ships for the embedded model was made by this command.
"""

import argparse
import random
import sys
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import log
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tx_core.analysis.probabilities import bootstrap_interval, log_probabilities
from tx_core.causal.explain import CHANGES, METHODS, AnswerRun, Explanation, method_runs, methods_of, read_answer
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine
from tx_core.engine.progress import Progress, plan_runs, run_seconds
from tx_core.errors import ExplorerError, TextProblem
from tx_core.transformer.trace import Encoding

STORED = "deciding_words.tsv"
"""The table of a model that ships, in its folder."""
PAIRS = 500
MOST_DRAWN = 6
"""Pairs that are drawn for each that is wanted, at most."""
MARGIN = log(2)
"""In nats: either sentence must find its own answer at least twice as likely as the other's."""
SAME_SENTENCES = "Both sentences are the same: change one word in the second."
OTHER_LENGTH = "The sentences have {one} and {other} words: replace one word of the first by another one, and leave the rest."
SEVERAL_WORDS = "The sentences differ in {count} words ({words}): they may differ in one."
TWO_BLANKS = "Each sentence needs exactly one blank, and one of these has {count}: put words into the others."
SAME_ANSWER = (
    "Both sentences are answered by “{word}”, so the word in which they differ decides nothing: choose one that changes the "
    "answer."
)


@dataclass(frozen=True)
class PairExplanation:
    """Explanations of the first of two sentences.

    word: the number of the word in which they differ, in the first one's `word_texts`. answers: of both sentences. rather: by
    each method, of why it has its answer rather than that of the second. alone: of why it has its answer at all.
    """

    word: int
    answers: tuple[str, str]
    rather: tuple[Explanation, ...]
    alone: tuple[Explanation, ...]


def explain_pair(engine: Engine, text: str, other: str, methods: Sequence[str] = ()) -> PairExplanation:
    """Explain by methods why a text has its answer, rather than that of a second text, and at all.

    methods: of `METHODS`; all that the model allows where none is named.

    Raises TextProblem where the texts do not differ in one word alone, have not one blank each, or have the same answer; and what
    `explain` raises.
    """
    pair = read_pair(engine, text, other)
    named = methods or methods_of(engine)
    runs, _ = pair_runs(pair.run, named)
    plan_runs(runs, pair_seconds(pair.run, named))
    rather, alone = (tuple(pair.run.explain(name, alone=one) for name in named) for one in (False, True))
    return PairExplanation(pair.word, pair.answers, rather, alone)


class Pair(NamedTuple):
    """Two sentences that differ in one word, and have other answers.

    run: of the first, whose answer is compared with the second's. word, answers: as of `PairExplanation`.
    """

    run: AnswerRun
    word: int
    answers: tuple[str, str]


def read_pair(engine: Engine, text: str, other: str) -> Pair:
    """Read what `explain_pair` explains; raises what that raises of the texts."""
    run, second = read_answer(engine, text), read_answer(engine, other)
    word = deciding_word(run.encoding, second.encoding, engine.tokenizer.mask_id)
    answers = _spelled(engine, run), _spelled(engine, second)
    if run.answer == second.answer:
        raise TextProblem(SAME_ANSWER.format(word=answers[0]))
    return Pair(replace(run, against=second.answer), word, answers)


def pair_runs(run: AnswerRun, methods: Iterable[str]) -> tuple[int, float]:
    """Return how often methods run the model to explain an answer twice, and how many whole runs take as long.

    What changes the text tells of both answers what becomes of them, and runs once.
    """
    each = [(1 if name in CHANGES else 2, *method_runs(run, name)) for name in methods]
    return sum(asks * runs for asks, runs, _ in each), sum(asks * whole for asks, _, whole in each)


def pair_seconds(run: AnswerRun, methods: Iterable[str]) -> float:
    """Estimate how long methods take to explain an answer twice."""
    return run_seconds(run.engine, len(run.encoding), pair_runs(run, methods)[1])


def quick_methods(run: AnswerRun, seconds: float) -> list[str]:
    """Return the methods, the quickest first added, that take at most so many seconds together, in their usual order."""
    found: list[str] = []
    for name in sorted(methods_of(run.engine), key=lambda name: method_runs(run, name)[1]):
        if pair_seconds(run, [*found, name]) <= seconds:
            found.append(name)
    return [name for name in METHODS if name in found]


def _spelled(engine: Engine, run: AnswerRun) -> str:
    return engine.tokenizer.readable(run.answer) or engine.tokenizer.word(run.answer)


def deciding_word(one: Encoding, other: Encoding, mask_id: int) -> int:
    """Return the number of the only word in which two texts with one blank each differ; raise TextProblem for any others."""
    blanks = max(side.ids.count(mask_id) for side in (one, other))
    if blanks > 1:
        raise TextProblem(TWO_BLANKS.format(count=blanks))
    if len(one.word_texts) != len(other.word_texts):
        raise TextProblem(OTHER_LENGTH.format(one=len(one.word_texts), other=len(other.word_texts)))
    differing = [number for number, pair in enumerate(zip(one.word_texts, other.word_texts, strict=True)) if len(set(pair)) > 1]
    if not differing:
        raise TextProblem(SAME_SENTENCES)
    if len(differing) > 1:
        words = ", ".join(one.word_texts[number] for number in differing[:5])
        raise TextProblem(SEVERAL_WORDS.format(count=len(differing), words=words))
    return differing[0]


# The pairs


class Template(NamedTuple):
    """Sentences of a kind. {0}: the deciding word, one of a pair in `words`; the other names are keys of `FILLERS`."""

    kind: str
    text: str
    words: Sequence[tuple[str, str]]


def _words(written: str) -> list[str]:
    return written.split()


def _pairs(written: str) -> list[tuple[str, str]]:
    return [tuple(pair.split("/")) for pair in written.split()]


THINGS = _words(
    "lamp basket coat wagon barrel violin carpet statue ladder kettle blanket candle drum lantern saddle cannon mirror fountain"
)
PEOPLE = _words(
    "farmer teacher doctor soldier sailor baker painter singer driver lawyer student captain nurse merchant guard hunter priest"
)
FILLERS = {
    "person": PEOPLE,
    "people": [f"{one}s" for one in PEOPLE],
    "thing": THINGS,
    "place": _words(
        "station harbour factory church museum market hospital castle village forest mountain library theatre garden"
    ),
    "manner": _words("never always probably surely often soon quickly quietly certainly finally"),
    "state": _words("heavy expensive broken dirty ugly famous useful rare dangerous strong empty"),
    "mood": _words("tired angry afraid ill hungry sad happy ready"),
}
NUMBERS = [(one, f"{one}s") for one in THINGS]
GENDERS = _pairs(
    "woman/man girl/boy queen/king mother/father sister/brother aunt/uncle daughter/son wife/husband princess/prince "
    "actress/actor lady/gentleman waitress/waiter grandmother/grandfather niece/nephew"
)
TEMPLATES = (
    Template("number", "The {0} that the {person} bought last week [MASK] very {state}.", NUMBERS),
    Template("verb", "The {people} from the {place} {0} {manner} [MASK] the {thing}.", _pairs("have/will had/would have/can")),
    Template("gender", "The {0} who came with the {people} had lost [MASK] own {thing} again.", GENDERS),
    Template("number", "Behind our {place} the {0} of the {people} [MASK] still {state}.", NUMBERS),
    Template("verb", "Our {person} {0} not [MASK] the {thing} of the {people}.", _pairs("is/does was/did has/could was/should")),
    Template("gender", "When the {0} left the {place}, a {person} asked whether [MASK] was {mood}.", GENDERS),
    Template("number", "Everybody says that the {0} from that {place} [MASK] too {state} for the {people}.", NUMBERS),
    Template("verb", "{0} the {person} really [MASK] that {thing} for the {people}?", _pairs("Had/Did Has/Will Is/Can")),
    Template("gender", "After a day in the {place} the {mood} {0} sat down and closed [MASK] eyes.", GENDERS),
    Template("number", "We know why the {0} beside the big {thing} [MASK] so {state}.", NUMBERS),
    Template("verb", "Why {0} the {person} [MASK] a {thing} from the {place}?", _pairs("did/was has/will had/would")),
    Template("gender", "The {0} raised [MASK] head when the {people} entered the {place}.", GENDERS),
    Template("number", "After the fire the {0} in front of the {place} [MASK] {manner} {state}.", NUMBERS),
    Template("verb", "I {0} {manner} [MASK] to the {person} about the {thing}.", _pairs("have/will had/would have/can")),
    Template("gender", "The {0} opened the {thing} with [MASK] own hands.", GENDERS),
    Template("number", "Look how {state} the {0} of that {person} [MASK] today!", NUMBERS),
    Template("verb", "Nobody in the {place} {0} ever [MASK] such a {thing}.", _pairs("has/will had/would has/could")),
    Template("gender", "At the {place} every {0} must bring [MASK] {thing} along.", GENDERS),
    Template("number", "The {0} under the old {thing} [MASK] found by a {person}.", NUMBERS),
    Template(
        "verb", "The {people} {0} already [MASK] the {thing} when the {person} came.", _pairs("had/were had/could were/would")
    ),
    Template("gender", "The {0} told the {people} that [MASK] would be at the {place}.", GENDERS),
)
"""None of them is like an example of the app, and none was changed after the methods had been seen."""
KINDS = {
    "number": "number of the noun, which the verb agrees with",
    "verb": "auxiliary, which the form of the verb follows",
    "gender": "person, whom the pronoun refers to",
}


def draw_pairs(seed: int = 0) -> Iterator[tuple[int, str, str]]:
    """Draw pairs from the templates in turn, without end: the template's place, the first and the second sentence."""
    chance = random.Random(seed)
    while True:
        for place, (_, text, words) in enumerate(TEMPLATES):
            fillers = {name: chance.choice(options) for name, options in FILLERS.items()}
            pair = chance.sample(chance.choice(words), 2)
            yield place, *(text.format(word, **fillers) for word in pair)


@dataclass(frozen=True)
class RankedPair:
    """A pair, and the rank that each method gives its deciding word among `words` words.

    template: its place in `TEMPLATES`. ranks, alone: of the answer rather than that of the second sentence, and of the answer.
    """

    template: int
    text: str
    other: str
    words: int
    ranks: dict[str, int]
    alone: dict[str, int]

    @property
    def kind(self) -> str:
        """A key of `KINDS`."""
        return TEMPLATES[self.template].kind


class PairReading:
    """Pairs that a model answers differently, as many of each kind, and the ranks of their deciding words.

    A pair is kept where either sentence finds its own answer first, and at least twice as likely as the other sentence's.
    """

    def __init__(self, engine: Engine, pairs: int = PAIRS, seed: int = 0):
        self.model, self.special_tokens, self.wanted = engine.name, engine.tokenizer.special_tokens, pairs
        self.pairs: list[RankedPair] = []
        self.drawn = 0
        self._engine, self._seed = engine, seed

    def updates(self) -> Generator[Progress, None, None]:
        """Read pairs, yielding the progress after each that is drawn."""
        start, engine = time.monotonic(), self._engine
        try:
            for template, text, other in self._asked():
                if is_decided(engine, text, other):
                    self.pairs.append(ranked_pair(template, text, other, explain_pair(engine, text, other)))
                yield Progress(len(self.pairs), self.wanted, time.monotonic() - start)
        finally:
            self._engine = None  # what is kept of it must not keep a large model in memory

    def _asked(self) -> Iterator[tuple[int, str, str]]:
        """Draw different pairs until there are enough of each kind, or too many were drawn."""
        most = {kind: (self.wanted + len(KINDS) - 1 - place) // len(KINDS) for place, kind in enumerate(KINDS)}
        seen = set()
        for template, *pair in draw_pairs(self._seed):
            kind = TEMPLATES[template].kind
            if len(self.pairs) >= self.wanted or self.drawn >= MOST_DRAWN * self.wanted:
                return
            if sum(one.kind == kind for one in self.pairs) < most[kind]:
                self.drawn += 1
                if frozenset(pair) not in seen:
                    seen.add(frozenset(pair))
                    yield template, *pair


def ranked_pair(template: int, text: str, other: str, found: PairExplanation) -> RankedPair:
    """Return the ranks of the deciding word of a pair."""
    ranks, alone = ({one.method: one.rank(found.word) for one in side} for side in (found.rather, found.alone))
    return RankedPair(template, text, other, len(found.rather[0].words), ranks, alone)


def is_decided(engine: Engine, text: str, other: str) -> bool:
    """Return whether either text has its own most likely answer, at least twice as likely as that of the other text."""
    runs = read_answer(engine, text), read_answer(engine, other)
    (mine, yours), logs = (run.answer for run in runs), [log_probabilities(run.logits) for run in runs]
    return logs[0][mine] - logs[0][yours] > MARGIN and logs[1][yours] - logs[1][mine] > MARGIN


# The table


class Share(NamedTuple):
    """How many of some pairs have their deciding word ranked first, and how far the share of them varies.

    low, high: the 95 % interval of the share over templates drawn again, not over pairs: those of a template resemble each other.
    One template tells nothing of others: 0 to 1.
    templates: the share of each template that has pairs, by its place.
    """

    first: int
    pairs: int
    low: float
    high: float
    templates: dict[int, float]

    @property
    def share(self) -> float:
        """0 to 1; 0 of no pair."""
        return self.first / max(self.pairs, 1)


def share_first(found: Iterable[tuple[int, int]]) -> Share:
    """Count the pairs of which a rank is 1. found: of each pair the template and the rank."""
    ranks: dict[int, list[bool]] = {}
    for template, rank in found:
        ranks.setdefault(template, []).append(rank == 1)
    if not ranks:
        return Share(0, 0, 0.0, 1.0, {})
    firsts, sizes = (np.array([float(count(one)) for one in ranks.values()]) for count in (sum, len))
    low, high = bootstrap_interval(firsts[:, None], sizes)[:, 0].tolist() if len(ranks) > 1 else (0.0, 1.0)
    by_template = dict(zip(ranks, (firsts / sizes).tolist(), strict=True))
    return Share(int(firsts.sum()), int(sizes.sum()), low, high, by_template)


def shares_first(pairs: Sequence[RankedPair]) -> dict[str, dict[str, Share]]:
    """Return, for each method that was used, the shares of all pairs ("all") and of each kind, and of all when asked alone."""
    used = [name for name in METHODS if all(name in one.ranks for one in pairs)]
    kinds = {"all": pairs} | {kind: [one for one in pairs if one.kind == kind] for kind in KINDS}
    return {
        name: {kind: share_first((one.template, one.ranks[name]) for one in some) for kind, some in kinds.items()}
        | {"alone": share_first((one.template, one.alone[name]) for one in pairs)}
        for name in used
    }


def chance_first(pairs: Sequence[RankedPair]) -> float:
    """Return how often a word that is chosen at random is the deciding one."""
    return sum(1 / one.words for one in pairs) / len(pairs)


def write_pairs(pairs: Sequence[RankedPair], drawn: int) -> str:
    """Write pairs as a table: the template, from 1, both sentences, how many words are ranked, and both ranks by each method."""
    names = list(pairs[0].ranks)
    head = ["template", "text", "other", f"words, of {drawn} drawn", *names]
    ranks = [[f"{one.ranks[name]} {one.alone[name]}" for name in names] for one in pairs]
    rows = [[str(one.template + 1), one.text, one.other, str(one.words), *row] for one, row in zip(pairs, ranks, strict=True)]
    return "".join("\t".join(row) + "\n" for row in (head, *rows))


def read_pairs(text: str) -> tuple[list[RankedPair], int]:
    """Read what `write_pairs` wrote: the pairs, and how many were drawn."""
    (_, _, _, words, *names), *rows = (line.split("\t") for line in text.splitlines())
    ranks = [[dict(zip(names, side, strict=True)) for side in zip(*(map(int, both.split()) for both in row[4:]), strict=True)]
             for row in rows]  # fmt: skip
    pairs = [RankedPair(int(row[0]) - 1, *row[1:3], int(row[3]), *sides) for row, sides in zip(rows, ranks, strict=True)]
    return pairs, int(words.split()[2])


@lru_cache(maxsize=4)
def stored_pairs(model: str) -> tuple[list[RankedPair], int] | None:
    """Return the pairs that were read by a model that ships, and how many were drawn; None for any other."""
    file = catalogue.MODELS / model / STORED if model == catalogue.DEFAULT else None
    return read_pairs(file.read_text(encoding="utf-8")) if file else None


def main(argv: Sequence[str] | None = None) -> None:
    """Read pairs by a model, write their ranks, and print the shares."""
    options = argparse.ArgumentParser(prog="python -m tx_core.causal.deciding_words", description=__doc__.split("\n")[0])
    options.add_argument("--model", default=catalogue.DEFAULT, help="a model of the list (default: %(default)s)")
    options.add_argument("--pairs", type=int, default=PAIRS, help="how many (default: %(default)s)")
    options.add_argument("--seed", type=int, default=0, help="of the pairs (default: %(default)s)")
    options.add_argument("--out", type=Path, help=f"where the ranks go (default: MODEL.{STORED})")
    given = options.parse_args(argv)
    try:
        reading = PairReading(catalogue.load(given.model), given.pairs, given.seed)
        for done in reading.updates():
            print(f"\rPair {done.done:,} of {done.total:,}", end="", file=sys.stderr, flush=True)
    except ExplorerError as problem:
        options.exit(1, f"{problem}\n")
    out = given.out or Path(f"{given.model.replace('/', '-')}.{STORED}")
    out.write_text(write_pairs(reading.pairs, reading.drawn), encoding="utf-8")
    print(f"\n{len(reading.pairs):,} pairs of {reading.drawn:,}; by chance {chance_first(reading.pairs):.1%}; their ranks: {out}")
    for name, shares in shares_first(reading.pairs).items():
        kinds = "  ".join(f"{kind} {shares[kind].first}/{shares[kind].pairs}" for kind in KINDS)
        found, alone = shares["all"], shares["alone"]
        print(f"{name:16}{found.share:6.1%} ({found.low:.1%} to {found.high:.1%})  {kinds}  alone {alone.share:.1%}")


if __name__ == "__main__":
    main()
