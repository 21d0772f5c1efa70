"""Blanks filled one after another, surest first against left to right, over sentences that ship."""

import random
from collections import Counter

from tx_core.engine.engine import Engine
from tx_core.fill_mask.blanks import NEW_BLANK, replace_part, text_parts
from tx_core.fill_mask.steps import StepwiseFilling, fill_stepwise
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


def compared(engine: Engine) -> list[tuple[StepwiseFilling, StepwiseFilling]]:
    """Both orders of every prompt."""
    return [(fill_stepwise(engine, text, "surest"), fill_stepwise(engine, text, "left")) for text in prompts()]


def counted(pairs: list[tuple[StepwiseFilling, StepwiseFilling]]) -> dict[str, int]:
    """How often surest first ends in a sentence of a higher, lower or equal pseudo-log-likelihood."""
    differences = [one.pseudo_log_likelihood - other.pseudo_log_likelihood for one, other in pairs]
    verdicts = Counter("better" if one > 1e-3 else "worse" if one < -1e-3 else "equal" for one in differences)
    return {"count": len(pairs), **{name: verdicts[name] for name in ("better", "worse", "equal")}}
