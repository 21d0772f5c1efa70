"""Tokenised texts on disk: each source is tokenised once, stored as 16-bit arrays and memory-mapped."""

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Int, UInt16
from tokenizers import Tokenizer

from tx_core.training.pretraining.corpus import CorpusFile, lines_of

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
        """Where each line begins."""
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
        if not ends_file.exists():  # written last, so that its presence says that both are whole
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
    """Find where sentences end: after . ! or ? with closing quotes and brackets, and at the end of a line.

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
