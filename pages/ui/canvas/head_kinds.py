"""How the kinds of heads look and are called: a colour, a sign and words for each, here and wherever heads are coloured."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pages.ui.canvas.figures import ONE_COLOUR

if TYPE_CHECKING:  # the core imports torch: only a part that computes waits for it
    from tx_core.transformer.trace import Encoding


@dataclass(frozen=True)
class KindLook:
    """What stands for a kind. symbol: on a map. aim: what such a head looks at, as in "looks at …"."""

    word: str
    letter: str
    colour: str
    symbol: str
    aim: str


AXES = "a row for each layer, a column for each head; shares also by kind, in the order of kinds"
"""What the axes of arrays of all heads are."""


def looks(encoding: "Encoding | None" = None) -> dict[str, KindLook]:
    """Give the look of every kind in `head_patterns.KINDS`; special tokens are called as the model's own."""
    first, last = _marks(encoding) if encoding else ("[CLS]", "[SEP]")
    return {
        "previous": KindLook("previous", "←", ONE_COLOUR, "triangle-left", "the token before"),
        "next": KindLook("next", "→", "#dd8328", "triangle-right", "the token after"),
        "same": KindLook("same", "=", "#a06cd0", "square", "itself, its word, or the same word elsewhere"),
        "first": KindLook(first, "C", "#3a9a68", "diamond", first),
        "separator": KindLook(last, "S", "#1f9fb5", "star", last),
        "punctuation": KindLook("signs", ".", "#d35a86", "cross", "punctuation and other signs"),
        "broad": KindLook("broad", "≈", "#a8912a", "circle", "all tokens much alike"),
        "mixed": KindLook("mixed", "?", "#8793a0", "hexagon", "nothing that one of these rules describes"),
    }


def _marks(encoding: "Encoding") -> tuple[str, str]:
    special = [token for token, mark in zip(encoding.tokens[1:], encoding.special[1:], strict=True) if mark]
    first = encoding.tokens[0] if encoding.special[0] else "the first token"
    return first, special[0] if special else "the end"
