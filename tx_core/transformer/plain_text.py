"""Texts that need no word pieces: a sequence of numbers, or whole words, labelled as every run's tokens are."""

from collections.abc import Sequence

from tx_core.transformer.trace import Encoding


def plain_encoding(
    tokens: Sequence[str], ids: Sequence[int], special: Sequence[bool] | None = None, unknown: Sequence[int] = ()
) -> Encoding:
    """Label ids by the tokens that they stand for, each a word of its own unless it is special.

    unknown: the places of words that the vocabulary does not have.
    Raises ValueError when there are not as many tokens as ids.
    """
    if len(tokens) != len(ids):
        raise ValueError(f"every id needs one token, got {len(ids)} ids and {len(tokens)} tokens")
    special = tuple(special) if special is not None else (False,) * len(ids)
    words, texts = [], []
    for token, mark in zip(tokens, special, strict=True):
        words.append(None if mark else len(texts))
        if not mark:
            texts.append(token)
    return Encoding(
        text=" ".join(texts),
        pair=None,
        ids=tuple(ids),
        tokens=tuple(tokens),
        segments=(0,) * len(ids),
        special=special,
        words=tuple(words),
        word_texts=tuple(texts),
        blanks=(),
        unknown=tuple(unknown),
    )
