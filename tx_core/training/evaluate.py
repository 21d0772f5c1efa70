"""Measure a checkpoint: python -m tx_core.training.evaluate CHECKPOINT --data EVALDATA --held-out TEXTS

Prints one table; also writes it into the model card (--card), and the relations of grammar that each head follows (--grammar). A
part is measured where its folder is given: blimp, marvin_linzen, ud_english_ewt and capitals in --data, *.txt in --held-out. Of a
causal language model it measures held_out, blimp and agreement, and shows how it continues a few beginnings.
"""

import argparse
import math
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tx_core.analysis.grammar import MIN_GAIN, Direction, HeadRelation, write_grammar
from tx_core.corpus.find_heads import Condition, HeadsFound, Relation, count_hits
from tx_core.corpus.sentence_file import Sentences, read_sentences
from tx_core.corpus.statistics import read_all
from tx_core.corpus.words import AttendedWords
from tx_core.engine.bert_engine import OwnEngine, load_own_engine
from tx_core.engine.catalogue import directory_name
from tx_core.engine.engine import Engine
from tx_core.errors import ExplorerError
from tx_core.fill_mask.next_words import Sampling, write_words
from tx_core.training.evaluation.predictions import (
    HERE,
    by_phenomenon,
    capital_prompts,
    measure_cloze,
    measure_held_out,
    read_agreement,
    read_blimp,
    read_prompts,
    share_likelier,
)
from tx_core.training.pretraining.export import with_evaluation
from tx_core.transformer.interventions import Head

TREEBANK_FILE = Path("ud_english_ewt") / "en_ewt-ud-dev.conllu"
CAPITALS = Path("capitals") / "heldout_capitals.tsv"
CARD = "README.md"
NO_FILES = "there is no {pattern} in {folder}"

BEGINNINGS = (
    "once upon a time",
    "the old man went to the",
    "she opened the door and",
    "london is the",
    "water is made of",
    "i am very happy because",
)
"""What a writer continues, in the order of its card; none was chosen for what came out."""
CONTINUED_BY = 24
MIN_OCCURRENCES = 50
"""Occurrences in either half below which a relation is left out."""
NO_RELATIONS = ("", "root", "punct")
"""Of Universal Dependencies, those that lead to no word, or from none."""

Rows = Iterator[tuple[str, str]]
"""Label and value of figures, as the table has them."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run from the command line; return 0 when measured, 2 if the checkpoint or data cannot be read."""
    options = _parser().parse_args(argv)
    name = directory_name(options.checkpoint)
    try:
        measured = list(measure(load_own_engine(options.checkpoint, name, name), options))
    except (ExplorerError, OSError) as problem:
        print(f"evaluate: {problem}", file=sys.stderr)
        return 2
    table = [f"| | {name} |", "|---|--:|", *(f"| {label} | {figures} |" for label, figures in measured)]
    print("\n".join(table))
    if options.card:
        card = options.checkpoint / CARD
        before = card.read_text(encoding="utf-8") if card.exists() else ""
        card.write_text(with_evaluation(before, table, options.sample), encoding="utf-8")
    return 0


def measure(engine: OwnEngine, options: argparse.Namespace) -> Rows:
    """Measure all that is asked for and that the data and the model allow."""
    kind = "causal" if engine.info.predicts_next else "masked" if engine.info.fills_blanks else "headless"
    for name, part in TABLE_PARTS.items():
        if kind in part.kinds and all(getattr(options, need) for need in part.needs) and name in (options.only or TABLE_PARTS):
            began = time.monotonic()
            yield from part.rows(engine, options)
            print(f"{name} in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


def held_out_rows(engine: OwnEngine, options: argparse.Namespace) -> Rows:
    """Measure predictions on held-out texts."""
    files, is_causal = sorted(options.held_out.glob("*.txt")), engine.info.predicts_next
    if not files:
        raise FileNotFoundError(NO_FILES.format(pattern="*.txt", folder=options.held_out))
    for source, found in measure_held_out(engine, files, options.lines).items():
        label = f"held out, {source}:{' perplexity /' if is_causal else ''} nats a piece / guessed first / nats a whole word"
        perplexity = f"{math.exp(found.loss):.1f} / " if is_causal else ""
        yield label, f"{perplexity}{found.loss:.2f} / {_percent(found.accuracy)} / {found.word_loss:.2f}"


def blimp_rows(engine: OwnEngine, options: argparse.Namespace) -> Rows:
    """Measure how often the grammatical sentence of a pair of BLiMP is the likelier one."""
    pairs = read_blimp(options.data / "blimp", options.sample)
    if not pairs:
        raise FileNotFoundError(NO_FILES.format(pattern="*.jsonl", folder=options.data / "blimp"))
    for phenomenon, share in by_phenomenon(share_likelier(engine, pairs), pairs).items():
        yield f"BLiMP, {phenomenon.replace('_', ' ')}", _percent(share)


def agreement_rows(engine: OwnEngine, options: argparse.Namespace) -> Rows:
    """Measure the same of subject-verb agreement."""
    for kind, share in share_likelier(engine, read_agreement(options.data / "marvin_linzen", options.sample)).items():
        yield f"subject-verb agreement, {kind}", _percent(share)


def cloze_rows(engine: OwnEngine, options: argparse.Namespace) -> Rows:
    """Measure how blanks in sentences of everyday life, facts and capitals are filled."""
    lists = {
        "everyday": read_prompts(HERE / "everyday_cloze.tsv"),
        "facts": read_prompts(HERE / "basic_facts.tsv"),
        "capitals, other": capital_prompts(HERE / "seen_capitals.tsv"),
    }
    if options.data:
        lists["capitals, wording never seen"] = capital_prompts(options.data / CAPITALS)
    for name, prompts in lists.items():
        label = f"{name} ({len(prompts)}): top-1 / top-5 / top-20 / in the vocabulary"
        yield label, " / ".join(map(_percent, measure_cloze(engine, prompts)))


def head_rows(engine: OwnEngine, options: argparse.Namespace) -> Rows:
    """Measure where heads look on a treebank; store which relations each follows where that is asked for."""
    with (options.data / TREEBANK_FILE).open("rb") as treebank:
        sentences = read_sentences(treebank, TREEBANK_FILE.name)
    best, followed = measure_heads(engine, sentences)
    if options.grammar:
        write_grammar(options.checkpoint, followed)
    gains = [one.accuracy - one.baseline for one in best]
    if gains:
        yield "relations where a head beats the best offset by 10 points", f"{sum(g >= 0.1 for g in gains)} of {len(gains)}"
    for one in best:
        place = f"{one.layer + 1}.{one.head + 1} {one.direction}"
        figures = f"{_percent(one.accuracy)} ({place}) / {_percent(one.baseline)} ({one.offset:+d})"
        yield f"relation {one.relation}: best head / best offset", figures


def measure_heads(engine: Engine, treebank: Sentences) -> tuple[tuple[HeadRelation, ...], tuple[HeadRelation, ...]]:
    """Measure all heads over the annotated sentences of two words or more; raise ValueError if the model can read none.

    Returns for each relation its best head, with the best fixed offset as its baseline (Clark et al. 2019, table 1), both chosen
    on one half of the sentences and measured on the other; and all relations that each head follows.
    """
    longer = [(text, line) for text, line in zip(treebank.texts, treebank.lines, strict=True) if " " in text]
    texts, lines = zip(*longer, strict=True)
    report = read_all(engine, replace(treebank, texts=texts, lines=lines))
    if report is None or report.attended is None:
        raise ValueError("the model can read none of the sentences")
    names = sorted({word.deprel.split(":")[0] for word in report.attended.words} - set(NO_RELATIONS))
    measured = {name: halves for name in names if (halves := _halves(report.attended, name))}
    followed = (one for name, found in measured.items() for way, halves in found.items() for one in _followed(name, way, *halves))
    return tuple(_best(name, found) for name, found in measured.items()), tuple(followed)


Halves = dict[Direction, tuple[HeadsFound, HeadsFound]]
"""Of a relation, what is found in every other sentence and in the rest, in each direction."""


def _halves(words: AttendedWords, name: str) -> Halves | None:
    """Count how often each head follows a relation; None for a rare one."""
    condition = Condition("deprel", re.escape(name))
    ways = {"to head": Relation(query=condition, link="head"), "to dependent": Relation(key=condition, link="dependent")}
    found = {direction: count_hits(words, relation) for direction, relation in ways.items()}
    halves = {direction: tuple(one.among(one.sentences % 2 == half) for half in (0, 1)) for direction, one in found.items()}
    return halves if min(one.occurrences for pair in halves.values() for one in pair) >= MIN_OCCURRENCES else None


def _best(name: str, found: Halves) -> HeadRelation:
    """Return the head that finds most in the first half, in the direction in which it finds most above the best offset."""
    direction = max(found, key=lambda one: found[one][0].shares.max() - found[one][0].baseline)
    return _relation(name, direction, *found[direction], found[direction][0].best)


def _followed(name: str, direction: Direction, chosen_on: HeadsFound, measured_on: HeadsFound) -> Iterator[HeadRelation]:
    """List the heads that find the other end MIN_GAIN more often than the best offset, in both halves."""
    gains = [half.shares - half.share_at(chosen_on.offset) for half in (chosen_on, measured_on)]
    for layer, head in np.argwhere(np.minimum(*gains) >= MIN_GAIN).tolist():
        found = _relation(name, direction, chosen_on, measured_on, (layer, head))
        yield replace(found, accuracy=round(found.accuracy, 4), baseline=round(found.baseline, 4))


def _relation(name: str, direction: Direction, chosen_on: HeadsFound, measured_on: HeadsFound, head: Head) -> HeadRelation:
    shares = float(measured_on.shares[head]), measured_on.share_at(chosen_on.offset)
    return HeadRelation(*head, name, direction, *shares, chosen_on.offset, measured_on.occurrences)


def continuation_rows(engine: OwnEngine, options: argparse.Namespace) -> Rows:
    """Continue a few texts without chance, which soon repeats itself, and by chance."""
    ways = {"the most probable tokens": Sampling(top_k=1), "tokens drawn, seed 0": Sampling()}
    for beginning in BEGINNINGS:
        for how, sampling in ways.items():
            written = write_words(engine, beginning, CONTINUED_BY, seed=0, sampling=sampling)
            text = engine.tokenizer.backend.decode(list(written)).strip().replace("|", r"\|")
            yield f"“{beginning} …”, continued by {how}", text


class TablePart(NamedTuple):
    """A part of the table: its rows, the kinds of models that it is for, and the options that it needs."""

    rows: Callable[..., Rows]
    kinds: tuple[str, ...]
    needs: tuple[str, ...] = ()


TABLE_PARTS = {
    "held_out": TablePart(held_out_rows, ("masked", "causal"), ("held_out",)),
    "blimp": TablePart(blimp_rows, ("masked", "causal"), ("data",)),
    "agreement": TablePart(agreement_rows, ("masked", "causal"), ("data",)),
    "cloze": TablePart(cloze_rows, ("masked",)),
    "heads": TablePart(head_rows, ("masked", "headless"), ("data",)),
    "continuations": TablePart(continuation_rows, ("causal",)),
}


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tx_core.training.evaluate", description="Measure a checkpoint.")
    parser.add_argument("checkpoint", type=Path, metavar="CHECKPOINT", help="folder in the hub's layout")
    parser.add_argument("--data", type=Path, help="folder with blimp, marvin_linzen, ud_english_ewt and capitals")
    parser.add_argument("--held-out", type=Path, help="folder of held-out *.txt, one source each")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="pairs of each BLiMP paradigm and set; 0: all")
    parser.add_argument("--lines", type=int, default=150, metavar="N", help="held-out lines of each source (150)")
    parser.add_argument("--only", nargs="+", choices=TABLE_PARTS, metavar="PART", help=", ".join(TABLE_PARTS))
    parser.add_argument("--card", action="store_true", help="put the table into the checkpoint's README.md")
    parser.add_argument("--grammar", action="store_true", help="store which relations each head follows beside it")
    return parser


if __name__ == "__main__":
    sys.exit(main())
