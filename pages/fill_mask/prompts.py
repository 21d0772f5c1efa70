"""The examples of the fill-mask page: one prompt, or two to compare, words to ask for, and what to notice."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "assets" / "examples" / "fill_mask.json"


@dataclass(frozen=True)
class Prompt:
    """A text with blanks, a second one to compare with or "", words to ask for with commas, and what to notice.

    limit: the percentage at which bars end, large enough for every share.
    """

    title: str
    text: str
    second: str
    named: str
    limit: str
    notice: str


@cache
def curated() -> tuple[Prompt, ...]:
    """List the examples; what they claim is true of the embedded model."""
    entries = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    return tuple(
        Prompt(entry["title"], entry["text"], entry["second"], entry["named"], entry["limit"], entry["notice"])
        for entry in entries
    )
