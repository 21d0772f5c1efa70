"""How a reader looks at attention: which heads, what is merged, hidden, focused and drawn. One set for each page that asks."""

import re
from collections.abc import Sequence

import streamlit as st

from pages.ui.shell.address import page_view, set_values, shows_stage_alone, value_of, view_parameters
from pages.ui.shell.controls import model_title
from pages.ui.shell.fields import Field, choice_field, flag_field, number_field
from pages.ui.stage import texts
from pages.ui.stage.tokens import escape_markdown
from tx_core.engine.engine import Engine
from tx_core.settings import ASSETS
from tx_core.transformer.interventions import Head
from tx_core.transformer.trace import Trace

MAX_LAYERS_OR_HEADS = 1000
MAX_LINKED_TOKENS = 100_000
LINKED_HEADS = re.compile("[1-9][0-9]{0,3}-[1-9][0-9]{0,3}(_[1-9][0-9]{0,3}-[1-9][0-9]{0,3})*", re.ASCII)
MAX_DRAWN_LINES = 200
MAX_NAMED = 100
"""Characters of a model's name, which a link may write, that a sentence repeats."""
COMPARED = ("after", "before", "difference")
"""Which of a changed run is shown."""


def view_fields(heads: Sequence[Head]) -> tuple[Field, ...]:
    """Describe how options stand in an address; the heads of the first visit are the page's own."""
    return (
        choice_field("stack", tuple(texts.STACK_LABELS)),
        Field("heads", list(heads), read_heads, heads_to_link),
        flag_field("words"),
        flag_field("hide"),
        choice_field("show", tuple(texts.DRAWING_LABELS)),
        number_field("lines", 40, 1, MAX_DRAWN_LINES),
        choice_field("scale", SCALES),
        Field("focus", None, read_focus, token_to_link),
    )


def read_heads(written: str) -> list[Head]:
    """Read heads as a link names them; ValueError where none is named. The model may still lack them."""
    heads = [tuple(map(int, one.split("-"))) for one in written.split("_")] if LINKED_HEADS.fullmatch(written) else []
    if not heads or len(set(heads)) < len(heads) or max(map(max, heads)) > MAX_LAYERS_OR_HEADS:
        raise ValueError("heads must be written like 4-5 or 1-2_1-3")
    return [(layer - 1, head - 1) for layer, head in heads]


def read_focus(written: str) -> int:
    """Read the position of the focused piece; ValueError for anything else. The text may still be shorter."""
    if not re.fullmatch("[1-9][0-9]{0,5}", written, flags=re.ASCII) or int(written) > MAX_LINKED_TOKENS:
        raise ValueError("focus must be the position of a token, counted from 1")
    return int(written) - 1


def drop_missing(page: str, num_layers: int, num_heads: int, num_tokens: int) -> list[str]:
    """Drop heads and a focus that this run does not have; return a sentence about each kind that was dropped."""
    missing = drop_missing_heads(page, num_layers, num_heads)
    notes = [missing] if missing else []
    position = value_of(page, "focus")
    if position is not None and position >= num_tokens:
        set_values(page, {"focus": None})
        notes.append(texts.TOKEN_MISSING.format(tokens=num_tokens, position=position + 1))
    return notes


def drop_missing_heads(page: str, num_layers: int, num_heads: int) -> str:
    """Drop heads that the model lacks; return a notice, "" where they were the page's defaults that nobody chose."""
    first = next(field.default for field in page_view(page).fields.all if field.name == "heads")
    wanted = list(value_of(page, "heads"))
    existing = [(layer, head) for layer, head in wanted if layer < num_layers and head < num_heads] or [(0, 0)]
    set_values(page, {"heads": existing})
    return "" if wanted in (existing, list(first)) else texts.HEADS_MISSING.format(layers=num_layers, heads=num_heads)


def nearest_head(page: str, engine: Engine) -> Head:
    """Return the layer and head of a page's fields, counted from 1; the nearest in number where a model lacks them, with a notice
    where a link or a reader chose them.
    """
    info, wanted = engine.info, (value_of(page, "layer"), value_of(page, "head"))
    nearest = min(wanted[0], info.num_layers), min(wanted[1], info.num_heads)
    if nearest != wanted:
        set_values(page, dict(zip(("layer", "head"), nearest, strict=True)))
        if {"layer", "head"} & view_parameters().keys():
            sizes = {"layers": info.num_layers, "heads": info.num_heads}
            st.info(texts.NEAREST_HEAD.format(model=escape_markdown(engine.title), **sizes))
    return nearest


def show_note(note: str, trace: Trace | None = None) -> None:
    """Show under a picture what it shows and what it cannot show. trace: the run whose first attention alone is shown."""
    several = trace is not None and len(trace.stacks) > 1
    st.caption(f":material/info: {texts.ENCODER_ONLY} {note}" if several else f":material/info: {note}")


def head_in_sentence(head: Head) -> str:
    """Return the name of a head within a sentence: (2, 4) is "layer 3, head 5"."""
    return f"layer {head[0] + 1}, head {head[1] + 1}"


def note_built_in(model: str) -> None:
    """Show which built-in model a page shows that takes no other, and that it is not the one that a link names."""
    built_in, named = model_title(model), view_parameters().get("model", model)
    if named != model:
        other = escape_markdown(model_title(named)[:MAX_NAMED])
        st.info(texts.SHOWS_BUILT_IN_ONLY.format(built_in=built_in, model=other))
    elif not shows_stage_alone():
        st.caption(texts.SHOWS_BUILT_IN.format(built_in=built_in))


_PALETTE = (ASSETS / "canvas/core/palette.js").read_text("utf-8").partition("const SCALES = {")[2].partition("\n};")[0]
SCALES = tuple(re.findall(r"^  (\w+): [\[{]", _PALETTE, re.MULTILINE))
"""The colour scales that a reader may choose, the first by default: their names in assets/canvas/core/palette.js."""


def heads_to_link(chosen: Sequence[Head]) -> str:
    """Write heads as a reader counts them, for an address: (2, 4) is "3-5"."""
    return "_".join(f"{layer + 1}-{head + 1}" for layer, head in chosen)


def token_to_link(focus: int | None) -> str:
    """Write a token's place as a reader counts it, for an address; no token is the empty text."""
    return "" if focus is None else str(focus + 1)
