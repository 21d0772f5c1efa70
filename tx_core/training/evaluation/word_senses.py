"""Do the two senses of "flies" separate through the layers? One is a verb, the other a noun."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from tx_core.training.evaluation.probe import Probe

WORD = "flies"

VERB = (
    "Time flies like an arrow.",
    "The bird flies over the house.",
    "He flies to London every week.",
    "The pilot flies a small plane.",
    "She flies home for Christmas.",
    "An eagle flies very high.",
)

INSECT = (
    "Fruit flies like a banana.",
    "The flies sat on the meat.",
    "I hate flies in my soup.",
    "There were many flies in the kitchen.",
    "Frogs eat flies and worms.",
    "Two flies walked across the window.",
)


@dataclass(frozen=True)
class SenseSeparation:
    """Per layer, the embeddings first.

    Attributes:
        gap: Mean cosine similarity of uses of one sense minus that of uses of different senses.
        told_apart: The share of uses whose nearest other use has the same sense; chance is 5 of 11.
    """

    gap: tuple[float, ...]
    told_apart: tuple[float, ...]


def measure_senses(
    probe: Probe, word: str = WORD, first: Sequence[str] = VERB, second: Sequence[str] = INSECT
) -> SenseSeparation:
    """Compare the word's vectors in sentences of its two senses, after every layer."""
    states = torch.stack([_vectors(probe, sentence, word) for sentence in (*first, *second)], dim=1)
    meaning = torch.tensor([0] * len(first) + [1] * len(second))
    same = meaning[:, None] == meaning[None, :]
    itself = torch.eye(len(meaning), dtype=torch.bool)
    gaps, apart = [], []
    for layer in states:
        unit = torch.nn.functional.normalize(layer, dim=-1)
        alike = unit @ unit.T
        gaps.append(float(alike[same & ~itself].mean() - alike[~same].mean()))
        nearest = alike.masked_fill(itself, -torch.inf).argmax(dim=1)
        apart.append(float((meaning[nearest] == meaning).float().mean()))
    return SenseSeparation(tuple(gaps), tuple(apart))


def _vectors(probe: Probe, sentence: str, word: str) -> Float[Tensor, "layer_and_embeddings hidden"]:
    """Return the mean vector of the word's pieces after every layer."""
    read = probe.tokenizer.backend.encode(sentence)
    start = sentence.lower().index(word)
    inside = range(start, start + len(word))
    places = [p for p, (a, b) in enumerate(read.offsets) if a < b and a in inside and b - 1 in inside]
    return probe.hidden(read.ids)[:, places].mean(dim=1)
