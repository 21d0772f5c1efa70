"""Sets of prompts that are made from templates: minimal pairs, which a model that fills blanks and one that writes both read.

Each has ten phrases in four forms; two groups, half of the forms each, are told apart.

    python -m tx_core.causal.prompt_sets

measures the sets with the embedded model, each ablation in turn, and keeps the scores beside it, for the page Importance.
"""

import sys
from pathlib import Path
from typing import get_args

from tx_core.causal.importance import Ablation, importance
from tx_core.engine import catalogue

NOUNS = (
    ("key", "keys"), ("dog", "dogs"), ("picture", "pictures"), ("door", "doors"), ("letter", "letters"),
    ("car", "cars"), ("tree", "trees"), ("teacher", "teachers"), ("flower", "flowers"), ("window", "windows"),
)  # fmt: skip
PEOPLE = (("Mary", "John"), ("Anna", "Tom"))
OWNED = ("lost {} keys", "opened {} book", "called {} mother", "found {} shoes", "sat in {} car",
         "closed {} eyes", "read {} letter", "washed {} hands", "sold {} house", "talked to {} friend")  # fmt: skip
VERBS = (
    ("went", "go", "to school"), ("saw", "see", "a film"), ("took", "take", "the bus"), ("wrote", "write", "a letter"),
    ("ate", "eat", "an apple"), ("drank", "drink", "some tea"), ("came", "come", "home"),
    ("made", "make", "a cake"), ("bought", "buy", "some bread"), ("met", "meet", "a friend"),
)  # fmt: skip
SCORES = catalogue.MODELS / catalogue.DEFAULT / "importance"


def _pair(sentence: str, good: str, bad: str, phrase: str, group: str) -> dict[str, str]:
    sentences = {"sentence_good": sentence.format(good), "sentence_bad": sentence.format(bad)}
    return sentences | {"phrase": phrase, "group": group}


def _agreement() -> list[dict[str, str]]:
    """Every noun in both numbers before each number of another one; from line to line the right answer changes."""
    found = []
    for place, noun in enumerate(NOUNS):
        for between in NOUNS[(place + 3) % len(NOUNS)]:
            for number, one in enumerate(noun):
                answers, group = ("is", "are")[:: 1 - 2 * number], ("singular subjects", "plural subjects")[number]
                found.append(_pair(f"The {one} near the {between} {{}} old.", *answers, noun[0], group))
    return found


def _gender() -> list[dict[str, str]]:
    return [
        _pair(f"{name} {owned}.", *("her", "his")[:: 1 - 2 * number], owned, ("women's names", "men's names")[number])
        for owned in OWNED
        for people in PEOPLE
        for number, name in enumerate(people)
    ]


def _tense() -> list[dict[str, str]]:
    return [
        _pair(f"{when} {who} {{}} {what}.", *(past, present)[:: 1 - 2 * number], f"{present} {what}", f"“{when}”")
        for past, present, what in VERBS
        for who in ("I", "they")
        for number, when in enumerate(("Yesterday", "Every day"))
    ]


_SETS = {"agreement": _agreement, "gender": _gender, "tense": _tense}
PROMPT_SETS = tuple(_SETS)


def prompt_set(name: str) -> list[dict[str, str]]:
    """Return the minimal pairs of one of PROMPT_SETS, as `importance` takes them, with `phrase` and `group`."""
    return _SETS[name]()


def kept_scores(name: str, ablation: Ablation) -> Path:
    """Return the file that holds the embedded model's scores of a set, as `importance` keeps them."""
    return SCORES / f"{name}-{ablation}.jsonl"


def main() -> None:
    """Measure every set with the embedded model, where the kept scores are missing."""
    SCORES.mkdir(exist_ok=True)
    engine = catalogue.load(catalogue.DEFAULT)
    for name in PROMPT_SETS:
        for ablation in get_args(Ablation):
            importance(engine, prompt_set(name), ablation, kept_in=kept_scores(name, ablation))
            print(f"{name}, {ablation}: measured", file=sys.stderr)


if __name__ == "__main__":
    main()
