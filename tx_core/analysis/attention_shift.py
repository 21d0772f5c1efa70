"""How far attention moved between two runs on the same tokens, in numbers and in a sentence."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from tx_core.analysis.comparison import SMALLEST_TOLD
from tx_core.analysis.sentences import SHOWN, WHOLE


def moved(
    before: Float[np.ndarray, "*axes query key"], after: Float[np.ndarray, "*axes query key"]
) -> Float[np.ndarray, "*axes query"]:
    """Tell for every query what share of its attention went elsewhere or was lost, 0 to 1.

    For rows that sum to 1 this is their total variation distance; a row that becomes zeros lost all: 1.
    """
    change = after.astype(np.float64) - before
    return np.clip(np.maximum(np.clip(change, 0, None).sum(-1), np.clip(-change, 0, None).sum(-1)), 0, 1)


def heads_that_moved(
    before: Float[np.ndarray, "layer head query key"], after: Float[np.ndarray, "layer head query key"], count: int
) -> tuple[tuple[tuple[int, int], float], ...]:
    """List the heads whose attention moved most, averaged over their queries, each with that share.

    Left out are heads that stood still, and those that are off afterwards: that theirs is gone is no news.
    """
    shares = moved(before, after).mean(-1) * after.any(axis=(-1, -2))
    order = np.argsort(-shares, axis=None, kind="stable")[:count]
    places = (divmod(int(place), shares.shape[1]) for place in order)
    return tuple((place, float(shares[place])) for place in places if shares[place] >= 0.0005)


def largest_change_in_words(
    before: Float[np.ndarray, "query key"],
    after: Float[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    focus: int | None = None,
    *,
    rescaled: bool = False,
) -> str:
    """Say which weight changed most, of one query or of all, and how much of the attention moved on average.

    rescaled: weights are shares of what a token gives to the words shown, as where special tokens are hidden.
    """
    rows = slice(None) if focus is None else slice(focus, focus + 1)
    change = (after.astype(np.float64) - before)[rows]
    query, key = np.unravel_index(np.abs(change).argmax(), change.shape)
    if abs(float(change[query, key])) < SMALLEST_TOLD:
        return "Nothing changed here." if focus is None else f"Nothing changed for '{queries[focus]}'."
    query += focus or 0
    was, now = float(before[query, key]), float(after[query, key])
    scope, of = (f"of {SHOWN}, ", "") if rescaled else ("", f" of {WHOLE}")
    told = (
        f"The largest change: {scope}'{queries[query]}' gives '{keys[key]}' {now:.2f}{of} in place of {was:.2f} "
        f"({'+' if now > was else '−'}{abs(now - was):.2f})."
    )
    share = moved(before, after)[rows].mean()
    whose = "of the attention shown" if focus is None else f"of {SHOWN if rescaled else WHOLE}"
    return f"{told} In all, {share:.0%} {whose} went elsewhere or was lost."
