"""Who may look at whom? Why masks are needed, masks by name and by hand on one head's scores, and −∞ against a penalty."""

import streamlit as st

from pages.ui.shell.frame import open_page

PAGE = "masks"
open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.masks import texts
from pages.masks.masked_head import KINDS, PENALTIES, SIZES, draw_mask, draw_penalty, part_numbers
from pages.masks.whole_run import RUN_CHANGES, draw_padding, draw_run, run_numbers
from pages.ui.canvas.mask_grid import mask_from_link, mask_to_link
from pages.ui.export.lessons import draw_and_export
from pages.ui.panels.parts_page import explain_built_in
from pages.ui.panels.tokens import SPECIAL_FIELD, ask_special_tokens, note_special_tokens
from pages.ui.shell import cache, controls
from pages.ui.shell.address import (
    Field,
    check,
    choice_field,
    number_field,
    read_view,
    text_field,
    widget_key,
    write_view,
)
from pages.ui.shell.controls import live
from pages.ui.shell.frame import ask_part, page_links, share_link, show_source
from pages.ui.shell.level import show_formula
from tx_core.engine.catalogue import DEFAULT
from tx_core.lessons.masking import compare_maskings, padding_proof
from tx_core.transformer import attention

LAYERS, HEADS = controls.embedded_sizes()


def read_mask(written: str) -> str:
    """Read a drawn mask as a link writes it; raise ValueError for nonsense."""
    return mask_to_link(mask_from_link(written))


FIELDS = (
    text_field("text", "The cat sat on the mat."),
    text_field("pair", "It rained all day, so nobody went out."),
    Field("part", "", lambda written: check(written, tuple(texts.PARTS))),
    choice_field("kind", tuple(KINDS)),
    number_field("padding", 0, SIZES[0], SIZES[-1]),
    number_field("width", 1, SIZES[0], SIZES[-1]),
    number_field("layer", 1, 1, LAYERS),
    number_field("head", 1, 1, HEADS),
    choice_field("penalty", PENALTIES),
    Field("mask", "", read_mask),
    text_field("blank", "Yesterday the children [MASK] to school by bus."),
    choice_field("run", tuple(RUN_CHANGES)),
    SPECIAL_FIELD,
)
FIRST_VIEW = {"part": "batch"}
OF_ONE_HEAD = {"kind", "padding", "width", "layer", "head", "mask"}
"""Fields by which a link without a part, as links were first written, shows one head."""


def choose_part() -> None:
    """Choose the part of a link that names none."""
    part = widget_key(PAGE, "part")
    if not st.session_state[part]:
        of_head = any(
            st.session_state[widget_key(PAGE, field.name)] != field.default for field in FIELDS if field.name in OF_ONE_HEAD
        )
        st.session_state[part] = "one" if of_head else "batch"


def one_sentence() -> None:
    """One head's scores and weights before and after a mask."""
    st.markdown(texts.ONE_TEXT)
    show_formula(texts.WEIGHTS_FORMULA)
    show_formula(texts.MASK_FORMULA)
    show_source(
        attention.attention_weights, attention.causal_mask, attention.padding_mask, attention.window_mask, attention.combine
    )
    live(PAGE, FIELDS, draw_and_export, PAGE, lambda: part_numbers(PAGE, "one"), draw_mask, PAGE)
    st.caption(texts.ONE_CAPTION)


def penalties() -> None:
    """−∞ against a large negative number, and against no mask."""
    st.markdown(texts.PENALTY_TEXT)
    show_formula(texts.PENALTY_FORMULA)
    show_source(compare_maskings)
    live(PAGE, FIELDS, draw_and_export, PAGE, lambda: part_numbers(PAGE, "penalty"), draw_penalty, PAGE)


def padding_and_runs() -> None:
    """Two sentences in one batch, in which padding must not count; and a mask on the whole model."""
    st.header(texts.BATCH_TITLE, anchor=False)
    st.markdown(texts.BATCH_TEXT)
    show_formula(texts.BATCH_FORMULA)
    show_source(attention.padding_mask, padding_proof)
    left, right = st.columns(2)
    with left:
        controls.sentence(widget_key(PAGE, "text"), texts.FIRST_SENTENCE)
    with right:
        controls.sentence(widget_key(PAGE, "pair"), texts.SECOND_SENTENCE)
    live(PAGE, FIELDS, draw_and_export, PAGE, lambda: part_numbers(PAGE, "batch"), draw_padding, PAGE)
    st.header(texts.RUN_TITLE, anchor=False)
    st.markdown(texts.RUN_TEXT)
    controls.sentence(widget_key(PAGE, "blank"), texts.RUN_SENTENCE)
    st.segmented_control(
        texts.RUN, list(RUN_CHANGES), key=widget_key(PAGE, "run"), format_func=texts.RUN_LABELS.get, required=True
    )
    live(PAGE, FIELDS, draw_and_export, PAGE, lambda: run_numbers(PAGE), draw_run, PAGE, place="run")


read_view(PAGE, FIELDS, FIRST_VIEW)
choose_part()
with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
    part = ask_part(PAGE, texts.PART, texts.PARTS)
    special = ask_special_tokens(PAGE)
note_special_tokens(cache.engine(DEFAULT), special)
if part != "batch":
    controls.sentence(widget_key(PAGE, "text"))
{"one": one_sentence, "penalty": penalties, "batch": padding_and_runs}[part]()
explain_built_in()
write_view(PAGE, FIELDS, FIRST_VIEW)
page_links(st.session_state[widget_key(PAGE, "text")], "", "attention", "fill_mask", "heads_and_blocks")
share_link()
