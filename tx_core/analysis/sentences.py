"""Attention maps described in sentences: as alternative text for a drawing, and as a hint where to look."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from tx_core.analysis.views import strongest_edges

MIN_WEIGHT = 0.05
"""Weights below this are not mentioned."""

QUERY_ONE_KEY = "{query} gives {weight:.2f} of its attention to {key}."
QUERY_TWO_KEYS = "{query} gives {weight:.2f} of its attention to {key} and {second_weight:.2f} to {second_key}."
QUERY_EVEN = "{query} attends almost evenly: no token receives {least:.2f} of its attention."
QUERY_NOWHERE = "{query} attends to nothing here."
STRONGEST_LINK = "The strongest link: {query} gives {weight:.2f} of its attention to {key}."
STRONGEST_LINK_BETWEEN_WORDS = "The strongest link between words: {query} gives {weight:.2f} of its attention to {key}."
NO_LINK = "Nothing here attends to anything."

# If special tokens are hidden, weights are shares of the attention to the words shown.
SHOWN_QUERY_ONE_KEY = "Of its attention to the words shown, {query} gives {weight:.2f} to {key}."
SHOWN_QUERY_TWO_KEYS = (
    "Of its attention to the words shown, {query} gives {weight:.2f} to {key} and {second_weight:.2f} to {second_key}."
)
SHOWN_QUERY_EVEN = "{query} attends almost evenly: no token receives {least:.2f} of its attention to the words shown."
SHOWN_STRONGEST_LINK = "The strongest link: of its attention to the words shown, {query} gives {weight:.2f} to {key}."

AVERAGE = "Average shares of the attention, over all rows: {shares}."
AVERAGE_ELSEWHERE = (
    "On average over all rows, special tokens, the token before, the token itself and the token after each receive less than "
    "{least:.2f} of the attention."
)
AVERAGE_SHARES = {
    "special": "{share:.2f} to special tokens",
    -1: "{share:.2f} to the token before",
    0: "{share:.2f} to the token itself",
    1: "{share:.2f} to the token after",
}

QUOTED = "“{token}”"
QUOTED_WITH_NUMBER = "“{token}” (token {number})"


def describe_query(
    weights: Float[np.ndarray, "query key"], queries: Sequence[str], keys: Sequence[str], query: int, *, rescaled: bool = False
) -> str:
    """Describe the attention of one query by its one or two largest weights.

    Args:
        weights: Attention weights of one head, 0 to 1.
        queries: Labels of the rows.
        keys: Labels of the columns.
        query: The row to describe.
        rescaled: Whether rows were rescaled to the words shown, because special tokens are hidden.
    """
    name = quote_token(queries, query)
    edges = strongest_edges(weights, 2, query)
    if not edges:
        return QUERY_NOWHERE.format(query=name)
    large = [edge for edge in edges if edge.weight >= MIN_WEIGHT]
    if not large:
        return (SHOWN_QUERY_EVEN if rescaled else QUERY_EVEN).format(query=name, least=MIN_WEIGHT)
    first, last = large[0], large[-1]
    one, two = (SHOWN_QUERY_ONE_KEY, SHOWN_QUERY_TWO_KEYS) if rescaled else (QUERY_ONE_KEY, QUERY_TWO_KEYS)
    return (one if len(large) == 1 else two).format(
        query=name,
        weight=first.weight,
        key=quote_token(keys, first.key),
        second_weight=last.weight,
        second_key=quote_token(keys, last.key),
    )


def describe_strongest_link(
    weights: Float[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    query_special: Sequence[bool],
    key_special: Sequence[bool],
    *,
    rescaled: bool = False,
) -> str:
    """Describe the largest weight of a map; special tokens count only where nothing else has a weight.

    Args:
        weights: Attention weights of one head, 0 to 1.
        queries: Labels of the rows.
        keys: Labels of the columns.
        query_special: Which rows are special tokens.
        key_special: Which columns are special tokens.
        rescaled: Whether rows were rescaled to the words shown, because special tokens are hidden.
    """
    between_words = ~np.array(query_special)[:, None] & ~np.array(key_special)
    word_edges = strongest_edges(weights * between_words, 1)
    edges = word_edges or strongest_edges(weights, 1)
    if not edges:
        return NO_LINK
    (edge,) = edges
    if rescaled:
        template = SHOWN_STRONGEST_LINK
    else:
        template = STRONGEST_LINK_BETWEEN_WORDS if word_edges and not between_words.all() else STRONGEST_LINK
    return template.format(query=quote_token(queries, edge.query), weight=edge.weight, key=quote_token(keys, edge.key))


def quote_token(tokens: Sequence[str], position: int) -> str:
    """Quote a token, with its number, counted from 1, where the same token occurs more than once."""
    token = tokens[position]
    template = QUOTED if list(tokens).count(token) == 1 else QUOTED_WITH_NUMBER
    return template.format(token=token, number=position + 1)


def distinct_names(tokens: Sequence[str]) -> list[str]:
    """Return a unique name for each token: repeated ones get a number."""
    before = [tokens[:position].count(token) for position, token in enumerate(tokens)]
    return [f"{token} ({count + 1})" if count else token for token, count in zip(tokens, before, strict=True)]
