"""What the reader's changes do to attention: before, after and the difference, and the heads that moved most."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from pages import contents
from pages.ui.canvas.attention_view import focused_token, heads_to_link
from pages.ui.canvas.before_after import before_after
from pages.ui.panels.held_changes import asked
from pages.ui.panels.view_options import ViewOptions
from pages.ui.shell import controls
from pages.ui.shell.address import widget_key
from tx_core.transformer.interventions import write_interventions

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.analysis.views import View

MAX_CHANGED_HEADS = 8
ANSWERS = contents.page("fill_mask")
ANSWER = "What it changes is the answer: the words that the model finds likely at a blank."


def show_change(page: str, plain: "View", changed: "View", heads: Sequence[controls.Head], options: ViewOptions) -> str:
    """Set two views of one text side by side, for the chosen heads; give the change in a sentence."""
    from tx_core.analysis import views
    from tx_core.analysis.comparison import describe_largest_change

    before, after = (views.mean_of_heads(view.weights, heads) for view in (plain, changed))
    name, focus = widget_key(page, "before_after"), changed.row_of(options.focus)
    which = controls.head_name(heads[0]) if len(heads) == 1 else f"Mean of {len(heads)} heads"
    largest = describe_largest_change(before, after, changed.queries, changed.keys, focus, rescaled=changed.hides_special)
    told = f"{which}. {largest}"
    st.text(told)

    def take_focus() -> None:
        row = focused_token(name, len(changed.queries))
        st.session_state[widget_key(page, "focus")] = None if row is None else changed.query_places[row][0]

    before_after(
        changed.queries, changed.keys, before, after, label=told, scale=options.scale, focus=focus, key=name, on_focus=take_focus
    )
    _moved_most(page, plain, changed, heads)
    return told


def _moved_most(page: str, plain: "View", changed: "View", heads: Sequence[controls.Head]) -> None:
    """Offer the heads whose attention moved most, each to be looked at in one click."""
    from tx_core.analysis.comparison import most_changed_heads

    found = dict(most_changed_heads(plain.weights, changed.weights, MAX_CHANGED_HEADS))
    if not found:
        _nothing_moved(page, len(changed.weights), heads)
        return
    name = widget_key(page, "moved")
    st.session_state[name] = heads[0] if len(heads) == 1 and heads[0] in found else None

    def choose() -> None:
        if head := st.session_state[name] or next(iter(heads), None):
            st.session_state[widget_key(page, "heads")] = [head]

    st.pills(
        "Heads that moved most",
        list(found),
        key=name,
        on_change=choose,
        wrap=True,
        format_func=lambda head: f"{controls.head_name(head)}: {found[head]:.0%}",
        help="The share of a head's attention that went elsewhere or was lost, averaged over the tokens that look. Layers "
        "before the first change stay as they are. The wall shows the heads as they are now.",
    )


def _nothing_moved(page: str, layers: int, heads: Sequence[controls.Head]) -> None:
    """Say why no other head's attention moved, and lead to where it is seen what the changes do."""
    active = asked(page)
    if any(change.layer != layers - 1 for change in active):
        st.caption("No other head's attention moved by 0.05 % or more, its queries' mean.")
        return
    off = {(change.layer, change.head) for change in active if change.kind == "off"}
    is_off = not off.isdisjoint({*heads, *((layer, None) for layer, _ in heads)})
    empty = "What is switched off looks nowhere: its map is empty. " if is_off else ""
    st.caption(f"{empty}Layer {layers} is the last here: no head comes after it, so no other attention can move. {ANSWER}")
    if page == ANSWERS.key:
        return
    carried = {name: st.session_state[widget_key(page, name)] for name in ("text", "model")}
    st.page_link(
        ANSWERS.path,
        label=f"See it on {ANSWERS.name}",
        icon=":material/arrow_forward:",
        query_params=carried | {"changes": write_interventions(active), "heads": heads_to_link(heads)},
    )
