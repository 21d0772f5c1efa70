"""Two attention maps compared: of two texts, word by word, and of one text before and after an intervention."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from tx_core.analysis.sentences import SHOWN, WHOLE
from tx_core.analysis.views import View
from tx_core.analysis.word_comparison import Row, Spelling, align, number_word, pair_rows, word_numbers

MIN_DIFFERENCE = 0.005


@dataclass(frozen=True)
class Comparison:
    """The words of both sides in one order, and the difference B − A wherever both sides have both words.

    rows: for each word its place in A and in B, None where it has no partner. labels: the words, as A writes them.
    special: which of them are special tokens.
    difference: weights of B less those of A, within ±1; 0 where `there` is False, for lack of a partner.
    rescaled: whether weights are shares of what a word gives to the words shown, as where special tokens are hidden.
    """

    rows: tuple[Row, ...]
    labels: tuple[str, ...]
    special: tuple[bool, ...]
    one: Float[np.ndarray, "word word"]
    other: Float[np.ndarray, "other_word other_word"]
    difference: Float[np.ndarray, "row row"]
    there: Bool[np.ndarray, "row row"]
    rescaled: bool = False

    @property
    def lonely(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Give the words that only A has, and those that only B has."""
        mine = tuple(label for label, (_, yours) in zip(self.labels, self.rows, strict=True) if yours is None)
        yours = tuple(label for label, (mine, _) in zip(self.labels, self.rows, strict=True) if mine is None)
        return mine, yours


def compare(
    one: View,
    other: View,
    spelled: Sequence[Spelling],
    spelled_other: Sequence[Spelling],
    weights: Float[np.ndarray, "word word"],
    other_weights: Float[np.ndarray, "other_word other_word"],
) -> Comparison:
    """Lay two maps over each other: their words, how each is spelled, and the weights of the heads to compare.

    Both views must be of attention within one text. Raises ValueError when they do not fit their weights.
    """
    for view, spelling, shown in ((one, spelled, weights), (other, spelled_other, other_weights)):
        if not shown.shape == (len(view.queries), len(view.keys)) == (len(spelling), len(spelling)):
            raise ValueError(f"weights must be word × word, got {shown.shape} for {len(spelling)} words")
    rows = pair_rows(align(spelled, spelled_other), len(spelled), len(spelled_other))
    labels = tuple(other.queries[yours] if mine is None else one.queries[mine] for mine, yours in rows)
    special = tuple(other.query_special[yours] if mine is None else one.query_special[mine] for mine, yours in rows)
    difference, there = subtract_maps(rows, weights, other_weights)
    rescaled = one.hides_special or other.hides_special
    return Comparison(rows, labels, special, weights, other_weights, difference, there, rescaled)


def subtract_maps(
    rows: Sequence[Row], weights: Float[np.ndarray, "word word"], other: Float[np.ndarray, "other_word other_word"]
) -> tuple[Float[np.ndarray, "row row"], Bool[np.ndarray, "row row"]]:
    """Take A from B where both have both words; give 0 elsewhere, and where it is a difference at all."""
    found = [(row, mine, yours) for row, (mine, yours) in enumerate(rows) if mine is not None and yours is not None]
    difference, there = np.zeros((len(rows), len(rows)), np.float32), np.zeros((len(rows), len(rows)), bool)
    if found:
        places, mine, yours = (list(column) for column in zip(*found, strict=True))
        difference[np.ix_(places, places)] = other[np.ix_(yours, yours)] - weights[np.ix_(mine, mine)]
        there[np.ix_(places, places)] = True
    return difference, there


def list_links(comparison: Comparison) -> Int[np.ndarray, "link 2"]:
    """List every link that A or B has: the rows of the words that look and of those that are looked at, in their order."""
    of_one, of_other = (np.array([place is not None for place in side]) for side in zip(*comparison.rows, strict=True))
    return np.argwhere((of_one[:, None] & of_one) | (of_other[:, None] & of_other))


def largest_links(comparison: Comparison, listed: Int[np.ndarray, "link 2"], most: int) -> Int[np.ndarray, "most 2"]:
    """Of a list of links, give those that differ most between A and B, the greatest difference first."""
    order = np.argsort(-np.abs(comparison.difference[tuple(listed.T)]), kind="stable")
    return listed[order[:most]]


def describe_largest_difference(comparison: Comparison, row: int | None = None) -> str:
    """Say where A and B differ most, in all rows or in one, in a sentence.

    Special tokens count only where words do not differ.
    """
    if not comparison.there.any():
        return "A and B have no word in common, so there is nothing to take from each other."
    if row is not None and not comparison.there[row].any():
        return f"'{comparison.labels[row]}', the marked row, has no partner, so there is nothing to take from each other."
    (looking, looked_at), scope = _place_of_largest(comparison, row)
    change = comparison.difference[looking, looked_at]
    if abs(change) < MIN_DIFFERENCE:
        who = "A and B look" if row is None else f"{_name(comparison, row)} looks in A and in B"
        return f"Nothing differs by 0.01 or more: {who} at their common words alike."
    (mine, yours), (my_key, your_key) = comparison.rows[looking], comparison.rows[looked_at]
    before, after = comparison.one[mine, my_key], comparison.other[yours, your_key]
    which = "The largest difference" if row is None else "In the marked row, the largest difference"
    beginning, of = (f"of {SHOWN}, ", "") if comparison.rescaled else ("", f" of {WHOLE}")
    return (
        f"{which}{scope}: {beginning}{_name(comparison, looking)} gives {before:.2f}{of} to {_name(comparison, looked_at)} "
        f"in A and {after:.2f} in B ({'+' if change > 0 else '−'}{abs(after - before):.2f})."
    )


def _place_of_largest(comparison: Comparison, row: int | None) -> tuple[tuple[int, int], str]:
    """Find the row and the column of the largest difference, and say whether it is sought between words only."""
    everywhere, words = np.abs(comparison.difference), ~np.array(comparison.special)
    looking = words if row is None else np.arange(len(words)) == row
    rows = everywhere if row is None else everywhere * looking[:, None]
    between_words = rows * (looking[:, None] & words)
    among_words = bool(between_words.max() >= MIN_DIFFERENCE)
    place = divmod(int((between_words if among_words else rows).argmax()), len(words))
    is_word = row is None or words[row]
    return place, " between words" if among_words and is_word and not words.all() else ""


def _name(comparison: Comparison, row: int) -> str:
    label = comparison.labels[row]
    if comparison.labels.count(label) == 1:
        return f"'{label}'"
    numbers = [_number_within(comparison, side, row) for side in (0, 1)]
    return number_word(f"'{label}'", comparison.special[row], *numbers)


def _number_within(comparison: Comparison, side: int, row: int) -> int:
    """Count the words of A or of B up to a row."""
    shown = [number for number in range(row + 1) if comparison.rows[number][side] is not None]
    return word_numbers([comparison.labels[number] for number in shown], [comparison.special[number] for number in shown])[-1]


def moved_attention(
    before: Float[np.ndarray, "*axes query key"], after: Float[np.ndarray, "*axes query key"]
) -> Float[np.ndarray, "*axes query"]:
    """Tell for every query what share of its attention went elsewhere or was lost, 0 to 1.

    For rows that sum to 1 this is their total variation distance; a row that becomes zeros lost all: 1.
    """
    change = after.astype(np.float64) - before
    return np.clip(np.maximum(np.clip(change, 0, None).sum(-1), np.clip(-change, 0, None).sum(-1)), 0, 1)


def most_changed_heads(
    before: Float[np.ndarray, "layer head query key"], after: Float[np.ndarray, "layer head query key"], count: int
) -> tuple[tuple[tuple[int, int], float], ...]:
    """List the heads whose attention moved most, averaged over their queries, each with that share.

    Left out are heads that stood still, and those that are off afterwards: that theirs is gone is no news.
    """
    shares = moved_attention(before, after).mean(-1) * after.any(axis=(-1, -2))
    order = np.argsort(-shares, axis=None, kind="stable")[:count]
    places = (divmod(int(place), shares.shape[1]) for place in order)
    return tuple((place, float(shares[place])) for place in places if shares[place] >= 0.0005)


def describe_largest_change(
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
    if abs(float(change[query, key])) < MIN_DIFFERENCE:
        return "Nothing changed here." if focus is None else f"Nothing changed for '{queries[focus]}'."
    query += focus or 0
    was, now = float(before[query, key]), float(after[query, key])
    scope, of = (f"of {SHOWN}, ", "") if rescaled else ("", f" of {WHOLE}")
    told = (
        f"The largest change: {scope}'{queries[query]}' gives '{keys[key]}' {now:.2f}{of} in place of {was:.2f} "
        f"({'+' if now > was else '−'}{abs(now - was):.2f})."
    )
    share = moved_attention(before, after)[rows].mean()
    whose = "of the attention shown" if focus is None else f"of {SHOWN if rescaled else WHOLE}"
    return f"{told} In all, {share:.0%} {whose} went elsewhere or was lost."
