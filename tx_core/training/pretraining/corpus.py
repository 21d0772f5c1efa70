"""Text files: one source per file, one example per line, and a weight that says how often each source is read."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tx_core.errors import ExplorerError

MIX, SOURCES, HELD_OUT = "mix.json", "SOURCES.md", "valid"
# What no text contains: control characters other than tab, line feed and carriage return.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


class CorpusProblem(ExplorerError):
    """The texts, the mix or the vocabulary cannot be used; the message names the file and the remedy."""


@dataclass(frozen=True)
class CorpusFile:
    """One text file.

    Attributes:
        name: The file without its ending.
        file: Its path.
        weight: How often each line is read per pass; a fraction is a probability.
        sha256: The hash of the file.
        lines: Its lines that are not blank.
    """

    name: str
    file: Path
    weight: float
    sha256: str
    lines: int


def read_corpus(directory: Path, mix: str) -> tuple[CorpusFile, ...]:
    """Find, check and hash the sources of a folder.

    With a mix.json, the sources are those of its entry `mix` (or its own, if it is flat); otherwise every *.txt has weight 1.

    Raises:
        CorpusProblem: For a file that is missing, empty, binary, not UTF-8 or without words, or a weight that is not positive.
    """
    if not directory.is_dir():
        raise CorpusProblem(f"There is no folder of texts at {directory}: name one that holds *.txt files.")
    weights = _weights(directory, mix)
    if not weights:
        raise CorpusProblem(f"{directory} holds no *.txt file: put one file a source there, one example a line.")
    return tuple(_checked(name, directory / f"{name}.txt", weight) for name, weight in sorted(weights.items()))


def read_held_out(directory: Path) -> tuple[CorpusFile, ...]:
    """Find and check the held-out texts in the folder `valid`; empty without such a folder."""
    folder = directory / HELD_OUT
    return tuple(_checked(file.stem, file, 1.0) for file in sorted(folder.glob("*.txt")))


def lines_of(file: Path) -> Iterator[str]:
    """Yield the lines of a text that are not blank."""
    with file.open(encoding="utf-8") as text:
        yield from (line.strip() for line in text if line.strip())


def _weights(directory: Path, mix: str) -> Mapping[str, float]:
    if not (directory / MIX).exists():
        return {file.stem: 1.0 for file in directory.glob("*.txt") if not file.stem.startswith("vocab")}
    try:
        content = json.loads((directory / MIX).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as broken:
        raise CorpusProblem(f"{MIX} is not JSON: {broken}") from broken
    weights = content.get(mix, content) if isinstance(content, dict) else None
    numeric = isinstance(weights, dict) and all(isinstance(w, int | float) and w > 0 for w in weights.values())
    if not numeric:
        named = [name for name, entry in content.items() if isinstance(entry, dict)] if isinstance(content, dict) else []
        raise CorpusProblem(f"{MIX} has no mix named {mix!r} with a weight above 0 for each source; it has: {', '.join(named)}.")
    return {name: float(weight) for name, weight in weights.items()}


def _checked(name: str, file: Path, weight: float) -> CorpusFile:
    if not file.is_file():
        raise CorpusProblem(f"{file.name} is in {MIX} but not in {file.parent}: add the file or take the source out.")
    with file.open("rb") as content:
        digest, lines = _scan(file.name, content)
    return CorpusFile(name, file, float(weight), digest, lines)


def _scan(name: str, content: BinaryIO) -> tuple[str, int]:
    """Read a file once: its SHA-256 and its lines with something in them."""
    digest, lines, number = hashlib.sha256(), 0, 0
    for number, line in enumerate(content, start=1):
        digest.update(line)
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as broken:
            raise CorpusProblem(
                f"{name} is not UTF-8 text (line {number}, byte {broken.start + 1}): save it as UTF-8."
            ) from broken
        if _CONTROL.search(text):
            raise CorpusProblem(f"{name} is binary, or holds control characters (line {number}): only plain text is read.")
        lines += any(character.isalpha() for character in text)
    if number == 0:
        raise CorpusProblem(f"{name} is empty: fill it or take the source out.")
    if lines == 0:
        raise CorpusProblem(f"{name} holds no words: fill it or take the source out.")
    return digest.hexdigest(), lines
