"""Masks in runs of a whole model: two sentences in one batch with padding, and a mask in every layer with its prediction."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from pages.masks import texts
from pages.ui.canvas.charts import moved_chart, show_bars
from pages.ui.canvas.mask_grid import Heatmap, Naming, matrices
from pages.ui.export.computation import call, changes_argument, each, load_call, named
from pages.ui.export.lessons import PartNumbers
from pages.ui.export.records import reading, source
from pages.ui.panels.changes import describe_change, stack_names
from pages.ui.panels.predictions import word_label
from pages.ui.panels.tokens import engine_as_asked, reading_in_link, warn_of_unknown, warn_of_unknown_in
from pages.ui.shell import cache
from pages.ui.shell.address import widget_key
from pages.ui.shell.frame import page_link, preformatted
from pages.ui.shell.numbers import ROUNDING, percent, rounding_verdict, small_number, weight
from tx_core.engine.catalogue import DEFAULT
from tx_core.engine.engine import Engine
from tx_core.fill_mask.prediction_shift import BlankShift, shift_predictions
from tx_core.lessons.masking import PaddedPair, padded_pair
from tx_core.transformer.interventions import Intervention, write_interventions
from tx_core.transformer.trace import Trace


def draw_padding(page: str) -> None:
    """Show the batch of the reader's two sentences, and how much the shorter one changes in it."""
    engine, state = engine_as_asked(page), st.session_state
    first, second = state[widget_key(page, "text")], state[widget_key(page, "pair")]
    warn_of_unknown_in(engine, first, second)
    pair = cache.get_or_compute(
        (page, "pair", cache.engine_key(engine), first, second), lambda: padded_pair(engine, first, second)
    )
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
    """Return a sentence on how many tokens changed by more than rounding."""
    changed = sum(change > ROUNDING for change in by_token)
    some = texts.SOME_CHANGED.format(changed=changed, tokens=len(by_token))
    return rounding_verdict(max(by_token), texts.ALL_CHANGED if changed == len(by_token) else some)


def _show_change(label: str, change: float, meaning: str) -> None:
    st.metric(label, small_number(change), meaning, delta_color="off", delta_arrow="off")


def _write_batch(pair: PaddedPair) -> None:
    """Write the batch as the model reads it, one sentence per line, padding included."""
    widths = [max(map(len, tokens)) for tokens in zip(*pair.rows, strict=True)]
    lines = (" ".join(token.ljust(width) for token, width in zip(row, widths, strict=True)) for row in pair.rows)
    with st.container(key="masks_batch"):  # assets/page.css gives up the columns on a phone, where no line holds a sentence
        preformatted(lines, wrap=True)


def _draw_change(pair: PaddedPair, key: str) -> None:
    """Draw how much each token of the shorter sentence changes, with the padding masked and not."""
    tokens = pair.encodings[pair.shorter].tokens
    cells = np.array([pair.proof.moved_masked, pair.proof.moved_unmasked])
    alt = texts.CHANGE_BY_TOKEN_ALT.format(most=small_number(cells[0].max()), least=small_number(cells[1].min()))
    shown = [Heatmap(texts.CHANGE_BY_TOKEN, "signed", cells, alt, limit=float(cells.max()))]
    rows, naming = (texts.MASKED, texts.NOT_MASKED), Naming(texts.PADDING_CELL)
    matrices(rows, tokens, shown, key=key, naming=naming, tallest=64)


PADDING = 8
"""Padding tokens that are not masked."""
RUN_CHANGES = {
    "causal": Intervention("causal"),
    "padding": Intervention("no_padding_mask", value=float(PADDING)),
    "positions": Intervention("no_positions"),
}
"""The changes of a whole run that are offered, by their names in a link."""
WORDS = 4
LIMITS = (0.1, 0.25, 0.5, 1.0)
"""Shares at which the bars may end."""


def draw_run(page: str) -> None:
    """Show what a change of every layer does to the prediction at each blank of the reader's sentence."""
    text, name = st.session_state[widget_key(page, "blank")], st.session_state[widget_key(page, "run")]
    change, engine = RUN_CHANGES[name], engine_as_asked(page)
    plain = cache.trace_with(engine, text)
    warn_of_unknown([plain.attention.query_tokens])
    st.markdown(texts.RUN_TEXTS[name].format(padding=PADDING))
    found = shift_predictions(engine, text, [change], top_k=WORDS)
    title = describe_change(change, stack_names(plain))
    for blank in found.blanks:
        st.text(prediction_sentence(blank))
        largest = max(share for one in blank.moved for share in (one.before, one.after))
        chart = moved_chart(
            title,
            [word_label(one.prediction) for one in blank.moved],
            [one.before for one in blank.moved],
            [one.after for one in blank.moved],
            limit=next(limit for limit in LIMITS if largest <= limit),
        )
        ranks = [texts.RANKS.format(before=one.rank_before, after=one.rank_after) for one in blank.moved]
        show_bars(chart, ranks, key=widget_key(page, f"run_words{blank.number}"))
    if name == "padding":
        st.caption(padding_sentence(cache.trace_with(engine, text, interventions=[change])))
    link_to_changed_pages(engine, text, [change])


def prediction_sentence(blank: BlankShift) -> str:
    """Return a sentence on the top prediction before and after the change, with its probabilities."""
    first = min(blank.moved, key=lambda one: one.rank_before)
    now = min(blank.moved, key=lambda one: one.rank_after)
    named = {"word": word_label(first.prediction), "before": percent(first.before), "after": percent(first.after)}
    if now is first:
        return texts.SAME_WORD_FIRST.format(**named)
    return texts.OTHER_WORD_FIRST.format(**named, now=word_label(now.prediction), share=percent(now.after))


def padding_sentence(changed: Trace) -> str:
    """Return a sentence on the share of attention that goes to padding, the mean over layers, heads and tokens."""
    taken = 1 - float(changed.attention.weights.sum(-1).mean())
    return texts.PADDING_TAKES.format(share=weight(taken), padding=PADDING)


def link_to_changed_pages(engine: Engine, text: str, changes: Sequence[Intervention]) -> None:
    """Link to the pages that show every head, and every prediction, under the same change."""
    with st.container(horizontal=True, gap="small"):
        for key, label in texts.SEE_CHANGED.items():
            how = reading_in_link(engine.tokenizer.special_tokens) if key == "attention" else {}
            page_link(key, label, {"text": text, "changes": write_interventions(changes), **how}, icon=":material/arrow_forward:")


def run_numbers(page: str) -> PartNumbers:
    """Return what the predictions with and without a mask on the whole model are computed of."""
    text, run, nospecial = (st.session_state[widget_key(page, name)] for name in ("blank", "run", "nospecial"))
    change = list(changes_argument([RUN_CHANGES[run]]).values())
    shift = named("shift", call(shift_predictions, load_call(DEFAULT, not nospecial), text, *change, top_k=WORDS))
    moved = named("moved", each(shift.blanks, lambda blank: each(blank.moved, lambda one: (one.before, one.after))))
    title, about = texts.EXPORT_RUN.format(change=texts.RUN_LABELS[run]), {"text": text, "changes": texts.RUN_LABELS[run]}
    return PartNumbers(title, source(DEFAULT, **about, **reading(not nospecial)), [moved], texts.EXPORT_RUN_RESULT)
