"""A mask on the whole model: a change of every layer, and the prediction at a blank before and after it."""

from collections.abc import Sequence

import streamlit as st

from pages import contents
from pages.masks import texts
from pages.ui.canvas.bars import moved_chart, show_bars
from pages.ui.panels.changes import describe_change, stack_names
from pages.ui.panels.predictions import word_label
from pages.ui.panels.tokens import warn_of_unknown
from pages.ui.shell import cache
from pages.ui.shell.address import widget_key
from pages.ui.shell.numbers import percent
from tx_core.engine.catalogue import DEFAULT
from tx_core.fill_mask.prediction_shift import BlankShift, shift_predictions
from tx_core.transformer.interventions import Intervention, write_interventions
from tx_core.transformer.trace import Trace

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
    change, engine = RUN_CHANGES[name], cache.engine(DEFAULT)
    plain = cache.trace(DEFAULT, text)
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
        st.caption(padding_sentence(cache.trace(DEFAULT, text, interventions=[change])))
    link_to_changed_pages(text, [change])


def prediction_sentence(blank: BlankShift) -> str:
    """Say which word comes first before and after the change, with its probabilities."""
    first = min(blank.moved, key=lambda one: one.rank_before)
    now = min(blank.moved, key=lambda one: one.rank_after)
    named = {"word": word_label(first.prediction), "before": percent(first.before), "after": percent(first.after)}
    if now is first:
        return texts.SAME_WORD_FIRST.format(**named)
    return texts.OTHER_WORD_FIRST.format(**named, now=word_label(now.prediction), share=percent(now.after))


def padding_sentence(changed: Trace) -> str:
    """Say how much attention the padding takes, on average over layers, heads and tokens."""
    taken = 1 - float(changed.attention.weights.sum(-1).mean())
    return texts.PADDING_TAKES.format(share=percent(taken), padding=PADDING)


def link_to_changed_pages(text: str, changes: Sequence[Intervention]) -> None:
    """Link to the pages that show every head, and every prediction, under the same change."""
    with st.container(horizontal=True, gap="small"):
        for key, label in texts.SEE_CHANGED.items():
            there = contents.page(key)
            parameters = {"text": text, "changes": write_interventions(changes)}
            st.page_link(there.path, label=label, icon=":material/arrow_forward:", query_params=parameters)
