"""What both training pages ask for alike: a learning rate, and sizes that have to fit one another."""

from collections.abc import Mapping

from tx_core.errors import TextProblem

MIN_LEARNING_RATE, MAX_LEARNING_RATE = 0.0001, 0.1


def read_rate(written: str) -> float:
    """Read a learning rate; ValueError for one that this page does not offer."""
    rate = float(written)
    if not MIN_LEARNING_RATE <= rate <= MAX_LEARNING_RATE:
        raise ValueError(f"the rate must lie from {MIN_LEARNING_RATE} to {MAX_LEARNING_RATE}")
    return rate


def do_not_fit(rule: ValueError, labels: Mapping[str, str]) -> TextProblem:
    """Say in the words of the page which rule some sizes break. labels: what the page calls each size."""
    told = str(rule)
    for name, label in labels.items():
        told = told.replace(name, f"“{label}”")
    return TextProblem(f"These sizes do not go together: {told}.")
