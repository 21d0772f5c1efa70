"""Change something: switch off what is looked at, hide what is focused; chips that take every change back."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.panels import changes
from pages.ui.panels.change_popover import ask_change
from pages.ui.panels.changes import StackNames
from pages.ui.panels.held_changes import asked, change_button, put
from pages.ui.panels.tokens import escape_markdown
from pages.ui.panels.view_options import ViewOptions
from pages.ui.shell.controls import head_name
from tx_core.transformer.interventions import MAX_INTERVENTIONS, Intervention, InterventionKind, write_interventions

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.transformer.trace import AttentionStack, Trace


def stack_names(trace: "Trace") -> list[StackNames]:
    """Describe the stacks of a run, as changes are named by them."""
    return [
        StackNames(stack.kind, len(stack.weights), stack.query_tokens.tokens, stack.key_tokens.tokens) for stack in trace.stacks
    ]


def change_bar(page: str, trace: "Trace", number: int) -> None:
    """Let the reader act on the heads and the token that are looked at in stack `number`."""
    stack = trace.stacks[number]
    first = sum(len(earlier.weights) for earlier in trace.stacks[:number])
    options = ViewOptions.of(page)
    heads = [(layer + first, head) for layer, head in options.heads]
    which = head_name(options.heads[0]) if len(heads) == 1 else f"these {len(heads)} heads"
    focused = _focused(stack, options)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        ask_change(page, stack, options, first, which)
        _toggle(page, f"{which[0].lower()}{which[1:]}", "Switch off", "Switch on again", "off", heads)
        if focused and stack.kind == "self":
            label = " ".join(stack.key_tokens.tokens[place] for place in focused)
            wanted = [Intervention("hidden", positions=(place,)) for place in focused]
            change_button(page, f"Hide “{label}”", "hidden_focused", wanted, icon=":material/visibility_off:")


def chips(page: str, trace: "Trace") -> None:
    """List the active changes, each of which one click takes back, and a way to take back all.

    Their place is there while they are not: else the first one would move what follows, and an open popover would close.
    """
    active, names = asked(page), stack_names(trace)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"{page}_chips"):
        if not active:
            return
        st.markdown("**Changed:**")
        for change in active:
            st.button(
                escape_markdown(changes.in_words(change, names)),
                key=f"{page}_chip_{write_interventions([change])}",
                icon=":material/close:",
                help="Take this change back",
                on_click=put,
                args=(page, changes.without(active, change)),
            )
        st.button(
            "Reset",
            key=f"{page}_changes_reset",
            icon=":material/undo:",
            on_click=put,
            args=(page, ()),
            help="Take all changes back",
        )
        if len(active) >= MAX_INTERVENTIONS:
            st.caption(f"{MAX_INTERVENTIONS} changes are the most at a time: take one back to make another.")


def _toggle(page: str, which: str, act: str, undo: str, kind: InterventionKind, heads: Sequence[tuple[int, int]]) -> None:
    """One button that makes a change of all chosen heads, or takes it back where it is made."""
    wanted = [Intervention(kind, *head) for head in heads]
    if set(wanted) <= set(asked(page)):
        kept = tuple(change for change in asked(page) if change not in wanted)
        st.button(f"{undo}: {which}", key=f"{page}_{kind}", icon=":material/toggle_on:", on_click=put, args=(page, kept))
        return
    change_button(page, f"{act} {which}", kind, wanted, icon=":material/toggle_off:")


def _focused(stack: "AttentionStack", options: ViewOptions) -> tuple[int, ...]:
    """Give the pieces that are focused: one, or those of its word where words are shown whole."""
    from tx_core.analysis.views import word_groups

    if options.focus is None:
        return ()
    if not options.words:
        return (options.focus,)
    return next(group for group in word_groups(stack.query_tokens) if options.focus in group)
