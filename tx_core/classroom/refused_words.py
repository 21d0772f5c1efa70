"""Words that a class is not shown before its teacher has let them through: swear words and slurs, in English."""

import re
import unicodedata
from functools import cache, lru_cache

from tx_core.settings import ASSETS

SPELLED = str.maketrans("013457@$!", "oieastasi")
"""Digits and signs that are written in place of letters."""
STRETCHED = re.compile(r"(.)\1{2,}")


@lru_cache(4096)
def is_refused(text: str) -> bool:
    """Return whether one of the words of a text is on the list, whatever its capitals, accents and simple disguises."""
    words = (folded(word) for word in re.split(r"[\s\-,;:.?/()]+|!+(?=\s|$)", text))
    return any({STRETCHED.sub(once, word) for once in (r"\1", r"\1\1")} & refused() for word in words)


@cache
def refused() -> frozenset[str]:
    """Return the words of the list."""
    lines = (ASSETS / "sentences" / "refused_words.txt").read_text("utf-8").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


def folded(word: str) -> str:
    """Return a word in small letters, without accents and signs, digits in place of letters read as these."""
    return re.sub(r"[^a-z]", "", unicodedata.normalize("NFKD", word.casefold()).translate(SPELLED))
