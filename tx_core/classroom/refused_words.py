"""Words that a class is not shown before its teacher has let them through: swear words and slurs, in English."""

import re
import unicodedata
from functools import cache, lru_cache
from itertools import accumulate, groupby

from tx_core.settings import ASSETS

SPELLED = str.maketrans("013457@$!" + "аеіїјкмнорѕстухԁ" + "αεικνορτυ", "oieastasi" + "aeiijkmhopsctyxd" + "aeiknoptu")
"""Digits, signs, and Cyrillic and Greek letters that are written in place of Latin ones."""
WITHIN = ("arsehole", "asshole", "bastard", "bitch", "faggot", "fuck", "whore")
"""Those that are refused also within another word: no ordinary word holds one."""
REPEATED = re.compile(r"(.)\1+")
MAX_JOINED = 26
"""Parts of a text that are read as one word: the letters of the longest, twice."""
BETWEEN_WORDS = re.compile(r"[\s\-_,;:.?/()*]+|!+(?=\s|$)")


@lru_cache(4096)
def is_refused(text: str) -> bool:
    """Return whether one of the words of a text is on the list, whatever its capitals, accents and simple disguises: letters
    doubled, set apart or of another alphabet, a plural, for some also a word around it."""
    words = [folded(word) for word in BETWEEN_WORDS.split(text)]
    if any(within_pattern().search(word) or refused_pattern().fullmatch(word) for word in words):
        return True
    for place in range(len(words)):
        for joined in accumulate(words[place : place + MAX_JOINED]):  # "f u c k", and "fu ck", but not within "push it"
            if REPEATED.sub(r"\1", joined) not in beginnings():
                break
            if refused_pattern().fullmatch(joined):
                return True
    return False


@cache
def refused() -> frozenset[str]:
    """Return the words of the list."""
    lines = (ASSETS / "sentences" / "refused_words.txt").read_text("utf-8").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


@cache
def refused_pattern() -> re.Pattern[str]:
    """Return a pattern of all words of the list and their plurals."""
    return re.compile("|".join(spellings(form, len(word) < 4) for word in sorted(refused()) for form in (word, *plurals(word))))


@cache
def beginnings() -> frozenset[str]:
    """Return how the words of the list and their plurals begin, letters that stand twice taken once."""
    forms = [REPEATED.sub(r"\1", form) for word in refused() for form in (word, *plurals(word))]
    return frozenset(form[:end] for form in forms for end in range(len(form) + 1))


@cache
def within_pattern() -> re.Pattern[str]:
    """Return a pattern of what is refused within other words."""
    return re.compile("|".join(map(spellings, WITHIN)))


def spellings(word: str, is_short: bool = False) -> str:
    """Return a pattern of a word whose letters may be repeated; those of a short one from three on, since "woop" is no "wop"."""
    runs = [(letter, len(list(run))) for letter, run in groupby(word)]
    return "".join(f"{letter}(?:{letter}{{2,}})?" if is_short else f"{letter}{{{count},}}" for letter, count in runs)


def plurals(word: str) -> list[str]:
    """Return the plurals of a word as they are written: "spic" has none in -es, which is a word of another kind."""
    if word.endswith("y"):
        return [f"{word[:-1]}ies", f"{word}s"]
    return [f"{word}es" if re.search("([sxz]|[cs]h)$", word) else f"{word}s", f"{word}z"]


def folded(word: str) -> str:
    """Return a word in small letters, without accents and signs, what stands in place of Latin letters read as these."""
    return re.sub(r"[^a-z]", "", unicodedata.normalize("NFKD", word.casefold()).translate(SPELLED))
