"""What a picture of attention shows, in words: for readers who cannot see it, and for those who do not know where to look."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from tx_core.analysis.views import strongest_edges

MIN_WEIGHT = 0.05
WHOLE, SHOWN = "its attention", "its attention to the words shown"
PLACES = {-1: "the token before", 0: "the token itself", 1: "the token after"}


def describe_query(
    weights: Float[np.ndarray, "query key"], queries: Sequence[str], keys: Sequence[str], query: int, *, rescaled: bool = False
) -> str:
    """Say where one token looks, as in "'flies' gives 0.41 of its attention to 'time' and 0.20 to 'like'."

    Weights are shares of the token's attention, from 0 to 1. rescaled: of what it gives to the words shown, as where special
    tokens are hidden.
    """
    edges = strongest_edges(weights, 2, query)
    told = [f"{edge.weight:.2f} to {quote_token(keys, edge.key)}" for edge in edges if edge.weight >= MIN_WEIGHT]
    if not told:
        evenly = f"spreads {SHOWN if rescaled else WHOLE} so evenly that no token gets 0.05."
        return f"{quote_token(queries, query)} {evenly if edges else 'attends to nothing here.'}"
    if rescaled:
        return f"Of {SHOWN}, {quote_token(queries, query)} gives {_list(told)}."
    return f"{quote_token(queries, query)} gives {_list(told).replace(' to ', f' of {WHOLE} to ', 1)}."


def describe_strongest_link(
    weights: Float[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    query_special: Sequence[bool],
    key_special: Sequence[bool],
    *,
    rescaled: bool = False,
) -> str:
    """Say which two tokens are linked most strongly; special tokens count only where there is nothing else.

    rescaled: weights are shares of what a token gives to the words shown, as where special tokens are hidden.
    """
    apart = ~np.array(query_special)[:, None] & ~np.array(key_special)
    between_words = strongest_edges(weights * apart, 1)
    edges = between_words or strongest_edges(weights, 1)
    if not edges:
        return "Nothing here attends to anything."
    (edge,) = edges
    looking, looked_at = quote_token(queries, edge.query), quote_token(keys, edge.key)
    if rescaled:
        return f"The strongest link: of {SHOWN}, {looking} gives {edge.weight:.2f} to {looked_at}."
    link = f"{looking} gives {edge.weight:.2f} of {WHOLE} to {looked_at}"
    return f"The strongest link{' between words' if between_words and not apart.all() else ''}: {link}."


def describe_average(weights: Float[np.ndarray, "token key"], special: Sequence[bool]) -> str:
    """Say how much attention goes to special tokens and to the nearest neighbours, averaged over all tokens.

    For self-attention, where queries and keys are the same tokens; special ones count as special only.
    """
    plain = weights * ~np.array(special)
    shares = {"special tokens": float((weights - plain).sum(1).mean())}
    shares |= {words: float(np.trace(plain, step) / len(weights)) for step, words in PLACES.items()}
    told = sorted((share, words) for words, share in shares.items() if share >= MIN_WEIGHT)[::-1]
    if not told:
        return "On average, attention goes neither to neighbours nor to special tokens."
    listed = _list([f"{share:.2f} to {words}" for share, words in told])
    return f"On average, {listed.replace(' to ', ' of the attention goes to ', 1)}."


def quote_token(tokens: Sequence[str], place: int) -> str:
    """Quote a token, with its place where the same token stands more than once."""
    token = tokens[place]
    return f"'{token}'" if list(tokens).count(token) == 1 else f"'{token}' (token {place + 1})"


def _list(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
