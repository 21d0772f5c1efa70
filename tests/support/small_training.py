"""A pre-training of seconds, for tests: its corpus, made from a few words, its settings, and the command called with them."""

import itertools
from pathlib import Path
from typing import Any

from tx_core.training import pretrain
from tx_core.training.pretraining.training import Pretraining

SUBJECTS = ("the cat", "a dog", "my sister", "the old man", "our teacher", "a bird")
VERBS = ("sees", "likes", "follows", "remembers", "hears")
OBJECTS = ("the moon", "a red ball", "his brother", "unbelievable translations", "the garden")


def sentences() -> list[str]:
    """All 150 combinations."""
    return [f"{s} {v} {o}.".capitalize() for s, v, o in itertools.product(SUBJECTS, VERBS, OBJECTS)]


def write_corpus(folder: Path) -> Path:
    """Write `short.txt` (a sentence a line), `long.txt` (paragraphs of five) and `valid/short.txt`."""
    made = sentences()
    (folder / "valid").mkdir(parents=True)
    (folder / "short.txt").write_text("\n".join(made[:120]) + "\n", encoding="utf-8")
    (folder / "long.txt").write_text("\n".join(" ".join(made[i : i + 5]) for i in range(0, 150, 5)) + "\n", encoding="utf-8")
    (folder / "valid" / "short.txt").write_text("\n".join(made[120:]) + "\n", encoding="utf-8")
    return folder


SMALL = [
    *("--vocabulary-size", "90", "--layers", "2", "--heads", "3", "--hidden", "24", "--intermediate", "40"),
    *("--positions", "32", "--batch-tokens", "128", "--threads", "1", "--seed", "4", "--peak-rate", "5e-3"),
    *("--warm-up-steps", "2", "--report-steps", "5", "--grown", "2", "--mean-decay", "0.9"),
]


def train(corpus: Path, out: Path, *more: str) -> Path:
    """Run the command to its end; give the folder of the model."""
    assert pretrain.main(["--corpus", str(corpus), "--out", str(out), *SMALL, *more]) == 0
    return out / "model"


def prepared(corpus: Path, out: Path, *more: str) -> tuple[Pretraining, dict[str, Any]]:
    """Build the run that the command would begin or go on with, and its facts."""
    options = pretrain.parser().parse_args(["--corpus", str(corpus), "--out", str(out), *SMALL, *more])
    return pretrain.prepare(options)
