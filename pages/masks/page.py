"""Who may look at whom? Masks by name and by hand on one head's real scores, and a padded batch of two sentences."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from pages.masks import pictures
from pages.masks.choice import KINDS, ask_head, ask_values, foreseen_controls, masked_head, take_painting, tell_nowhere
from pages.masks.pictures import who_moved
from pages.ui.canvas import mask_grid
from pages.ui.canvas.foresight import Drawn, Foresight
from pages.ui.panels.attention_table import warn_of_unknown_in
from pages.ui.shell import cache, controls
from pages.ui.shell.address import (
    Field,
    choice_field,
    number_field,
    read_view,
    text_field,
    widget_key,
    write_view,
)
from pages.ui.shell.frame import open_page, page_links, share_link
from pages.ui.shell.live import live
from pages.ui.shell.numbers import rounding_verdict, small_number
from pages.ui.shell.source_code import show_source
from tx_core.engine.catalogue import DEFAULT
from tx_core.lessons import masking, padding
from tx_core.transformer import attention, masks

PAGE = "masks"
LAYERS, HEADS = controls.embedded_sizes()
PARTS = {"one": "One sentence", "penalty": "−∞ or −10,000", "batch": "A padded batch"}
PENALTIES = ("-10000", "-100", "-10", "-5", "-2")


def read_mask(written: str) -> str:
    """Read a painted mask as a link writes it; ValueError for nonsense."""
    return mask_grid.mask_to_link(mask_grid.mask_from_link(written))


FIELDS = (
    text_field("text", "The cat sat on the mat."),
    text_field("pair", "It rained all day, so nobody went out."),
    choice_field("part", tuple(PARTS)),
    choice_field("kind", tuple(KINDS)),
    number_field("padding", 0, 0, 8),
    number_field("width", 1, 0, 8),
    number_field("layer", 1, 1, LAYERS),
    number_field("head", 1, 1, HEADS),
    choice_field("penalty", PENALTIES),
    Field("mask", "", read_mask),
)


def one_sentence() -> None:
    """One head's scores and weights before and after a mask."""
    st.markdown(
        "A mask answers **yes or no** for every pair of tokens: may this one look at that one? A forbidden score becomes "
        "−∞. Softmax makes exactly 0 of it and shares everything out among the scores that are left."
    )
    st.latex(r"\text{weights} = \text{softmax}\!\left(\frac{QK^\top}{\sqrt{d}} + M\right)")
    st.latex(
        r"M_{ij} = \begin{cases} 0 & \text{token } i \text{ may look at token } j \\ -\infty & \text{it may not} \end{cases}"
    )
    show_source(attention.attention_weights, masks.causal_mask, masks.padding_mask, masks.window_mask, masks.combine)
    live(PAGE, FIELDS, lay_mask)
    st.caption(
        "The scores are the model's own: real queries and keys of the layer and head you chose, read without any mask. "
        "The mask is laid on this one head."
    )


def lay_mask() -> None:
    """The mask that the reader chooses or paints, and what it does to the head."""
    warn_of_unknown_in(cache.engine(DEFAULT), st.session_state[widget_key(PAGE, "text")])
    values = ask_values(PAGE, st.session_state[widget_key(PAGE, "text")])
    head = masked_head(PAGE, values)
    st.session_state[widget_key(PAGE, "tokens")] = len(head.tokens)
    ahead = Foresight(PAGE, values, foreseen_controls(values, len(head.tokens)), draw_mask)
    mask_grid.show_matrices(
        pictures.before_and_after(head.tokens, head.effect),
        key=widget_key(PAGE, "grid"),
        on_paint=partial(take_painting, PAGE),
        foresight=ahead,
    )
    tell_nowhere(PAGE, head)


def draw_mask(values: Mapping[str, object]) -> Drawn:
    """Give the picture of a mask and a head."""
    head = masked_head(PAGE, values)
    return pictures.before_and_after(head.tokens, head.effect)


def penalties() -> None:
    """−∞ against a large negative number, and against no mask."""
    st.markdown(
        "The first BERT code did not set forbidden scores to −∞: it **added −10,000** to them. That is nearly the same, "
        "as long as real scores are much smaller than the penalty and every token may look somewhere. Make the penalty "
        "smaller and watch it leak."
    )
    st.latex(r"e^{-\infty} = 0 \qquad e^{-10\,000} \approx 10^{-4343}")
    show_source(masking.three_maskings)
    live(PAGE, FIELDS, weigh_penalty)


def weigh_penalty() -> None:
    """The penalty that the reader chooses, and how much of it leaks."""
    warn_of_unknown_in(cache.engine(DEFAULT), st.session_state[widget_key(PAGE, "text")])
    head = ask_head(PAGE, st.session_state[widget_key(PAGE, "text")])
    slider, _ = st.columns(2)
    penalty = slider.select_slider("Penalty", PENALTIES[::-1], key=widget_key(PAGE, "penalty"), format_func=minus)
    found = head.three_ways(float(penalty))
    pictures.three_ways(head.tokens, found, widget_key(PAGE, "ways"))
    one, two, three = st.columns(3)
    one.metric("Most weight that leaks past the penalty", small_number(found.leak))
    two.metric(f"−∞ against {minus(penalty)}, at most", small_number(found.greatest_difference))
    apart = small_number(found.greatest_difference_nowhere) if head.nowhere else "no such row"
    three.metric("The same where one may look nowhere", apart)
    tell_nowhere(PAGE, head)


def minus(number: str) -> str:
    """Write a whole number as a reader does: −10,000."""
    return f"{int(number):,}".replace("-", "−")


def batch() -> None:
    """Two sentences in one batch: padding must not count."""
    st.markdown(
        "Sentences are read in batches, side by side, so the shorter one is filled up with **[PAD]**. Those tokens must not "
        "count. Here is the proof: the shorter sentence is read alone, then beside the longer one, with and without the mask."
    )
    st.latex(r"\max_{t,\,i}\;\bigl|\,h^{\text{in the batch}}_{t,i} - h^{\text{alone}}_{t,i}\,\bigr| \;\overset{?}{=}\; 0")
    show_source(masks.padding_mask, padding.padding_proof)
    live(PAGE, FIELDS, prove_padding)


def prove_padding() -> None:
    """The two sentences in one batch, and how far the shorter one is moved."""
    engine, held = cache.engine(DEFAULT), st.session_state
    first, second = held[widget_key(PAGE, "text")], held[widget_key(PAGE, "pair")]
    warn_of_unknown_in(engine, first, second)
    pair = cache.remember((PAGE, "pair", first, second), lambda: padding.padded_pair(engine, first, second))
    pictures.batch(pair)
    if not pair.proof.padding:
        st.info("Both sentences have the same number of tokens: nothing is padded. Make one of them longer.")
        return
    masked, unmasked = st.columns(2)
    masked.metric(
        "Padding masked: greatest change",
        small_number(pair.proof.difference_masked),
        rounding_verdict(pair.proof.difference_masked, "the padding counts"),
        delta_color="off",
        delta_arrow="off",
    )
    unmasked.metric(
        "Padding not masked: greatest change",
        small_number(pair.proof.difference_unmasked),
        who_moved(pair.proof.moved_unmasked),
        delta_color="off",
        delta_arrow="off",
    )
    pictures.moved(pair, widget_key(PAGE, "moved"))
    st.caption("Of all numbers in the vectors that the last layer gives each token: the one that changed most.")


open_page(PAGE)
read_view(PAGE, FIELDS, {})
part = st.segmented_control(
    "Part", list(PARTS), key=widget_key(PAGE, "part"), format_func=PARTS.get, required=True, label_visibility="collapsed"
)
if part == "batch":
    left, right = st.columns(2)
    with left:
        controls.sentence(widget_key(PAGE, "text"), "First sentence")
    with right:
        controls.sentence(widget_key(PAGE, "pair"), "Second sentence")
else:
    controls.sentence(widget_key(PAGE, "text"))
{"one": one_sentence, "penalty": penalties, "batch": batch}[part]()
write_view(PAGE, FIELDS, {})
page_links(st.session_state[widget_key(PAGE, "text")], "", "attention", "fill_mask", "heads_and_blocks")
share_link()
