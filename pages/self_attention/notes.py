"""What the chosen switches do to one head, as an equation and in sentences with the measured figures."""

import math
from typing import TYPE_CHECKING

from tx_core.analysis.sentences import strongest_link

if TYPE_CHECKING:
    from tx_core.lessons.steps import SentenceSteps
    from tx_core.transformer.trace import Encoding

SHARING = {"softmax": "softmax", "sparsemax": "sparsemax", "hardmax": "argmax"}


def equation(found: "SentenceSteps") -> str:
    """Write what was computed, in LaTeX, with the size of this head."""
    projected, choice = found.projections is not None, found.choice
    scores = r"Q K^{\top}" if projected else r"X X^{\top}"
    if choice.scaled:
        scores = rf"\frac{{{scores}}}{{\sqrt{{{found.steps.query.shape[1]}}}}}"
    mask = "+ M" if choice.causal else ""
    return rf"\text{{context}} = \text{{{SHARING[choice.normalise]}}}\!\left({scores} {mask}\right) {'V' if projected else 'X'}"


def letters(found: "SentenceSteps") -> str:
    """Say what the letters of the equation stand for, in Markdown."""
    vectors = "$X$ holds the vectors of the tokens, a row each"
    if found.projections is None:
        told = f"{vectors}; they are compared with each other as they are"
    else:
        biased = found.projections.query_bias is not None
        parts = [f"${letter} = X W_{letter}{f' + b_{letter}' if biased else ''}$" for letter in "QKV"]
        told = f"{vectors}; {', '.join(parts[:2])} and {parts[2]} are its three projections"
    return f"{told}; $M$ is 0 where a token may look and −∞ where it may not." if found.choice.causal else f"{told}."


def notes(found: "SentenceSteps", encoding: "Encoding") -> list[str]:
    """Tell what to see, a sentence for each switch that matters; token texts stand in it as they are."""
    choice, told = found.choice, [_of_weights(found, encoding)]
    if not choice.scaled:
        told.append(_of_scaling(found))
    if choice.normalise != "softmax":
        told.append(
            f"Softmax gives every token at least a little; here a token looks at {found.tokens_looked_at:.1f} of "
            f"{len(encoding)} tokens on average, and the others get exactly 0."
        )
    if choice.causal:
        told.append("The mask hides what comes later: the first token can look at nothing but itself.")
    return told


def _of_scaling(found: "SentenceSteps") -> str:
    size = found.steps.query.shape[1]
    told = f"Scaling is off, so the scores are √{size} = {math.sqrt(size):.1f} times as large: "
    if found.choice.normalise == "hardmax":
        return f"{told}hard attention does not notice, for the greatest score of a row stays the greatest."
    return (
        f"{told}the greatest weight of a row is {found.greatest_share:.3f} on average, and would be "
        f"{found.greatest_share_scaled:.3f} with it."
    )


def _of_weights(found: "SentenceSteps", encoding: "Encoding") -> str:
    if found.choice.weights == "none":
        return (
            f"Without projections a token fits itself best: on average it gives {found.share_to_itself:.3f} of its attention "
            "to itself and learns nothing new. That is what queries, keys and values are projected for."
        )
    weights, tokens, special = found.steps.weights.numpy(), encoding.tokens, encoding.special
    if found.choice.weights == "random":
        return (
            f"Nobody has trained these matrices, so the pattern means nothing; on average a token gives "
            f"{found.share_to_itself:.3f} of its attention to itself."
        )
    return strongest_link(weights, tokens, tokens, special, special)
