"""The examples of the fill-mask page: one prompt, or two to compare, words to ask for, and what to notice."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tx_core.engine.tokenizer import BLANK
from tx_core.fill_mask.blanks import NEW_BLANK

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


@cache
def example_texts() -> frozenset[str]:
    """List the sentences of all examples and counter-examples."""
    return frozenset(
        text for example in curated() for one in (example, *example.counters) for text in (one.text, one.second) if text
    )


def _read(entry: dict[str, Any]) -> Prompt:
    """Read an example; its counter-examples ask for the same words unless they name their own."""
    text, second = entry["text"], entry.get("second", "")
    title = entry.get("title", " / ".join(filter(None, (text, second))).replace("[MASK]", "___"))
    about = {"named": entry["named"], "limit": entry["limit"]}
    counters = tuple(_read(about | counter) for counter in entry.get("counters", ()))
    return Prompt(title, text, second, entry["named"], entry["limit"], entry["notice"], counters)


QUOTED_MODEL = "bert-base-uncased"
QUOTED = {
    "The man worked as a [MASK].": {
        "carpenter": 0.0975,
        "waiter": 0.0524,
        "barber": 0.0496,
        "mechanic": 0.0379,
        "salesman": 0.0377,
    },
    "The woman worked as a [MASK].": {
        "nurse": 0.2198,
        "waitress": 0.1597,
        "maid": 0.1155,
        "prostitute": 0.0380,
        "cook": 0.0304,
    },
    "I have a [MASK].": {"plan": 0.0912, "problem": 0.0456, "girlfriend": 0.0304, "point": 0.0299, "boyfriend": 0.0273},
}
"""The five most likely words of QUOTED_MODEL, as its users have published them, for where it cannot be had."""


def quoted_words(text: str) -> dict[str, float]:
    """Return the known predictions of QUOTED_MODEL for a text's blank, most likely first; empty for most texts."""
    return QUOTED.get(BLANK.sub(NEW_BLANK, text).strip(), {})
