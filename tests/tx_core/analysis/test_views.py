"""What is shown of a run keeps its sums, says what it left out, and is put into true words."""

import numpy as np

from tx_core.analysis import views
from tx_core.transformer.trace import AttentionStack, Encoding


def encoding(tokens: str, special: str = "", words: list[int | None] | None = None) -> Encoding:
    """Label tokens written with spaces; those in `special` are special, the others words of their own."""
    pieces = tuple(tokens.split())
    words = words or [None if piece in special.split() else place for place, piece in enumerate(pieces)]
    texts = {word: "".join(p.removeprefix("##") for p, w in zip(pieces, words, strict=True) if w == word) for word in words}
    numbers = {word: number for number, word in enumerate(word for word in texts if word is not None)}
    return Encoding(
        text=tokens,
        pair=None,
        ids=tuple(range(len(pieces))),
        tokens=pieces,
        segments=(0,) * len(pieces),
        special=tuple(piece in special.split() for piece in pieces),
        words=tuple(None if word is None else numbers[word] for word in words),
        word_texts=tuple(texts[word].capitalize() for word in numbers),
        blanks=(),
        unknown=(),
    )


def stack(queries: Encoding, keys: Encoding, layers: int = 2, heads: int = 3, seed: int = 0) -> AttentionStack:
    weights = np.random.default_rng(seed).random((layers, heads, len(queries), len(keys)), np.float32)
    return AttentionStack("self", queries, keys, weights / weights.sum(-1, keepdims=True))


FLIES = encoding("[CLS] time fl ##ies [SEP]", "[CLS] [SEP]", [None, 0, 1, 1, None])


def test_attention_to_a_word_is_the_sum_and_from_a_word_the_mean_over_its_pieces():
    weights = np.array([[[[0.1, 0.2, 0.3, 0.4], [0.5, 0.5, 0, 0], [0, 0, 0.8, 0.2]]]], np.float32)
    merged = views.merge_pieces(weights, [(0,), (1, 2)], [(0, 1), (2,), (3,)])
    np.testing.assert_allclose(merged, [[[[0.3, 0.3, 0.4], [0.5, 0.4, 0.1]]]], atol=1e-7)


def test_hiding_special_tokens_scales_rows_to_one():
    run = stack(FLIES, FLIES)
    shown = views.view(run, hide_special=True)
    assert shown.queries == ("time", "fl", "##ies")
    np.testing.assert_allclose(shown.weights.sum(-1), 1, atol=1e-5)
    lost = run.weights[:, :, 1:4, [0, 4]].sum(-1, keepdims=True)
    np.testing.assert_allclose(shown.weights * (1 - lost), run.weights[:, :, 1:4, 1:4], atol=1e-6)


def test_a_row_that_looked_at_hidden_tokens_only_becomes_zeros():
    weights = np.array([[[[1, 0], [0.25, 0.75]]]], np.float32)
    np.testing.assert_array_equal(views.leave_out(weights, [False, False], [True, False]), [[[[0], [1]]]])


def test_a_text_of_special_tokens_only_is_not_hidden_away():
    marks = encoding("[CLS] [SEP]", "[CLS] [SEP]")
    shown = views.view(stack(marks, marks), hide_special=True)
    assert shown.queries == ("[CLS]", "[SEP]")
    assert not shown.hides_special
    assert not views.view(stack(FLIES, marks), hide_special=True).hides_special


def test_the_mean_of_heads_is_taken_across_layers():
    run = stack(FLIES, FLIES)
    mean = views.mean_of_heads(run.weights, [(0, 2), (1, 0)])
    np.testing.assert_allclose(mean, (run.weights[0, 2] + run.weights[1, 0]) / 2, atol=1e-7)
    assert mean.dtype == np.float32
