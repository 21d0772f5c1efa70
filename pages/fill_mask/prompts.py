"""The examples of the fill-mask page: one prompt, or two to compare, words to ask for, and what to notice."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "assets" / "examples" / "fill_mask.json"


@dataclass(frozen=True)
class Prompt:
    """A text with blanks, a second one to compare with or "", words to ask for with commas, and what to notice.

    limit: the percentage at which bars end, large enough for every share. counters: prompts for which the model does not do
    what this one seems to show; their sentences are their titles.
    """

    title: str
    text: str
    second: str
    named: str
    limit: str
    notice: str
    counters: tuple["Prompt", ...] = ()


@cache
def curated() -> tuple[Prompt, ...]:
    """List the examples; what they claim is true of the embedded model."""
    return tuple(_read(entry) for entry in json.loads(EXAMPLES.read_text(encoding="utf-8")))


def _read(entry: dict[str, Any]) -> Prompt:
    """Read an example; its counter-examples ask for the same words unless they name their own."""
    text, second = entry["text"], entry.get("second", "")
    title = entry.get("title", " / ".join(filter(None, (text, second))).replace("[MASK]", "___"))
    about = {"named": entry["named"], "limit": entry["limit"]}
    counters = tuple(_read(about | counter) for counter in entry.get("counters", ()))
    return Prompt(title, text, second, entry["named"], entry["limit"], entry["notice"], counters)
