"""The texts of a pre-training: files, one example per line, how often each is read, and their tokens on disk.

Each source is tokenised once, stored as 16-bit arrays and memory-mapped.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int, UInt16
from tokenizers import Tokenizer

from tx_core.errors import ExplorerError

MIX, SOURCES, HELD_OUT = "mix.json", "SOURCES.md", "valid"
LINES_AT_ONCE = 2_000
_ENDS_A_SENTENCE = (".", "!", "?")
_MAY_FOLLOW_THE_END = ('"', "'", ")", "]")


class CorpusProblem(ExplorerError):
    """The texts, the mix or the vocabulary cannot be used; the message names the file and the remedy."""


class CorpusFile(NamedTuple):
    """One text file. weight: how often each line is read per pass; a fraction is a probability."""

    name: str
    file: Path
    weight: float
    sha256: str
    lines: int


class TokenisedSource(NamedTuple):
    """One tokenised source: its weight, the ids of all its lines in a row, memory-mapped, and where each line ends."""

    weight: float
    ids: UInt16[np.ndarray, "piece"]
    line_ends: Int[np.ndarray, "line"]

    @property
    def starts(self) -> Int[np.ndarray, "line"]:
        return np.concatenate((np.zeros(1, np.int64), self.line_ends[:-1]))


def read_corpus(directory: Path, mix: str) -> tuple[CorpusFile, ...]:
    """Read the list of sources of a folder, with their hashes.

    With a mix.json, the sources are those of its entry `mix`; otherwise every *.txt has weight 1.

    Raises CorpusProblem for a file that is missing, not UTF-8 or without words, or a weight that is not positive.
    """
    weights = _weights(directory, mix)
    if not weights:
        raise CorpusProblem(f"{directory} holds no *.txt file: put one file a source there, one example a line.")
    return tuple(read_source(directory / f"{name}.txt", weight) for name, weight in sorted(weights.items()))


def lines_of(file: Path) -> Iterator[str]:
    """Yield the lines of a text that are not blank."""
    with file.open(encoding="utf-8") as text:
        yield from (line.strip() for line in text if line.strip())


def _weights(directory: Path, mix: str) -> Mapping[str, float]:
    if not (directory / MIX).exists():
        return {file.stem: 1.0 for file in directory.glob("*.txt")}
    try:
        mixes = json.loads((directory / MIX).read_text(encoding="utf-8"))
        weights = {name: float(weight) for name, weight in mixes.get(mix, {}).items()}
    except (ValueError, TypeError, AttributeError) as broken:
        raise CorpusProblem(f"{MIX} must name mixes, each with a number for every source: {broken}.") from broken
    if not weights or not all(weight > 0 for weight in weights.values()):
        raise CorpusProblem(f"{MIX} has no mix named {mix!r} with a weight above 0 for each source; it has: {', '.join(mixes)}.")
    return weights


def read_source(file: Path, weight: float) -> CorpusFile:
    """Read a text: its hash, and its number of lines with words. Raises CorpusProblem where it cannot be read or has none."""
    if not file.is_file():
        raise CorpusProblem(f"{file.name} is in {MIX} but not in {file.parent}: add the file or take the source out.")
    try:
        lines = sum(any(map(str.isalpha, line)) for line in lines_of(file))
    except UnicodeDecodeError as broken:
        raise CorpusProblem(f"{file.name} is not UTF-8 text: save it as UTF-8.") from broken
    if lines == 0:
        raise CorpusProblem(f"{file.name} holds no words: fill it or take the source out.")
    with file.open("rb") as content:
        return CorpusFile(file.stem, file, weight, hashlib.file_digest(content, "sha256").hexdigest(), lines)


def tokenise(sources: Sequence[CorpusFile], backend: Tokenizer, folder: Path) -> tuple[TokenisedSource, ...]:
    """Tokenise every source, or load it from the folder of an earlier run.

    Files are named by the hashes of text and vocabulary, so that a changed text is tokenised again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = backend.to_str()
    tokenised = []
    for source in sources:
        key = hashlib.sha256(f"{source.sha256} {vocabulary}".encode()).hexdigest()[:16]
        ids_file, ends_file = folder / f"{source.name}-{key}.uint16", folder / f"{source.name}-{key}.ends.npy"
        if not ends_file.exists():  # written last, so its presence means that both files are complete
            print(f"tokenising {source.name}: {source.lines:,} lines", flush=True)
            _write(source.file, backend, ids_file, ends_file)
        tokenised.append(TokenisedSource(source.weight, np.memmap(ids_file, dtype=np.uint16, mode="r"), np.load(ends_file)))
    return tuple(tokenised)


def _write(text: Path, backend: Tokenizer, ids_file: Path, ends_file: Path) -> None:
    """Tokenise line by line; an interrupted run leaves no file of ends."""
    unfinished = ends_file.with_suffix(f".{os.getpid()}.npy")
    lengths: list[int] = []
    lines = lines_of(text)
    with ids_file.open("wb") as out:
        while chunk := list(islice(lines, LINES_AT_ONCE)):
            read = [line.ids for line in backend.encode_batch_fast(chunk, add_special_tokens=False)]
            lengths.extend(len(ids) for ids in read if ids)
            out.write(np.fromiter((number for ids in read for number in ids), np.uint16).tobytes())
    np.save(unfinished, np.cumsum(lengths, dtype=np.int64))
    os.replace(unfinished, ends_file)


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
    return np.union1d(np.flatnonzero(ends) + 1, line_ends).astype(np.int64)


def _belongs(ids: UInt16[np.ndarray, "piece"], pieces: Sequence[str], wanted: Sequence[str]) -> Bool[np.ndarray, "piece"]:
    return np.isin(pieces, wanted)[ids]
