"""A mask chosen by name or drawn by hand, applied to one head of a BERT: scores and weights before and after, and the code."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from pages.masks import texts
from pages.ui.canvas import mask_grid
from pages.ui.canvas.mask_grid import MAX_PAINTED_TOKENS, Heatmap, Matrices, Naming, mask_from_link, matrices
from pages.ui.canvas.prefetch import Change, PackedPicture, Prefetch, read_number, read_option
from pages.ui.canvas.texts import QUERY_KEY_AXES
from pages.ui.export.computation import Computation, call, evaluate, load_call, named
from pages.ui.export.lessons import PartNumbers
from pages.ui.export.records import reading, source
from pages.ui.panels.tokens import SPECIAL_FIELD, warn_of_unknown_in
from pages.ui.shell import cache
from pages.ui.shell.address import widget_key
from pages.ui.shell.numbers import small_number
from tx_core.engine.catalogue import DEFAULT
from tx_core.lessons import masking
from tx_core.lessons.masking import MaskedHead, padded_pair, padded_scores


@dataclass(frozen=True)
class MaskKind:
    """What the page offers with a kind of mask.

    Attributes:
        title: what its button says.
        padding: tokens of padding that are added where there are none, without which the mask would hide nothing.
        has_width: whether the reader chooses the number of neighbours.
    """

    title: str
    padding: int = 0
    has_width: bool = False


DRAWN = "painted"
"""The kind of a mask drawn by hand, as links write it."""
KINDS = {
    "causal": MaskKind(texts.CAUSAL),
    "padding": MaskKind(texts.PADDING, padding=3),
    "combined": MaskKind(texts.COMBINED, padding=3),
    "window": MaskKind(texts.WINDOW, has_width=True),
    "none": MaskKind(texts.NO_MASK),
    DRAWN: MaskKind(texts.CUSTOM),
}
"""In the order of the buttons: those of `masking.KINDS`, and the one drawn by hand."""
SIZES = range(9)
"""Tokens of padding, and neighbours of a window."""
PENALTIES = ("-10000", "-100", "-10", "-5", "-2")


def draw_mask(page: str) -> None:
    """Draw the mask that the reader chooses or draws, and what it does to the head."""
    values = _ask_values(page)
    head = masked_head(page, values)
    tokens = len(head.tokens)
    st.session_state[widget_key(page, "tokens")] = tokens

    def draw(changed: Mapping[str, object]) -> PackedPicture:
        return before_and_after(masked_head(page, changed))

    paintable = tokens <= MAX_PAINTED_TOKENS
    st.caption(texts.DRAW_HINT if paintable else texts.READ_HINT.format(most=MAX_PAINTED_TOKENS))
    _offer_empty_row(page, head)
    mask_grid.show_matrices(
        before_and_after(head),
        key=widget_key(page, "grid"),
        on_paint=partial(_keep_drawing, page),
        prefetch=Prefetch(page, values, _readers(values, tokens), draw),
    )
    _show_empty_rows(page, head)


def draw_penalty(page: str) -> None:
    """Draw −∞ against the penalty that the reader chooses, and how much of it leaks."""
    head = masked_head(page, _ask_values(page))
    slider, button = st.columns(2, vertical_alignment="bottom")
    with button:
        _offer_empty_row(page, head)
    penalty = slider.select_slider(texts.PENALTY, PENALTIES[::-1], key=widget_key(page, "penalty"), format_func=_minus)
    run = head.three_ways(float(penalty))
    _draw_three_ways(head.tokens, run, widget_key(page, "ways"))
    one, two, three = st.columns(3)
    one.metric(texts.LEAK, small_number(run.leak))
    two.metric(texts.DIFFERENCE.format(penalty=_minus(penalty)), small_number(run.greatest_difference))
    three.metric(texts.DIFFERENCE_EMPTY, small_number(run.greatest_difference_nowhere) if head.nowhere else texts.NO_EMPTY_ROW)
    _show_empty_rows(page, head)


def masked_head(page: str, values: Mapping[str, object]) -> MaskedHead:
    """Compute the scores of the head that `values` of the page's fields name, with the mask that they name.

    Raises ExplorerError where the text cannot be read.
    """
    engine = cache.engine(DEFAULT, special_tokens=not values[SPECIAL_FIELD.name], weights=True)
    text, padding = values["text"], values["padding"]
    scores, head = head_calls(values)
    run = cache.get_or_compute((page, cache.engine_key(engine), text, padding), lambda: evaluate(scores, engine=engine))
    return evaluate(head, run=run)


def head_calls(values: Mapping[str, object]) -> tuple[Computation, Computation]:
    """Return the computation of the scores of all heads, and of the head that `values` name under the mask that they name."""
    engine = load_call(DEFAULT, not values[SPECIAL_FIELD.name])
    run = named("run", call(padded_scores, engine, values["text"], values["padding"]))
    kind, drawn, tokens = values["kind"], values["mask"], call(len, run.tokens)
    if kind == DRAWN and drawn:
        cells = call(np.array, mask_from_link(drawn).astype(int).tolist(), bool)
        mask = named("mask", call(masking.fit_mask, cells, tokens), "drawn by hand")
    else:
        mask = named("mask", call(masking.mask_of_kind, "none" if kind == DRAWN else kind, tokens, run.real, values["width"]))
    return run, named("head", run.under(mask, values["layer"] - 1, values["head"] - 1), "layer and head, counted from 0")


def _ask_values(page: str) -> dict[str, object]:
    """Ask for a mask and a head; return them, and the text, by the names of their fields."""
    engine, state = cache.engine(DEFAULT), st.session_state
    text = state[widget_key(page, "text")]
    warn_of_unknown_in(engine, text)
    st.segmented_control(
        texts.MASK,
        list(KINDS),
        key=widget_key(page, "kind"),
        format_func=lambda kind: KINDS[kind].title,
        required=True,
        on_change=_add_padding,
        args=(page,),
    )
    layer, head, padding, width = st.columns([2, 2, 3, 3])
    layer = layer.selectbox(texts.LAYER, range(1, engine.info.num_layers + 1), key=widget_key(page, "layer"))
    head = head.selectbox(texts.HEAD, range(1, engine.info.num_heads + 1), key=widget_key(page, "head"))
    padding = padding.slider(texts.PADDING_TOKENS, SIZES[0], SIZES[-1], key=widget_key(page, "padding"))
    if KINDS[state[widget_key(page, "kind")]].has_width:
        width.slider(texts.NEIGHBOURS, SIZES[0], SIZES[-1], key=widget_key(page, "width"))
    kept = {name: state[widget_key(page, name)] for name in ("kind", "mask", "width", SPECIAL_FIELD.name)}
    return {"text": text, "layer": layer, "head": head, "padding": padding, **kept}


def _add_padding(page: str) -> None:
    """Add padding to the sentence where the chosen mask needs some."""
    kind, padding = (widget_key(page, name) for name in ("kind", "padding"))
    st.session_state[padding] = st.session_state[padding] or KINDS[st.session_state[kind]].padding


def _keep_drawing(page: str) -> None:
    """Set the page's mask to the one that the reader drew."""
    drawn = mask_grid.painted_mask(widget_key(page, "grid"), st.session_state[widget_key(page, "tokens")])
    if drawn is not None:
        _use_drawing(page, drawn)


def _block_row(page: str, head: MaskedHead) -> None:
    """Mask every key of the middle token, whatever the mask was before."""
    _use_drawing(page, masking.forbid_row(head.mask, len(head.tokens) // 2).numpy())


def _use_drawing(page: str, mask: np.ndarray) -> None:
    st.session_state[widget_key(page, "mask")] = mask_grid.mask_to_link(mask)
    st.session_state[widget_key(page, "kind")] = DRAWN


def _readers(values: Mapping[str, object], tokens: int) -> dict[str, Callable[[str], Change]]:
    """Return, for each control, a function that turns what the browser reports of it into a change of `values`."""

    def kind(written: str) -> Change:
        chosen = read_option("kind", list(KINDS))(written)["kind"]
        return {"kind": chosen, "padding": values["padding"] or KINDS[chosen].padding}

    def painted(written: str) -> Change:
        mask = mask_grid.parse_mask(written, tokens)
        if mask is None:
            raise ValueError("a drawn mask must be 0 and 1 for each pair of tokens")
        return {"kind": DRAWN, "mask": mask_grid.mask_to_link(mask)}

    return {"kind": kind, "painted": painted, "padding": read_number("padding", SIZES), "width": read_number("width", SIZES)}


def _offer_empty_row(page: str, head: MaskedHead) -> None:
    """Offer to block every key of one query; disabled where a query is blocked already."""
    name, icon = widget_key(page, "empty"), ":material/visibility_off:"
    st.button(texts.BLOCK_ROW, key=name, icon=icon, on_click=_block_row, args=(page, head), disabled=bool(head.nowhere))


def _show_empty_rows(page: str, head: MaskedHead) -> None:
    """Explain the zeros of tokens that may attend to nothing."""
    if not head.nowhere:
        return
    with st.container(border=True):
        rows = (texts.EMPTY_ROW.format(token=head.tokens[query], row=query + 1) for query in head.nowhere)
        st.text(texts.EMPTY_ROWS.format(tokens=", ".join(rows)))
        st.markdown(texts.EMPTY_ROWS_TEXT)


def before_and_after(head: MaskedHead) -> PackedPicture:
    """Lay out the mask, scores and weights before and after it, and what each weight gained or lost, for the canvas."""
    effect, tokens = head.effect, head.tokens
    mask, scores = effect.mask.numpy(), effect.scores.numpy()
    limit = float(abs(scores).max())
    counted = {"allowed": int(mask.sum()), "pairs": mask.size}
    none_empty = mask.any(axis=1).all()
    shown = [
        Heatmap(texts.MASK_TITLE, "mask", mask, texts.MASK_ALT.format(**counted), note=texts.MASK_NOTE.format(**counted)),
        Heatmap(texts.SCORES_BEFORE, "signed", scores, texts.SCORES_BEFORE_ALT, limit=limit, note=texts.SCORES_BEFORE_NOTE),
        Heatmap(
            texts.SCORES_AFTER,
            "signed",
            effect.masked_scores.numpy(),
            texts.SCORES_AFTER_ALT,
            limit=limit,
            note=texts.SCORES_AFTER_NOTE,
        ),
        Heatmap(texts.CHANGE, "signed", effect.difference.numpy(), _largest_change(head), root=True, note=texts.CHANGE_NOTE),
        Heatmap(
            texts.WEIGHTS_BEFORE,
            "weights",
            effect.weights_before.numpy(),
            texts.WEIGHTS_BEFORE_ALT,
            note=texts.WEIGHTS_BEFORE_NOTE,
        ),
        Heatmap(
            texts.WEIGHTS_AFTER,
            "weights",
            effect.weights.numpy(),
            texts.WEIGHTS_AFTER_ALT,
            note=texts.WEIGHTS_AFTER_NOTE if none_empty else texts.WEIGHTS_AFTER_NOTE_EMPTY_ROW,
        ),
    ]
    naming = Naming(hint=texts.NO_CELL, axes=QUERY_KEY_AXES)
    return Matrices(tokens, tokens, tuple(shown), naming=naming).drawn(paintable=len(tokens) <= MAX_PAINTED_TOKENS)


def _largest_change(head: MaskedHead) -> str:
    change = head.effect.difference
    query, key = divmod(int(change.abs().argmax()), len(head.tokens))
    return texts.CHANGE_ALT.format(query=head.tokens[query], key=head.tokens[key], change=float(change[query, key]))


def _draw_three_ways(tokens: Sequence[str], run: masking.MaskingComparison, key: str) -> None:
    """Draw the weights masked by −∞, by a penalty and not at all, with the attention that leaks below each."""
    leak = texts.PENALISED_NOTE.format(leak=small_number(run.leak))
    unmasked = texts.UNMASKED_NOTE.format(leak=small_number(run.leak_unmasked))
    penalty = _minus(run.penalty)
    shown = [
        Heatmap(texts.INFINITE, "weights", run.infinite.numpy(), texts.INFINITE_ALT, note=texts.INFINITE_NOTE),
        Heatmap(penalty, "weights", run.penalised.numpy(), texts.PENALISED_ALT, note=leak),
        Heatmap(texts.UNMASKED, "weights", run.unmasked.numpy(), texts.UNMASKED_ALT, note=unmasked),
    ]
    matrices(tokens, tokens, shown, key=key, naming=Naming(axes=QUERY_KEY_AXES))


def _minus(number: str | float) -> str:
    """Write a whole number as a reader does: −10,000."""
    return f"{int(number):,}".replace("-", "−")


def part_numbers(page: str, part: str) -> PartNumbers:
    """Return what a part of the page computes."""
    names = ("text", "pair", "kind", "padding", "width", "layer", "head", "penalty", "mask", "nospecial")
    values = {name: st.session_state[widget_key(page, name)] for name in names}
    title, how = texts.EXPORT_TITLES[part].format(**values), reading(not values["nospecial"])
    if part == "batch":
        engine = load_call(DEFAULT, not values["nospecial"])
        proof = named("proof", call(padded_pair, engine, values["text"], values["pair"]).proof)
        about = source(DEFAULT, text=values["text"], pair=values["pair"], **how)
        return PartNumbers(title, about, [proof.moved_masked, proof.moved_unmasked], texts.EXPORT_RESULTS[part])
    kept = {name: values[name] for name in ("text", "kind", "padding", "width", "mask")}
    about = source(DEFAULT, **kept, **how, heads=f"layer {values['layer']}, head {values['head']}")
    _, head = head_calls(values)
    if part == "one":
        effect = named("effect", head.effect)
        shown = [effect.masked_scores, effect.weights_before, effect.weights]
    else:
        about["penalty"] = values["penalty"]
        ways = named("ways", head.three_ways(float(values["penalty"])))
        shown = [ways.infinite, ways.penalised, ways.unmasked]
    return PartNumbers(title, about, shown, texts.EXPORT_RESULTS[part])
