"""The texts of a pre-training: files, one example per line, how often each is read, and their tokens on disk.

Each source is tokenised once, stored as 16-bit arrays and memory-mapped.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np
from jaxtyping import Bool, Int, UInt16
from tokenizers import Tokenizer

from tx_core.errors import ExplorerError

MIX, SOURCES, HELD_OUT = "mix.json", "SOURCES.md", "valid"
# Control characters, other than tab, line feed and carriage return, mark a file as binary.
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
    """Read the list of sources of a folder, with their hashes.

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
    """Read the list of held-out texts in the folder `valid`; empty without such a folder."""
    folder = directory / HELD_OUT
    return tuple(_checked(file.stem, file, 1.0) for file in sorted(folder.glob("*.txt")))


def lines_of(file: Path) -> Iterator[str]:
    """Yield the lines of a text that are not blank."""
    with file.open(encoding="utf-8") as text:
        yield from (line.strip() for line in text if line.strip())


def _weights(directory: Path, mix: str) -> Mapping[str, float]:
    if not (directory / MIX).exists():
        return {file.stem: 1.0 for file in directory.glob("*.txt")}
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


LINES_AT_ONCE = 2_000
_ENDS_A_SENTENCE = (".", "!", "?")
_MAY_FOLLOW_THE_END = ('"', "'", ")", "]")


@dataclass(frozen=True)
class TokenisedSource:
    """One tokenised source.

    Attributes:
        name: As of its Source.
        weight: As of its Source.
        ids: All its lines in a row, memory-mapped.
        line_ends: Where each line ends.
    """

    name: str
    weight: float
    ids: UInt16[np.ndarray, "piece"]
    line_ends: Int[np.ndarray, "line"]

    @property
    def starts(self) -> Int[np.ndarray, "line"]:
        """The start of each line."""
        return np.concatenate((np.zeros(1, np.int64), self.line_ends[:-1]))


def tokenise(
    sources: Sequence[CorpusFile], backend: Tokenizer, folder: Path, tell: Callable[[str], None] = lambda line: None
) -> tuple[TokenisedSource, ...]:
    """Tokenise every source, or load it from the folder of an earlier run.

    Files are named by the hashes of text and vocabulary, so that a changed text is tokenised again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = hashlib.sha256(backend.to_str().encode()).hexdigest()
    tokenised = []
    for source in sources:
        key = hashlib.sha256(f"{source.sha256} {vocabulary}".encode()).hexdigest()[:16]
        ids_file, ends_file = folder / f"{source.name}-{key}.uint16", folder / f"{source.name}-{key}.ends.npy"
        if not ends_file.exists():  # written last, so its presence means that both files are complete
            tell(f"tokenising {source.name}: {source.lines:,} lines")
            _write(source.file, backend, ids_file, ends_file)
        ends = np.load(ends_file)
        ids = np.memmap(ids_file, dtype=np.uint16, mode="r") if len(ends) else np.zeros(0, np.uint16)
        tokenised.append(TokenisedSource(source.name, source.weight, ids, ends))
    return tuple(tokenised)


def _write(text: Path, backend: Tokenizer, ids_file: Path, ends_file: Path) -> None:
    """Tokenise line by line; an interrupted run leaves nothing under the final names."""
    unfinished_ids = ids_file.with_suffix(f".{os.getpid()}")
    unfinished_ends = ends_file.with_suffix(f".{os.getpid()}.npy")
    lengths: list[int] = []
    lines = lines_of(text)
    with unfinished_ids.open("wb") as out:
        while chunk := list(islice(lines, LINES_AT_ONCE)):
            read = [line.ids for line in backend.encode_batch_fast(chunk, add_special_tokens=False)]
            lengths.extend(len(ids) for ids in read if ids)
            out.write(np.fromiter((number for ids in read for number in ids), np.uint16).tobytes())
    np.save(unfinished_ends, np.cumsum(lengths, dtype=np.int64))
    os.replace(unfinished_ids, ids_file)
    os.replace(unfinished_ends, ends_file)


def sentence_ends(
    ids: UInt16[np.ndarray, "piece"], line_ends: Int[np.ndarray, "line"], pieces: Sequence[str]
) -> Int[np.ndarray, "sentence"]:
    """Return the ends of sentences: after . ! or ? with closing quotes and brackets, and at the end of a line.

    Abbreviations end a sentence, too, which does no harm to training.
    """
    ends = _belongs(ids, pieces, _ENDS_A_SENTENCE)
    closes = _belongs(ids, pieces, _MAY_FOLLOW_THE_END)
    for _ in range(2):  # as in: He said, "(Why?)"
        follows = np.concatenate(([False], ends[:-1])) & closes
        ends = (ends & ~np.concatenate((follows[1:], [False]))) | follows
    places = np.flatnonzero(ends) + 1
    return np.union1d(places, line_ends).astype(np.int64)


def _belongs(ids: UInt16[np.ndarray, "piece"], pieces: Sequence[str], wanted: Sequence[str]) -> Bool[np.ndarray, "piece"]:
    table = np.zeros(len(pieces), dtype=bool)
    table[[number for number, piece in enumerate(pieces) if piece in wanted]] = True
    return table[ids]
