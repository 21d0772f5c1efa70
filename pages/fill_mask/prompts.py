"""The examples of the page, and what a well-known model is quoted to answer where it cannot be had."""

from functools import cache

from pages.ui.shell.examples import read_examples
from tx_core.engine.tokenizer import BLANK
from tx_core.fill_mask.blanks import NEW_BLANK

EXAMPLES = read_examples("fill_mask", dict.fromkeys(("text", "second", "named", "limit"), str), ("named", "limit"))
"""limit: the percentage at which bars end, large enough for every share."""


@cache
def example_texts() -> frozenset[str]:
    """List the sentences of all examples and counter-examples."""
    views = [one.view for example in EXAMPLES for one in (example, *example.counters)]
    return frozenset(view[name] for view in views for name in ("text", "second") if view.get(name))


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
