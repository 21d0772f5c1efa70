"""Head similarity: distances between the attention maps of heads on a text, and classical MDS of them."""

import numpy as np
from jaxtyping import Float, Int

from tx_core.errors import TextProblem

MAX_SIMILARITY_CELLS = 400_000_000
"""The most comparisons of single weights for one text: a few seconds on one core."""


def head_similarity(weights: Float[np.ndarray, "layer head query key"]) -> Float[np.ndarray, "head_a head_b"]:
    """Compare every head with every other: 1 − the Jensen–Shannon divergence of their rows, averaged over queries.

    1 = the same weights, 0 = never on the same key (Lin 1991, in bits; between heads as in Clark et al. 2019, section 6).
    Heads are numbered through the layers.

    Raises TextProblem if there is too much to compare.
    """
    layers, heads, queries, keys = weights.shape
    count = layers * heads
    if count**2 * queries * keys > MAX_SIMILARITY_CELLS:
        most = int((MAX_SIMILARITY_CELLS / count**2) ** 0.5)
        raise TextProblem(
            f"{count:,} heads can be compared with each other for texts of at most {most:,} tokens, and this one has "
            f"{queries:,}: shorten it by {queries - most:,} tokens."
        )
    rows = weights.reshape(count, queries, keys).astype(np.float32)
    own = _bits(rows)
    similarity = np.ones((count, count))
    for head in range(count):  # one row of the table at a time, so that memory does not exceed that of the weights
        others = slice(head + 1, count)
        divergence = _bits((rows[head] + rows[others]) / 2) - (own[head] + own[others]) / 2
        similarity[head, others] = similarity[others, head] = np.clip(1 - divergence.mean(axis=-1), 0, 1)
    return similarity


def most_similar_heads(similarity: Float[np.ndarray, "head_a head_b"], head: int, count: int) -> list[tuple[int, float]]:
    """List the heads most similar to one, each with its similarity, the most similar first; the head itself is left out."""
    order = [int(other) for other in np.argsort(-similarity[head], kind="stable") if other != head]
    return [(other, float(similarity[head, other])) for other in order[:count]]


def classical_mds(similarity: Float[np.ndarray, "head_a head_b"]) -> Float[np.ndarray, "head_a axis"]:
    """Embed the heads in two dimensions so that distances approximate 1 − similarity (classical MDS, Torgerson 1952).

    Axes are ordered by the variance they explain; the sign of each is fixed by the first head that is off centre.
    """
    apart = (1 - similarity) ** 2
    centred = -0.5 * (apart - apart.mean(axis=0) - apart.mean(axis=1, keepdims=True) + apart.mean())
    sizes, axes = np.linalg.eigh(centred)
    best = np.argsort(-sizes)[:2]
    places = axes[:, best] * np.sqrt(np.clip(sizes[best], 0, None))
    for axis in places.T:
        off = np.flatnonzero(np.abs(axis) > 1e-9)
        if off.size and axis[off[0]] > 0:
            axis *= -1
    return places if places.shape[1] == 2 else np.pad(places, ((0, 0), (0, 2 - places.shape[1])))


def mds_correlation(similarity: Float[np.ndarray, "head_a head_b"]) -> float:
    """Return the correlation of distances on the map with 1 − similarity, over all pairs of heads; 1 = a faithful map."""
    places = classical_mds(similarity)
    pairs: Int[np.ndarray, "side pair"] = np.stack(np.triu_indices(len(similarity), 1))
    drawn = np.linalg.norm(places[pairs[0]] - places[pairs[1]], axis=-1)
    meant = 1 - similarity[pairs[0], pairs[1]]
    if len(meant) < 2 or np.ptp(drawn) == 0 or np.ptp(meant) == 0:
        return 1.0
    return float(np.corrcoef(drawn, meant)[0, 1])


def _bits(rows: Float[np.ndarray, "... key"]) -> Float[np.ndarray, "..."]:
    return -(rows * np.log2(np.where(rows > 0, rows, 1))).sum(axis=-1)
