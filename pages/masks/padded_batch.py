"""Two sentences in one batch: the proof that masked padding does not affect the shorter one."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from pages.masks import texts
from pages.ui.canvas.mask_grid import Heatmap, Naming, matrices
from pages.ui.panels.tokens import warn_of_unknown_in
from pages.ui.shell import cache
from pages.ui.shell.address import widget_key
from pages.ui.shell.numbers import ROUNDING, rounding_verdict, small_number
from tx_core.engine.catalogue import DEFAULT
from tx_core.lessons.padding import PaddedPair, padded_pair


def draw_padding(page: str) -> None:
    """Show the batch of the reader's two sentences, and how much the shorter one changes in it."""
    engine, state = cache.engine(DEFAULT), st.session_state
    first, second = state[widget_key(page, "text")], state[widget_key(page, "pair")]
    warn_of_unknown_in(engine, first, second)
    pair = cache.get_or_compute((page, "pair", first, second), lambda: padded_pair(engine, first, second))
    proof = pair.proof
    _write_batch(pair)
    if not proof.padding:
        st.info(texts.NO_PADDING)
        return
    left, right = st.columns(2)
    with left:
        _show_change(
            texts.CHANGE_MASKED, proof.difference_masked, rounding_verdict(proof.difference_masked, texts.PADDING_COUNTS)
        )
    with right:
        _show_change(texts.CHANGE_UNMASKED, proof.difference_unmasked, count_changed(proof.moved_unmasked))
    _draw_change(pair, widget_key(page, "moved"))
    st.caption(texts.BATCH_CAPTION)


def count_changed(by_token: Sequence[float]) -> str:
    """Say how many tokens changed by more than rounding."""
    changed = sum(change > ROUNDING for change in by_token)
    some = texts.SOME_CHANGED.format(changed=changed, tokens=len(by_token))
    return rounding_verdict(max(by_token), texts.ALL_CHANGED if changed == len(by_token) else some)


def _show_change(label: str, change: float, meaning: str) -> None:
    st.metric(label, small_number(change), meaning, delta_color="off", delta_arrow="off")


def _write_batch(pair: PaddedPair) -> None:
    """Write the batch as the model reads it, one sentence per line, padding included."""
    widths = [max(map(len, tokens)) for tokens in zip(*pair.rows, strict=True)]
    lines = (" ".join(token.ljust(width) for token, width in zip(row, widths, strict=True)) for row in pair.rows)
    st.code("\n".join(lines), language=None, wrap_lines=True)


def _draw_change(pair: PaddedPair, key: str) -> None:
    """Draw how much each token of the shorter sentence changes, with the padding masked and not."""
    tokens = pair.encodings[pair.shorter].tokens
    cells = np.array([pair.proof.moved_masked, pair.proof.moved_unmasked])
    alt = texts.CHANGE_BY_TOKEN_ALT.format(most=small_number(cells[0].max()), least=small_number(cells[1].min()))
    shown = [Heatmap(texts.CHANGE_BY_TOKEN, "signed", cells, alt, limit=float(cells.max()))]
    rows, naming = (texts.MASKED, texts.NOT_MASKED), Naming(texts.PADDING_CELL)
    matrices(rows, tokens, shown, key=key, naming=naming, tallest=64)
