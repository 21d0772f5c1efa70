"""Who may look at whom? Masks by name and by hand on one head's real scores, and a padded batch of two sentences."""

import streamlit as st

from pages.ui import cache, controls, mask_grid, mask_pictures
from pages.ui.address import (
    Field,
    choice_field,
    keep_view,
    key,
    number_field,
    read_view,
    tell_not_understood,
    text_field,
    write_view,
)
from pages.ui.frame import explain, open_page, share_link, ways_on
from pages.ui.mask_pictures import short
from pages.ui.source_code import show_source
from tx_core import attention, mask_kinds, masked_scores, masks, padded_run
from tx_core.errors import ExplorerError
from tx_core.models import DEFAULT

PAGE = "masks"
LAYERS, HEADS = controls.embedded_sizes()
PARTS = {"one": "One sentence", "penalty": "−∞ or −10,000", "batch": "A padded batch"}
KINDS = {"causal": "Causal", "padding": "Padding", "combined": "Causal and padding", "window": "Window", "none": "None",
         "painted": "Painted"}  # fmt: skip
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


def take_painting() -> None:
    """Keep what the reader painted, as the mask of the page."""
    painted = mask_grid.painted_mask(key(PAGE, "grid"), st.session_state[key(PAGE, "tokens")])
    if painted is not None:
        st.session_state[key(PAGE, "mask")] = mask_grid.mask_to_link(painted)
        st.session_state[key(PAGE, "kind")] = "painted"


def empty_a_row(head: padded_run.MaskedHead) -> None:
    """Leave the token in the middle nowhere to look, whatever the mask was."""
    changed = mask_kinds.forbid_row(head.mask, len(head.tokens) // 2)
    st.session_state[key(PAGE, "mask")] = mask_grid.mask_to_link(changed.numpy())
    st.session_state[key(PAGE, "kind")] = "painted"


def add_padding() -> None:
    """A mask that hides padding shows nothing without any."""
    if st.session_state[key(PAGE, "kind")] in ("padding", "combined") and not st.session_state[key(PAGE, "padding")]:
        st.session_state[key(PAGE, "padding")] = 3


def ask_head(text: str) -> padded_run.MaskedHead:
    """Ask for a mask and a head; give the head's real scores on the sentence and the mask laid on them."""
    engine, held = cache.engine(DEFAULT), st.session_state
    st.segmented_control("Mask", list(KINDS), key=key(PAGE, "kind"), format_func=KINDS.get, required=True, on_change=add_padding)
    layer, head, padding, width = st.columns([2, 2, 3, 3])
    layer = layer.selectbox("Layer", range(1, engine.num_layers + 1), key=key(PAGE, "layer"))
    head = head.selectbox("Head", range(1, engine.num_heads + 1), key=key(PAGE, "head"))
    padding = padding.slider("Padding tokens behind the sentence", 0, 8, key=key(PAGE, "padding"))
    if held[key(PAGE, "kind")] == "window":
        width.slider("Neighbours on either side", 0, 8, key=key(PAGE, "width"))
    found = cache.remember((PAGE, text, padding), lambda: padded_run.padded_scores(engine, text, padding))
    held[key(PAGE, "tokens")] = len(found.tokens)
    kind, painted, tokens = held[key(PAGE, "kind")], held[key(PAGE, "mask")], len(found.tokens)
    if kind == "painted" and painted:
        mask = mask_kinds.fit_mask(mask_grid.mask_from_link(painted), tokens)
    else:
        mask = mask_kinds.mask_of_kind("none" if kind == "painted" else kind, tokens, found.real, held[key(PAGE, "width")])
    return found.under(mask, layer - 1, head - 1)


def one_sentence() -> None:
    """One head's scores and weights before and after a mask."""
    st.markdown(
        "A mask answers **yes or no** for every pair of tokens: may this one look at that one? A forbidden score becomes "
        "−∞. Softmax makes exactly 0 of it and shares everything out among the scores that are left."
    )
    st.latex(
        r"\text{weights} = \text{softmax}\!\left(\frac{QK^\top}{\sqrt{d}} + M\right)"
    )
    st.latex(
        r"M_{ij} = \begin{cases} 0 & \text{token } i \text{ may look at token } j \\ -\infty & \text{it may not} \end{cases}"
    )
    show_source(attention.attention_weights, masks.causal_mask, masks.padding_mask, masks.window_mask, masks.combine)
    head = ask_head(st.session_state[key(PAGE, "text")])
    mask_pictures.before_and_after(head.tokens, head.effect, key(PAGE, "grid"), take_painting)
    tell_nowhere(head)
    st.caption(
        "The scores are the model's own: real queries and keys of the layer and head you chose, read without any mask. "
        "The mask is laid on this one head."
    )


def tell_nowhere(head: padded_run.MaskedHead) -> None:
    """Say what becomes of tokens that may look nowhere, or make one."""
    if not head.nowhere:
        st.button("Leave one token nowhere to look", key=key(PAGE, "empty"), icon=":material/visibility_off:",
                  on_click=empty_a_row, args=(head,))  # fmt: skip
        return
    with st.container(border=True):
        names = ", ".join(f"'{head.tokens[query]}' (row {query + 1})" for query in head.nowhere)
        st.text(f"May look nowhere: {names}")
        st.markdown(
            "Softmax of a row of nothing but −∞ is 0 ÷ 0: not a number, and from there it spreads through the whole model. "
            "Ours gives such a row **zeros**: the token learns nothing from this head. With −10,000 in place of −∞ the row "
            "looks like real attention, because softmax does not notice when all scores of a row move together."
        )


def penalties() -> None:
    """−∞ against a large negative number, and against no mask."""
    st.markdown(
        "The first BERT code did not set forbidden scores to −∞: it **added −10,000** to them. That is nearly the same, "
        "as long as real scores are much smaller than the penalty and every token may look somewhere. Make the penalty "
        "smaller and watch it leak."
    )
    st.latex(r"e^{-\infty} = 0 \qquad e^{-10\,000} \approx 10^{-4343}")
    show_source(masked_scores.three_maskings)
    head = ask_head(st.session_state[key(PAGE, "text")])
    slider, _ = st.columns(2)
    penalty = slider.select_slider("Penalty", PENALTIES[::-1], key=key(PAGE, "penalty"), format_func=minus)
    found = head.three_ways(float(penalty))
    mask_pictures.three_ways(head.tokens, found, key(PAGE, "ways"))
    one, two, three = st.columns(3)
    one.metric("Most weight that leaks past the penalty", short(found.leak))
    two.metric(f"−∞ against {minus(penalty)}, at most", short(found.greatest_difference))
    apart = short(found.greatest_difference_nowhere) if head.nowhere else "no such row"
    three.metric("The same where one may look nowhere", apart)
    tell_nowhere(head)


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
    show_source(masks.padding_mask, masked_scores.padding_proof)
    engine, held = cache.engine(DEFAULT), st.session_state
    first, second = held[key(PAGE, "text")], held[key(PAGE, "pair")]
    pair = cache.remember((PAGE, "pair", first, second), lambda: padded_run.padded_pair(engine, first, second))
    mask_pictures.batch(pair)
    if not pair.proof.padding:
        st.info("Both sentences have the same number of tokens: nothing is padded. Make one of them longer.")
        return
    masked, unmasked = st.columns(2)
    masked.metric("Padding masked: greatest change", short(pair.proof.difference_masked), "the same but for rounding",
                  delta_color="off", delta_arrow="off")  # fmt: skip
    unmasked.metric("Padding not masked: greatest change", short(pair.proof.difference_unmasked), "every word has moved",
                    delta_color="off", delta_arrow="off")  # fmt: skip
    mask_pictures.moved(pair, key(PAGE, "moved"))
    st.caption("Of all numbers in the vectors that the last layer gives each token: the one that changed most.")


@st.fragment
def show(part: str) -> None:
    """Show one part of the page; its controls run nothing but this."""
    keep_view(PAGE, FIELDS)
    try:
        {"one": one_sentence, "penalty": penalties, "batch": batch}[part]()
    except ExplorerError as problem:
        explain(problem)
    write_view(PAGE, FIELDS, {})
    ways_on(st.session_state[key(PAGE, "text")], "", "attention", "fill_mask", "heads_and_blocks")
    share_link()


open_page(PAGE)
read_view(PAGE, FIELDS, {})
tell_not_understood(PAGE)
part = st.segmented_control("Part", list(PARTS), key=key(PAGE, "part"), format_func=PARTS.get, required=True,
                            label_visibility="collapsed")  # fmt: skip
if part == "batch":
    left, right = st.columns(2)
    with left:
        controls.sentence(key(PAGE, "text"), "First sentence")
    with right:
        controls.sentence(key(PAGE, "pair"), "Second sentence")
else:
    controls.sentence(key(PAGE, "text"))
show(part)
