"""What masks do, as matrices: scores and weights before and after, and three ways to mask side by side."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from pages.ui.canvas.foresight import Drawn
from pages.ui.canvas.mask_grid import ATTENTION, MAX_PAINTED_TOKENS, Matrices, Matrix, Naming, matrices
from pages.ui.shell.numbers import ROUNDING, rounding_verdict, small_number

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.lessons.masking import MaskEffect, Maskings
    from tx_core.lessons.padding import PaddedPair

PAINT_HINT = (
    "Click or drag on the mask to allow and forbid; click a name for its whole row or column. "
    "Point at a cell to read its numbers."
)
SIGNED_NOTE = "orange below zero, blue above"


def before_and_after(tokens: Sequence[str], effect: "MaskEffect") -> Drawn:
    """Give the mask, scores and weights before and after it, and what each weight won or lost, as a canvas takes them."""
    mask = effect.mask.numpy()
    scores = effect.scores.numpy()
    limit = float(abs(scores).max())
    allowed = f"{int(mask.sum())} of {mask.size} cells are allowed"
    paintable = len(tokens) <= MAX_PAINTED_TOKENS
    shown = [
        Matrix("Mask", "mask", mask, f"{allowed}.", note=allowed),
        Matrix("Scores before", "signed", scores, "The scores of all pairs.", limit, note=SIGNED_NOTE),
        Matrix(
            "Scores after",
            "signed",
            effect.masked_scores.numpy(),
            "The scores, minus infinity where forbidden.",
            limit,
            note="−∞ where the mask forbids",
        ),
        Matrix(
            "Change",
            "signed",
            effect.difference.numpy(),
            _greatest_change(tokens, effect),
            root=True,
            note="blue: won weight, orange: lost it",
        ),
        Matrix(
            "Weights before",
            "weights",
            effect.weights_before.numpy(),
            "Softmax of the scores before.",
            note="every row sums to 1",
        ),
        Matrix("Weights after", "weights", effect.weights.numpy(), "Softmax of the scores after.", note=_gone(mask)),
    ]
    hint = PAINT_HINT if paintable else Naming.hint
    return Matrices(tokens, tokens, tuple(shown), naming=Naming(hint=hint, axes=ATTENTION)).drawn(paintable=paintable)


def _gone(mask: np.ndarray) -> str:
    if mask.any(axis=1).all():
        return "what was forbidden went to the others"
    return "forbidden weight went to the others, or nowhere"


def _greatest_change(tokens: Sequence[str], effect: "MaskEffect") -> str:
    change = effect.difference
    place = int(change.abs().argmax())
    query, key = divmod(place, len(tokens))
    return f"The greatest change: {tokens[query]} to {tokens[key]}, {float(change[query, key]):+.2f}."


def three_ways(tokens: Sequence[str], found: "Maskings", key: str) -> None:
    """Draw the weights masked by −∞, by a penalty and not at all, with what the penalty gets wrong below each."""
    penalty = f"{found.penalty:,.0f}".replace("-", "−")
    shown = [
        Matrix("−∞", "weights", found.infinite.numpy(), "Forbidden cells are exactly zero.", note="forbidden: exactly 0"),
        Matrix(
            penalty,
            "weights",
            found.penalised.numpy(),
            "Weights with a penalty added to forbidden scores.",
            note=f"at most {small_number(found.leak)} leaks to forbidden keys",
        ),
        Matrix(
            "No mask",
            "weights",
            found.unmasked.numpy(),
            "Weights without a mask.",
            note=f"up to {small_number(found.leak_unmasked)} goes to forbidden keys",
        ),
    ]
    matrices(tokens, tokens, shown, key=key, naming=Naming(axes=ATTENTION))


def batch(pair: "PaddedPair") -> None:
    """Write the batch as the model reads it: both sentences below one another, padding included."""
    columns = [max(map(len, tokens)) for tokens in zip(*pair.rows, strict=True)]
    lines = (" ".join(token.ljust(width) for token, width in zip(row, columns, strict=True)) for row in pair.rows)
    st.code("\n".join(lines), language=None, wrap_lines=True)


def moved(pair: "PaddedPair", key: str) -> None:
    """Draw how far each token of the shorter sentence moved, with the padding masked and not."""
    tokens = pair.encodings[pair.shorter].tokens
    cells = np.array([pair.proof.moved_masked, pair.proof.moved_unmasked])
    told = (
        f"Masked, no token moves by more than {small_number(cells[0].max())}; "
        f"not masked, each moves by {small_number(cells[1].min())} or more."
    )
    shown = [Matrix("Change of each token", "signed", cells, told, limit=float(cells.max()))]
    naming = Naming(joint="padding:")
    matrices(("masked", "not masked"), tokens, shown, key=key, naming=naming, tallest=64)


def who_moved(by_token: Sequence[float]) -> str:
    """Say how many tokens moved by more than rounding."""
    moved = sum(change > ROUNDING for change in by_token)
    told = "every word has moved" if moved == len(by_token) else f"{moved} of {len(by_token)} tokens have moved"
    return rounding_verdict(max(by_token), told)
