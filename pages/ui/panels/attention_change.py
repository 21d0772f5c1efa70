"""What the reader's changes do to attention: before, after and the difference, and the heads that moved most."""

from collections.abc import Mapping, Sequence

import streamlit as st

from pages import contents
from pages.ui.canvas.attention_view import before_after, focused_token, heads_to_link
from pages.ui.panels import texts
from pages.ui.panels.changes import active_changes
from pages.ui.panels.view_options import ViewOptions
from pages.ui.shell import controls
from pages.ui.shell.address import widget_key
from pages.ui.shell.numbers import whole_percent
from tx_core.analysis import views
from tx_core.analysis.comparison import describe_largest_change, most_changed_heads
from tx_core.analysis.views import View
from tx_core.transformer.interventions import write_interventions

MAX_CHANGED_HEADS = 8
PREDICTIONS = contents.page("fill_mask")


def show_change(page: str, plain: View, changed: View, heads: Sequence[controls.Head], options: ViewOptions) -> str:
    """Draw what the changes do to attention; return the change of the chosen heads in a sentence.

    First the heads that moved most, then the chosen heads before and after. A head that is switched off has nothing to show but
    zeros, so the head that moved most stands before it.
    """
    moved = dict(most_changed_heads(plain.weights, changed.weights, MAX_CHANGED_HEADS))
    _offer_moved_heads(page, moved, len(changed.weights), heads)
    chosen, most = tuple(heads), next(iter(moved), None)
    if most is None or any(changed.weights[head].any() for head in chosen):
        return _show_pair(page, plain, changed, chosen, options, "before_after")
    st.markdown(texts.MOVED_MOST.format(head=controls.head_name(most)))
    _show_pair(page, plain, changed, (most,), options, "before_after_moved")
    st.markdown(texts.HEAD_OFF if len(chosen) == 1 else texts.HEADS_OFF)
    return _show_pair(page, plain, changed, chosen, options, "before_after")


def _show_pair(page: str, plain: View, changed: View, heads: Sequence[controls.Head], options: ViewOptions, part: str) -> str:
    """Draw two views of one text side by side, for these heads; return the change in a sentence."""
    before, after = (views.mean_of_heads(view.weights, heads) for view in (plain, changed))
    name, focus = widget_key(page, part), changed.row_of(options.focus)
    largest = describe_largest_change(before, after, changed.queries, changed.keys, focus, rescaled=changed.hides_special)
    head = controls.head_name(heads[0]) if len(heads) == 1 else texts.MEAN_OF_HEADS.format(count=len(heads))
    description = texts.HEAD_DESCRIPTION.format(head=head, description=largest)
    st.text(description)

    def set_focus() -> None:
        row = focused_token(name, len(changed.queries))
        st.session_state[widget_key(page, "focus")] = None if row is None else changed.query_places[row][0]

    before_after(
        changed.queries,
        changed.keys,
        before,
        after,
        alt=description,
        scale=options.scale,
        focus=focus,
        key=name,
        on_focus=set_focus,
    )
    return description


def _offer_moved_heads(page: str, moved: Mapping[controls.Head, float], layers: int, heads: Sequence[controls.Head]) -> None:
    """Offer the heads whose attention moved most, each to be looked at in one click."""
    if not moved:
        _explain_nothing_moved(page, layers, heads)
        return
    name = widget_key(page, "moved")
    st.session_state[name] = heads[0] if len(heads) == 1 and heads[0] in moved else None

    def choose() -> None:
        if head := st.session_state[name] or next(iter(heads), None):
            st.session_state[widget_key(page, "heads")] = [head]

    st.pills(
        texts.MOVED_HEADS,
        list(moved),
        key=name,
        on_change=choose,
        wrap=True,
        format_func=lambda head: texts.MOVED_HEAD.format(head=controls.head_name(head), share=whole_percent(moved[head])),
        help=texts.MOVED_HEADS_HELP,
    )


def _explain_nothing_moved(page: str, layers: int, heads: Sequence[controls.Head]) -> None:
    """Say why no other head's attention moved, and link to the page that shows what the changes do."""
    changes = active_changes(page)
    if any(change.layer != layers - 1 for change in changes):
        st.caption(texts.NO_HEAD_MOVED)
        return
    off = {(change.layer, change.head) for change in changes if change.kind == "off"}
    is_off = not off.isdisjoint({*heads, *((layer, None) for layer, _ in heads)})
    template = texts.NOTHING_AFTER_LAST_LAYER_OFF if is_off else texts.NOTHING_AFTER_LAST_LAYER
    st.caption(template.format(layer=layers))
    if page == PREDICTIONS.key:
        return
    text_and_model = {name: st.session_state[widget_key(page, name)] for name in ("text", "model")}
    st.page_link(
        PREDICTIONS.path,
        label=texts.SEE_ON_PAGE.format(page=PREDICTIONS.name),
        icon=":material/arrow_forward:",
        query_params=text_and_model | {"changes": write_interventions(changes), "heads": heads_to_link(heads)},
    )
