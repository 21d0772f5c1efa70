"""Blanks filled one after another, surest first against left to right, over sentences that ship."""

import random
from collections.abc import Sequence

from tx_core.engine.engine import Engine
from tx_core.fill_mask.blanks import NEW_BLANK, replace_part, text_parts
from tx_core.fill_mask.steps import fill_stepwise
from tx_core.settings import ASSETS

BLANKS, PROMPTS, WORDS = 3, 100, range(6, 13)


def prompts() -> list[str]:
    """The first sentences of everyday.txt of 6 to 12 words, three of them blanked."""
    draw = random.Random(0)
    found = []
    for line in (ASSETS / "sentences" / "everyday.txt").read_text(encoding="utf-8").splitlines():
        parts = text_parts(line)
        if len(parts) in WORDS and len(found) < PROMPTS:
            for part in sorted(draw.sample(parts, BLANKS), key=lambda one: -one.start):
                line = replace_part(line, part, NEW_BLANK)
            found.append(line)
    return found


VERDICTS = "=-==+=-=+====-+===-====+++===+=====--==+=+==+=+==+===+===-=-====-+-+==+======-=-===++=+-======--=+=-"
"""Of the embedded model: surest first ends each prompt better (+), worse (-) or equally well (=)."""


def verdicts(engine: Engine, texts: Sequence[str]) -> str:
    """Compare both orders of each text, by the pseudo-log-likelihood of the sentence that each ends in."""
    found = ""
    for text in texts:
        surest, left = (fill_stepwise(engine, text, order).pseudo_log_likelihood for order in ("surest", "left"))
        found += "+" if surest - left > 1e-3 else "-" if left - surest > 1e-3 else "="
    return found
