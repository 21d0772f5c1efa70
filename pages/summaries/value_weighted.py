"""A head's weights beside the lengths of the vectors that it adds (Kobayashi et al. 2020)."""

from collections.abc import Callable

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.summaries import texts
from pages.summaries.export import Subject, computed, engine_of, matrices_export, trace_call
from pages.ui.canvas.mask_grid import Heatmap, Matrices, matrices
from pages.ui.export.computation import Computation, call, evaluate, named
from pages.ui.export.records import Code, Export
from pages.ui.panels.texts import EXPLANATION_DEBATE
from pages.ui.panels.tokens import numbered_tokens
from pages.ui.panels.view_options import ask_head, head_in_sentence, show_note
from pages.ui.shell import cache
from pages.ui.shell.address import widget_key
from pages.ui.shell.controls import head_name
from pages.ui.shell.frame import show_source
from pages.ui.shell.level import is_hidden, show_formula
from tx_core.analysis import value_weighted
from tx_core.analysis.value_weighted import ValueWeighted, row_shares, total_shares
from tx_core.engine.engine import Engine, head_parts
from tx_core.transformer.interventions import Head
from tx_core.transformer.trace import AttentionStack, Trace

EQUATIONS = (r"\lVert \alpha_{ij}\, f(x_j) \rVert", r"f(x) = (x W^V + b^V)\, W^O")


def show(page: str, engine: Engine, text: str, pair: str) -> Callable[[], Export]:
    """Draw weights and weighted lengths of one head and of its layer."""
    st.markdown(texts.VALUES)
    for equation in EQUATIONS:
        show_formula(equation)
    show_source(value_weighted.value_weighted, head_parts)
    trace = cache.trace_with(engine, text, pair, keep=("weights", "value"))
    stack = trace.attention
    head = ask_head(page, *stack.weights.shape[:2])
    weighted_call, *maps = numbers(trace, head)
    weighted = computed(page, engine, trace, weighted_call, head[0])
    drawn = _draw(page, stack, head, evaluate(maps, trace=trace, weighted=weighted))
    description = describe_lengths(stack, head, weighted)
    st.text(description)
    _show_numbers(page, stack, head, weighted)
    show_note(f"{texts.VALUES_CAVEAT} {EXPLANATION_DEBATE}", trace)
    return lambda: export(trace, head, drawn, description)


def _draw(page: str, stack: AttentionStack, head: Head, maps: list[Float[np.ndarray, "query key"]]) -> Matrices:
    tokens = stack.query_tokens.tokens
    titles = texts.HEAD_WEIGHTS.format(head=head_in_sentence(head)), texts.HEAD_BY_VALUES
    titles += (texts.LAYER_BY_VALUES.format(layer=head[0] + 1),)
    limit = max(float(cells.max()) for cells in maps)
    panels = [
        Heatmap(
            title,
            "weights",
            cells,
            texts.VALUES_ALT.format(title=title, head=head_in_sentence(head)),
            limit=limit,
            root=True,
            note=texts.ROWS_SUM_TO_1,
        )
        for title, cells in zip(titles, maps, strict=True)
    ]
    return matrices(tokens, tokens, panels, key=f"{page}_values")


def describe_lengths(stack: AttentionStack, head: Head, weighted: ValueWeighted) -> str:
    """Return a sentence on the longest and the shortest value, and the token whose share changes most."""
    labels, lengths = numbered_tokens(stack.key_tokens.tokens), weighted.values[head[1]]
    shortest, longest = int(lengths.argmin()), int(lengths.argmax())
    weights, shares = stack.weights[head].mean(axis=0), row_shares(weighted.mixed[head[1]]).mean(axis=0)
    totals = total_shares(weighted.mixed[head[1]])
    moved = int(np.abs(shares - weights).argmax())
    return texts.LENGTHS.format(
        head=head_name(head),
        longest=labels[longest],
        longest_length=lengths[longest],
        shortest=labels[shortest],
        shortest_length=lengths[shortest],
        moved=labels[moved],
        weight=weights[moved],
        share=shares[moved],
        total=totals[moved],
    )


def _show_numbers(page: str, stack: AttentionStack, head: Head, weighted: ValueWeighted) -> None:
    if is_hidden("tables"):
        return
    folded = st.expander(texts.NUMBERS, key=widget_key(page, "values_numbers"), on_change="rerun")
    if folded.open:
        columns = (
            numbered_tokens(stack.key_tokens.tokens),
            stack.weights[head].mean(axis=0).astype(float).round(4),
            weighted.values[head[1]].round(4),
            row_shares(weighted.mixed[head[1]]).mean(axis=0).round(4),
            total_shares(weighted.mixed[head[1]]).round(4),
        )
        folded.dataframe(dict(zip(texts.VALUES_COLUMNS, columns, strict=True)), hide_index=True)


def export(trace: Trace, head: Head, drawn: Matrices, description: str) -> Export:
    """Return the export of weights and value-weighted attention."""
    subject = Subject(
        trace,
        texts.VALUES_SUBJECT.format(head=head_in_sentence(head)),
        f"{description} {texts.VALUES_AXES} {texts.SQUARE_ROOT_SCALE}",
        "value-weighted-attention",
    )
    code = Code(texts.VALUES_RESULT, lambda: [one.round(3) for one in numbers(trace, head)[1:]])
    return matrices_export(subject, drawn, "query", code)


def numbers(trace: Trace, head: Head) -> list[Computation]:
    """Return the computation of a layer's value-weighted attention, and of the three maps that are drawn of it."""
    engine, (layer, number) = engine_of(trace), head
    stack = named("stack", trace_call(engine, trace, keep=("weights", "value")).attention)
    weighted = named("weighted", call(value_weighted.value_weighted, engine, stack, layer))
    weights = named("weights", stack.weights[layer, number])
    by_values = named("by_values", call(row_shares, weighted.mixed[number]))
    together = named("together", call(row_shares, weighted.together))
    return [weighted, weights, by_values, together]
