"""The few texts in which a head does something most: kept while texts stream by, in memory that does not grow."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int


@dataclass(frozen=True)
class Strongest:
    """The best texts for each head and each thing it may do, best first.

    values: the score in that text; −∞ where fewer texts were seen. texts: their numbers; −1 there.
    """

    values: Float[np.ndarray, "layer head kind place"]
    texts: Int[np.ndarray, "layer head kind place"]

    def among(self, values: Float[np.ndarray, "text layer head kind"], texts: Int[np.ndarray, "text"]) -> "Strongest":
        """Give the best of these and of some more texts."""
        more = np.moveaxis(values, 0, -1)
        values = np.concatenate([self.values, more], axis=-1)
        texts = np.concatenate([self.texts, np.broadcast_to(texts, more.shape)], axis=-1)
        kept = self.values.shape[-1]
        first = np.argpartition(-values, kept - 1, axis=-1)[..., :kept]
        values, texts = (np.take_along_axis(part, first, axis=-1) for part in (values, texts))
        order = np.lexsort((texts, -values), axis=-1)
        return Strongest(np.take_along_axis(values, order, axis=-1), np.take_along_axis(texts, order, axis=-1))


def none_yet(layers: int, heads: int, kinds: int, places: int) -> Strongest:
    """Begin with no text at all."""
    shape = (layers, heads, kinds, places)
    return Strongest(np.full(shape, -np.inf), np.full(shape, -1))
