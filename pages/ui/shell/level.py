"""How much a page shows: Basic, for a first look, or Advanced, which is everything.

The level changes what is on the screen, never what is computed. A link that names a level wins over what the browser remembers.
Where neither says anything, a visit that begins at a view shows everything, as old links did, and one that begins at an entrance
begins in Basic: newcomers come by the start page, and experts find the switch.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

import streamlit as st

from pages.ui.shell import texts
from pages.ui.shell.step import ShownStep, step_of_run

LEVEL = "level"
"""The parameter of the address."""
BASIC, ADVANCED = "basic", "advanced"
COOKIE = "attention_explorer_level"
"""The browser's memory of the level that its visitor chose; assets/shell writes it."""
ENTRANCES = ("start", "learn", "classroom")
"""Pages at which newcomers begin."""
LEVEL_NOW, FIRST_LEVEL, LEVEL_CHOSEN = "level_now", "level_first", "level_chosen"
"""Session entries: the level of this run; that of the first; the one that the visitor chose by the switch."""
HIDDEN, SWITCH = "hidden_by_level", "level_switch"
"""Session entries: what this page hides, by the names of ADVANCED_PARTS; the widget."""
Option = TypeVar("Option", bound=str)

EXTRAS = {
    "formulas": "equations, and the sentences that explain their letters",
    "details": "what a head does on average, which grammar it follows, how far words to check are apart",
    "code": "the source of what computes",
    "tables": "numbers as tables",
    "forms": "data, web page and code of the export",
    "wall": "all heads as small maps: folded, as one way to choose a head",
    "scan": "every head switched off in turn",
    "change_panel": "all changes but switching a head off",
    "settings": "sizes of a training",
}
"""What ADVANCED_PARTS may name beside controls, each with what it is."""
ON_EVERY_VIEW = ("formulas", "code", "tables", "forms")
DRAWING = ("details", "words", "show", "lines", "scale", "wall")
HEAD_LOOKS = ("details", "show", "lines", "scale")
MODEL_SIZES = ("settings", "batch", "width", "layers", "heads", "feed", "seed", "rate")

ADVANCED_PARTS: Mapping[str, tuple[str, ...]] = {
    "start": ("model", "nospecial"),
    "attention": (*ON_EVERY_VIEW, *DRAWING, "pair", "model", "nospecial", "changes"),
    "fill_mask": (
        *(*ON_EVERY_VIEW, *DRAWING, "compare", "model", "nospecial", "listed", "limit", "temperature", "top_p"),
        *("scan", "change_panel"),
    ),
    "next_word": (*ON_EVERY_VIEW, *DRAWING, "model", "nospecial", "top_k", "top_p", "seed", "change_panel"),
    "compare": (
        *(*ON_EVERY_VIEW, "model", "model_b", "nospecial", "seed", "seed_b", "changes", "changes_b", "two"),
        *("words", "show", "lines", "scale", "vary=untrained", "vary=changes", "vary=model"),
    ),
    "patching": (*ON_EVERY_VIEW, "model", "nospecial", "what=attention", "what=mlp", "what=path"),
    "explanations": (*ON_EVERY_VIEW, "model", "nospecial"),
    "summaries": (
        *(*ON_EVERY_VIEW, "pair", "model", "nospecial"),
        *("part=values", "part=alike", "part=owed"),
    ),
    "importance": (*ON_EVERY_VIEW, "model", "nospecial", "ablation", "what", "set=own"),
    "vectors": (*ON_EVERY_VIEW, "model", "nospecial", "part=probe", "method", "most", "colour=xpos"),
    "claims": ON_EVERY_VIEW,
    "many_sentences": (*ON_EVERY_VIEW, "model", "nospecial", "exact"),
    "bertviz_page": ("forms", "pair", "model", "nospecial", "picture=neuron"),
    "self_attention": (
        *(*ON_EVERY_VIEW, "model", "nospecial", "weights", "seed", "normalise", "unscaled", "causal"),
        *("store", "answer", "q1", "q2", "q3"),
    ),
    "heads_and_blocks": (*ON_EVERY_VIEW, "pair", "nospecial", "bend", "part=norm", "part=depth"),
    "masks": (
        *(*ON_EVERY_VIEW, "model", "nospecial", "layer", "head", "padding", "part=penalty", "part=batch"),
        *("kind=padding", "kind=combined", "kind=window"),
    ),
    "positions": (*ON_EVERY_VIEW, "length", "width", "base", "model", "nospecial", "part=ways", "part=demands"),
    "encoder_decoder": (*ON_EVERY_VIEW, *MODEL_SIZES, *HEAD_LOOKS, "vocab", "length", "batches", "post", "part=inside"),
    "bert": (*ON_EVERY_VIEW, *DRAWING, "pair", "nospecial", "seed", "part=labels"),
    "classifier": (*ON_EVERY_VIEW, *MODEL_SIZES, *HEAD_LOOKS, "epochs", "tokens"),
}
"""What Basic hides, by page where it hides anything: controls by the names of their fields or widgets, `field=option` for one
option of a control, and EXTRAS. A hidden control keeps the value that a link gave it."""


def settle_level(page: str, by_history: bool) -> None:
    """Store the level of a run, from link, session and cookie; call it before anything is drawn.

    by_history: the browser's Back or Forward led to this run: an address without a level is then one of before any choice.
    """
    first = st.session_state.setdefault(FIRST_LEVEL, level_at_first(page, None, remembered_level()))
    may_be_old = LEVEL_CHOSEN in st.session_state and not by_history  # the browser may not know of the choice yet
    written = None if may_be_old else st.query_params.get(LEVEL)
    last = first if by_history else st.session_state.get(LEVEL_NOW, first)
    st.session_state[LEVEL_NOW] = written if written in (BASIC, ADVANCED) else last


def hide_parts(page: str) -> None:
    """Hide what the level leaves out of a page that is about to run, but nothing that the step of a lesson needs."""
    names = ADVANCED_PARTS.get(page, ()) if st.session_state[LEVEL_NOW] == BASIC else ()
    step = step_of_run()
    st.session_state[HIDDEN] = tuple(name for name in names if step is None or not _is_needed(step, name))


def _is_needed(step: ShownStep, name: str) -> bool:
    """Return whether a step needs a part of its page: one that names no controls may speak of any."""
    if name == "wall":
        return step.asks_head
    if step.controls is None:
        return name not in ON_EVERY_VIEW
    return name in step.controls or ("changes" in step.controls and name in ("change_panel", "scan"))


def remembered_level() -> str:
    """Return the level of the cookie from an earlier visit, "" for none or an invalid one."""
    remembered = st.context.cookies.get(COOKIE)
    return remembered if remembered in (BASIC, ADVANCED) else ""


def level_at_first(page: str, written: str | None, remembered: str) -> str:
    """Return the level of a visit that begins at a page. written: in its link; remembered: in the cookie of an earlier visit."""
    named = (one for one in (written, remembered) if one in (BASIC, ADVANCED))
    return next(named, BASIC if page in ENTRANCES else ADVANCED)


def choose_level(level: str) -> None:
    """Store the level that the visitor chose, in the address and in a cookie."""
    st.session_state[LEVEL_NOW] = st.session_state[LEVEL_CHOSEN] = level
    st.query_params[LEVEL] = level


def level_switch() -> None:
    """Draw the switch between the levels."""
    labels = {BASIC: texts.BASIC, ADVANCED: texts.ADVANCED}
    st.session_state[SWITCH] = st.session_state[LEVEL_NOW]
    st.segmented_control(
        texts.LEVEL,
        list(labels),
        format_func=labels.get,
        required=True,
        key=SWITCH,
        on_change=lambda: choose_level(st.session_state[SWITCH]),
        label_visibility="collapsed",
    )


def level_in_link() -> dict[str, str]:
    """Return the level as a parameter for links within the app; empty while none is set and everything is shown."""
    now = st.session_state.get(LEVEL_NOW, ADVANCED)
    named = LEVEL in st.query_params or LEVEL_CHOSEN in st.session_state
    return level_to_link(now, named=named)


def level_to_link(level: str, *, named: bool) -> dict[str, str]:
    """Return a level as a parameter of links. named: whether the visitor or the link asked for it."""
    return {LEVEL: level} if named or level == BASIC else {}


def is_hidden(name: str) -> bool:
    """Return whether the level hides a part or a control of the open page. name: of EXTRAS, of a field, or of its widget."""
    return any(name == one or name.endswith(f"_{one}") for one in st.session_state.get(HIDDEN, ()))


def hide_widgets(page: str) -> None:
    """Hide a page's own controls that the level leaves out, and columns of nothing else; those that pages share are not sent."""
    names = [name for name in st.session_state.get(HIDDEN, ()) if name not in EXTRAS and "=" not in name]
    hide_by_key([f"{page}_{name}" for name in names])


def hide_by_key(keys: Collection[str]) -> None:
    """Hide widgets that are sent. keys: of the widgets."""
    if keys:
        st.html(f"<style>{', '.join(f'.st-key-{key}' for key in keys)} {{ display: none; }}</style>")


def offered_options(name: str, options: Sequence[Option], chosen: object) -> list[Option]:
    """Leave out of the options of a control those that the level hides, but not the chosen one. name: of its field."""
    return [option for option in options if option == chosen or not is_hidden(f"{name}={option}")]


def show_hidden_values(names: Collection[str]) -> None:
    """Show which hidden controls have a value that is in effect, and offer to reveal them. names: of fields."""
    shown = dict.fromkeys(texts.SETTING_NAMES[name] for name in names if is_hidden(name))
    if not shown:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="level_values"):
        st.markdown(f":material/tune: {texts.HIDDEN_VALUES.format(names=', '.join(shown))}", width="content")
        st.button(texts.SHOW_HIDDEN, key="level_show", on_click=choose_level, args=(ADVANCED,))


def show_formula(latex: str) -> None:
    """Write a formula on a line of its own."""
    if not is_hidden("formulas"):
        st.latex(latex)
