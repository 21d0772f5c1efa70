"""Two texts, or a text before and after an intervention, compared: their words, their attention maps, their vectors."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from jaxtyping import Bool, Float, Int

from tx_core.analysis.views import View
from tx_core.transformer.trace import Encoding

WORD_NUMBERS = "{word} (word {mine} of A, {yours} of B)"
AFTER_WORD_NUMBERS = "{word} (after word {mine} of A, {yours} of B)"
SIMILARITY = "“{word}” in A and in B: similarity {first:.2f} before the first layer, {last:.2f} after the last."
SIMILARITY_WITH_MINIMUM = (
    "“{word}” in A and in B: similarity {first:.2f} before the first layer, {last:.2f} after the last, "
    "lowest after layer {layer} ({lowest:.2f})."
)

Position = int | None

PositionPair = tuple[Position, Position]

Spelling = tuple[str, str]


def spell_words(encoding: Encoding, groups: Sequence[tuple[int, ...]]) -> tuple[Spelling, ...]:
    """Return the spelling of each word, given by the positions of its tokens: its kind and its letters in lower case.

    A group that is only a piece of its word has the piece's letters. Special tokens are identified by their place, before all
    words or not, because every model spells them differently.
    """
    pieces = Counter(encoding.words)
    return tuple(_spelling(encoding, group, pieces) for group in groups)


def is_word(spelling: Spelling) -> bool:
    """Return whether a spelling is that of a word or sign, not of a blank or special token."""
    return spelling[0] == "word"


def word_numbers(words: Sequence[str], special: Sequence[bool]) -> tuple[int, ...]:
    """Count words from 1; special tokens and signs take the number of the word before them."""
    return tuple(accumulate(int(_counts(word, hidden)) for word, hidden in zip(words, special, strict=True)))


def number_word(word: str, special: bool, mine: int, yours: int) -> str:
    """Return a word with its numbers in A and in B, so that repeated words can be distinguished."""
    template = WORD_NUMBERS if _counts(word, special) else AFTER_WORD_NUMBERS
    return template.format(word=word, mine=mine, yours=yours)


def align(one: Sequence[Spelling], other: Sequence[Spelling]) -> tuple[tuple[int, int], ...]:
    """Pair as many equal words as can be paired in order (longest common subsequence, Wagner & Fischer 1974).

    Of several such pairings that with the last words of both, so that an article stays with its noun. Positions are counted from
    0 and ascend on both sides; exchanging the sides exchanges the pairs. Time and memory grow with words × words.
    """
    if (len(other), list(other)) < (len(one), list(one)):
        return tuple((mine, yours) for yours, mine in align(other, one))
    best = np.zeros((len(one) + 1, len(other) + 1), np.int64)  # of the first words of both
    for row, word in enumerate(one):
        joined = np.where([word == found for found in other], best[row, :-1] + 1, 0)
        best[row + 1, 1:] = np.maximum.accumulate(np.maximum(best[row, 1:], joined))
    pairs: list[tuple[int, int]] = []
    row, column = len(one), len(other)
    while row and column:
        if one[row - 1] == other[column - 1]:
            row, column = row - 1, column - 1
            pairs.append((row, column))
        elif best[row - 1, column] > best[row, column - 1]:
            row -= 1
        else:
            column -= 1
    return tuple(pairs[::-1])


def pair_rows(pairs: Sequence[tuple[int, int]], ones: int, others: int) -> tuple[PositionPair, ...]:
    """List the words of both sides in order, each pair as one row; None where a word has no partner."""
    rows: list[PositionPair] = []
    mine, yours = 0, 0
    for next_mine, next_yours in (*pairs, (ones, others)):
        rows += [(place, None) for place in range(mine, next_mine)]
        rows += [(None, place) for place in range(yours, next_yours)]
        if (next_mine, next_yours) != (ones, others):
            rows.append((next_mine, next_yours))
        mine, yours = next_mine + 1, next_yours + 1
    return tuple(rows)


def equal_words(one: Sequence[Spelling], other: Sequence[Spelling]) -> tuple[tuple[int, int], ...]:
    """List every pair of equal words, aligned or not, without special tokens and blanks."""
    return tuple(
        (mine, yours)
        for mine, spelling in enumerate(one)
        for yours, found in enumerate(other)
        if is_word(spelling) and spelling == found
    )


def _spelling(encoding: Encoding, group: tuple[int, ...], pieces: Counter) -> Spelling:
    place = group[0]
    word = encoding.words[place]
    if place in encoding.blanks:
        return ("blank", "")
    if encoding.special[place] or word is None:
        return ("special", "first" if all(encoding.special[:place]) else "after")
    letters = encoding.word_texts[word] if pieces[word] == len(group) else encoding.tokens[place]
    return ("word", letters.casefold())


def _counts(word: str, special: bool) -> bool:
    return not special and any(letter.isalnum() for letter in word)


Groups = Sequence[tuple[int, ...]]


@dataclass(frozen=True)
class WordSimilarity:
    """Cosine similarities after the embeddings and after each layer, −1 to 1.

    word: of the chosen word in A and in B. shared: mean over the other words that A and B share, of so many pairs; None without
    any. mean, spread: mean and standard deviation over all pairs of different words; None without any.
    """

    word: Float[np.ndarray, "depth"]
    shared: Float[np.ndarray, "depth"] | None
    mean: Float[np.ndarray, "depth"] | None
    spread: Float[np.ndarray, "depth"] | None
    shared_pairs: int
    pairs: int


def word_vectors(hidden: Float[np.ndarray, "depth token hidden"], groups: Groups) -> Float[np.ndarray, "depth word hidden"]:
    """Return one vector per word and layer: the mean of its tokens' vectors."""
    return np.stack([hidden[:, list(group)].mean(axis=1, dtype=np.float64) for group in groups], axis=1)


def cosines(
    one: Float[np.ndarray, "depth word hidden"], other: Float[np.ndarray, "depth other_word hidden"]
) -> Float[np.ndarray, "depth word other_word"]:
    """Return the cosine similarity of every word of A and every word of B; 0 for a zero vector."""
    dots = one @ other.swapaxes(-1, -2)
    lengths = np.linalg.norm(one, axis=-1)[:, :, None] * np.linalg.norm(other, axis=-1)[:, None, :]
    return np.clip(np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0), -1, 1)


def word_similarities(
    alike: Float[np.ndarray, "depth word other_word"],
    spelled: Sequence[Spelling],
    spelled_other: Sequence[Spelling],
    chosen: Sequence[tuple[int, int]],
) -> list[WordSimilarity]:
    """Follow pairs of words through the layers, beside the other shared words and beside pairs of different words.

    Different words have similar vectors, too, so a cosine means little without that baseline (Ethayarajh 2019, section 4).
    """
    aligned = [pair for pair in align(spelled, spelled_other) if is_word(spelled[pair[0]])]
    different = [
        (mine, yours)
        for mine, spelling in enumerate(spelled)
        for yours, found in enumerate(spelled_other)
        if is_word(spelling) and is_word(found) and spelling != found
    ]
    lines, baseline = _at(alike, aligned), _at(alike, different)
    mean, spread = (baseline.mean(axis=1), baseline.std(axis=1)) if different else (None, None)

    def follow(pair: tuple[int, int]) -> WordSimilarity:
        others = [mine != pair[0] and yours != pair[1] for mine, yours in aligned]
        shared = lines[:, others].mean(axis=1) if any(others) else None
        return WordSimilarity(alike[:, pair[0], pair[1]], shared, mean, spread, sum(others), len(different))

    return [follow(pair) for pair in chosen]


def describe_word_similarity(found: WordSimilarity, word: str) -> str:
    """Describe how a word's vectors separate through the layers, and how similar other words are."""
    low = int(np.argmin(found.word))
    inside = low not in (0, len(found.word) - 1)
    own = (SIMILARITY_WITH_MINIMUM if inside else SIMILARITY).format(
        word=word, first=found.word[0], last=found.word[-1], layer=low, lowest=found.word[low]
    )
    sentences = [own]
    if found.mean is not None:
        sentences.append(f"Different words have {found.mean[-1]:.2f} ± {found.spread[-1]:.2f} after the last layer.")
    if found.shared is not None:
        sentences.append(f"The other shared words have {found.shared[-1]:.2f} on average.")
    return " ".join(sentences)


def _at(alike: Float[np.ndarray, "depth word other_word"], pairs: Sequence[tuple[int, int]]) -> Float[np.ndarray, "depth pair"]:
    return alike[:, *np.array(pairs).T] if pairs else alike[:, 0, :0]


@dataclass(frozen=True)
class Comparison:
    """The words of both sides in one order, and the difference B − A wherever both sides have both words.

    rows: for each word its position in A and in B; None where it has no partner. labels: the words, as A writes them. difference:
    weights of B minus those of A, −1 to 1; 0 where `comparable` is False. comparable: where both sides have both words.
    """

    rows: tuple[PositionPair, ...]
    labels: tuple[str, ...]
    special: tuple[bool, ...]
    one: Float[np.ndarray, "word word"]
    other: Float[np.ndarray, "other_word other_word"]
    difference: Float[np.ndarray, "row row"]
    comparable: Bool[np.ndarray, "row row"]


def compare_attention(
    one: View,
    other: View,
    spelled: Sequence[Spelling],
    spelled_other: Sequence[Spelling],
    weights: Float[np.ndarray, "word word"],
    other_weights: Float[np.ndarray, "other_word other_word"],
) -> Comparison:
    """Align two attention maps word by word and subtract them.

    spelled: the spelling of each word of A, as `spell_words` returns it.
    """
    rows = pair_rows(align(spelled, spelled_other), len(spelled), len(spelled_other))
    labels = tuple(other.queries[yours] if mine is None else one.queries[mine] for mine, yours in rows)
    special = tuple(other.query_special[yours] if mine is None else one.query_special[mine] for mine, yours in rows)
    common = [(row, mine, yours) for row, (mine, yours) in enumerate(rows) if mine is not None and yours is not None]
    difference, comparable = np.zeros((len(rows), len(rows)), np.float32), np.zeros((len(rows), len(rows)), bool)
    if common:
        shared, mine, yours = (list(column) for column in zip(*common, strict=True))
        difference[np.ix_(shared, shared)] = other_weights[np.ix_(yours, yours)] - weights[np.ix_(mine, mine)]
        comparable[np.ix_(shared, shared)] = True
    return Comparison(rows, labels, special, weights, other_weights, difference, comparable)


def list_links(comparison: Comparison) -> Int[np.ndarray, "link 2"]:
    """List every link that A or B has, as (query row, key row), row by row."""
    of_one, of_other = (np.array([place is not None for place in side]) for side in zip(*comparison.rows, strict=True))
    return np.argwhere((of_one[:, None] & of_one) | (of_other[:, None] & of_other))


def largest_links(comparison: Comparison, listed: Int[np.ndarray, "link 2"], most: int) -> Int[np.ndarray, "most 2"]:
    """Return the `most` links of a list that differ most between A and B, the largest difference first."""
    order = np.argsort(-np.abs(comparison.difference[tuple(listed.T)]), kind="stable")
    return listed[order[:most]]


def moved_attention(
    before: Float[np.ndarray, "*axes query key"], after: Float[np.ndarray, "*axes query key"]
) -> Float[np.ndarray, "*axes query"]:
    """Return the share of each query's attention that went elsewhere or was lost, 0 to 1.

    For rows that sum to 1 this is the total variation distance; a row that becomes zeros lost everything: 1.
    """
    change = after.astype(np.float64) - before
    return np.clip(np.maximum(np.clip(change, 0, None).sum(-1), np.clip(-change, 0, None).sum(-1)), 0, 1)


def most_changed_heads(
    before: Float[np.ndarray, "layer head query key"], after: Float[np.ndarray, "layer head query key"], count: int
) -> tuple[tuple[tuple[int, int], float], ...]:
    """List the `count` heads whose attention changed most, as ((layer, head), share averaged over queries).

    Heads that did not change and heads that are switched off afterwards are left out.
    """
    shares = moved_attention(before, after).mean(-1) * after.any(axis=(-1, -2))
    order = np.argsort(-shares, axis=None, kind="stable")[:count]
    heads = (divmod(int(index), shares.shape[1]) for index in order)
    return tuple((head, float(shares[head])) for head in heads if shares[head] >= 0.0005)
