"""How alike are a word's vectors in two texts, from layer to layer, and how alike are words that have nothing in common?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tx_core.analysis.word_alignment import Spelling, align, is_word

Groups = Sequence[tuple[int, ...]]


@dataclass(frozen=True)
class Likeness:
    """Cosines after the embeddings and after each layer, -1 to 1.

    word: of the chosen word in A and in B. shared: the mean over the other words that A and B share, None without any.
    mean, spread: over all pairs of a word of A and another word of B, and their standard deviation; None without any.
    shared_pairs, pairs: how many each mean is over.
    """

    word: Float[np.ndarray, "step"]
    shared: Float[np.ndarray, "step"] | None
    mean: Float[np.ndarray, "step"] | None
    spread: Float[np.ndarray, "step"] | None
    shared_pairs: int
    pairs: int


def word_vectors(hidden: Float[np.ndarray, "step token hidden"], groups: Groups) -> Float[np.ndarray, "step word hidden"]:
    """Give each word one vector a step: the mean of its pieces' vectors."""
    return np.stack([hidden[:, list(group)].mean(axis=1, dtype=np.float64) for group in groups], axis=1)


def cosines(
    one: Float[np.ndarray, "step word hidden"], other: Float[np.ndarray, "step other_word hidden"]
) -> Float[np.ndarray, "step word other_word"]:
    """Compare every word of A with every word of B by the angle between their vectors; 0 where one has no length."""
    dots = np.einsum("swh,svh->swv", one, other)
    lengths = np.linalg.norm(one, axis=-1)[:, :, None] * np.linalg.norm(other, axis=-1)[:, None, :]
    return np.clip(np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0), -1, 1)


def likeness(
    alike: Float[np.ndarray, "step word other_word"],
    spelled: Sequence[Spelling],
    spelled_other: Sequence[Spelling],
    chosen: tuple[int, int],
) -> Likeness:
    """Follow a chosen pair of words through the layers, beside the other shared words and beside pairs of different words.

    That vectors of words that share nothing are alike, too, is why a bare cosine tells little (Ethayarajh 2019, section 4).
    """
    shared = [
        (mine, yours)
        for mine, yours in align(spelled, spelled_other)
        if mine != chosen[0] and yours != chosen[1] and is_word(spelled[mine])
    ]
    different = [
        (mine, yours)
        for mine, spelling in enumerate(spelled)
        for yours, found in enumerate(spelled_other)
        if is_word(spelling) and is_word(found) and spelling != found
    ]
    baseline = _at(alike, different)
    return Likeness(
        word=alike[:, chosen[0], chosen[1]],
        shared=_at(alike, shared).mean(axis=1) if shared else None,
        mean=baseline.mean(axis=1) if different else None,
        spread=baseline.std(axis=1) if different else None,
        shared_pairs=len(shared),
        pairs=len(different),
    )


def in_words(found: Likeness, word: str) -> str:
    """Say how far a word's vectors come apart, and how alike different words are at that depth."""
    low = int(np.argmin(found.word))
    start, least = found.word[0], found.word[low]
    where = "before the first layer" if low == 0 else f"after layer {low}"
    told = f"'{word}' in A and in B: similarity {start:.2f} before the first layer, {found.word[-1]:.2f} after the last"
    told += f", least {where} ({least:.2f})." if low not in (0, len(found.word) - 1) else "."
    if found.mean is not None:
        told += f" Words that differ have {found.mean[-1]:.2f} ± {found.spread[-1]:.2f} there."
    if found.shared is not None:
        told += f" The other shared words have {found.shared[-1]:.2f} on average."
    return told


def _at(alike: Float[np.ndarray, "step word other_word"], pairs: Sequence[tuple[int, int]]) -> Float[np.ndarray, "step pair"]:
    return np.stack([alike[:, mine, yours] for mine, yours in pairs], axis=1) if pairs else alike[:, 0, :0]
