"""A small corpus for tests of pre-training: sentences made from a few words, two sources, one held out."""

import itertools
from pathlib import Path

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
