"""One token's attention through the layers: per layer, as attention rollout, and as attention flow."""

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.summaries import texts
from pages.summaries.export import Subject, computed, engine_of, matrices_export, matrix_table, show_numbers, trace_call
from pages.ui.canvas.mask_grid import Heatmap, Matrices, Naming, matrices
from pages.ui.export.computation import Computation, call, evaluate, named
from pages.ui.export.records import Code, Export
from pages.ui.panels.texts import EXPLANATION_DEBATE
from pages.ui.panels.tokens import ask_token, numbered_tokens
from pages.ui.panels.view_options import show_note
from pages.ui.shell import cache
from pages.ui.shell.address import widget_key
from pages.ui.shell.frame import explain, show_source
from pages.ui.shell.level import show_formula
from tx_core.analysis import rollout
from tx_core.analysis.value_weighted import row_shares
from tx_core.engine.engine import Engine
from tx_core.errors import TextProblem
from tx_core.transformer.trace import Trace

EQUATIONS = (
    r"\bar A = \tfrac12 A + \tfrac12 I",
    r"R_\ell = \bar A_\ell\,R_{\ell-1}\;",  # ends in a space: a trailing index is two pixels wider than its box
)
NUM_LARGEST = 3

Maps = dict[str, Float[np.ndarray, "layer token"]]


def show(page: str, engine: Engine, text: str, pair: str) -> Callable[[], Export]:
    """Draw maps of layers × tokens on one colour scale."""
    st.markdown(texts.ROLLOUT)
    for equation in EQUATIONS:
        show_formula(equation)
    show_source(rollout.add_residual, rollout.rollout, rollout.flow)
    trace = cache.trace_with(engine, text, pair)
    encoding = trace.attention.query_tokens
    place = ask_token(page, encoding, texts.ASK_QUERY)
    in_layer, rolled, by_flow = numbers(trace, place)
    every = computed(page, engine, trace, rollout_call(trace))
    shown = {texts.IN_LAYER: evaluate(in_layer, trace=trace), texts.ROLLED: evaluate(rolled, every=every)}
    try:
        with st.spinner(texts.SOLVING_FLOW, show_time=True):
            shown[texts.FLOW] = computed(page, engine, trace, by_flow, place)
    except TextProblem as problem:
        explain(problem)
    drawn = _draw(page, encoding.tokens, place, shown)
    description = describe_last_layer(encoding.tokens, place, shown)
    st.text(description)
    show_numbers(widget_key(page, "layers_numbers"), lambda: matrix_table(drawn, "layer"))
    show_note(f"{texts.ROLLOUT_CAVEAT} {EXPLANATION_DEBATE}", trace)
    return lambda: export(trace, place, drawn, description)


def _draw(page: str, tokens: Sequence[str], place: int, shown: Maps) -> Matrices:
    limit = max(float(cells.max()) for cells in shown.values())
    names = [texts.LAYER.format(layer=number + 1) for number in range(len(shown[texts.IN_LAYER]))]
    panels = [
        Heatmap(title, "weights", cells, texts.ROLLOUT_ALT.format(title=title, token=tokens[place]), limit=limit, root=True)
        for title, cells in shown.items()
    ]
    return matrices(names, tokens, panels, key=f"{page}_layers", naming=Naming(texts.ROLLOUT_CELL), across=1)


def describe_last_layer(tokens: Sequence[str], place: int, shown: Maps) -> str:
    """Return a sentence on the tokens with the largest shares in the last layer."""
    labels = numbered_tokens(tokens)
    sentences = [texts.LAST_LAYER.format(token=labels[place])]
    for title, cells in shown.items():
        largest = np.argsort(-cells[-1], kind="stable")[:NUM_LARGEST]
        shares = ", ".join(f"{labels[key]} {cells[-1, key]:.2f}" for key in largest)
        sentences.append(texts.LARGEST.format(title=title, shares=shares))
    return " ".join(sentences)


def export(trace: Trace, place: int, drawn: Matrices, description: str) -> Export:
    """Return the export of one token's attention through the layers."""
    token = numbered_tokens(trace.attention.query_tokens.tokens)[place]
    subject = Subject(
        trace, texts.ROLLOUT_SUBJECT.format(token=token), f"{description} {texts.SQUARE_ROOT_SCALE}", "attention-rollout"
    )
    has_flow = texts.FLOW in [matrix.title for matrix in drawn.shown]
    result = texts.FLOW_RESULT if has_flow else texts.ROLLOUT_RESULT
    written = Code(result, lambda: [one.round(3) for one in numbers(trace, place)[: 3 if has_flow else 2]])
    return matrices_export(subject, drawn, "layer", written)


def weights_of(trace: Trace) -> Computation:
    """Return the computation of all weights."""
    return named("weights", trace_call(engine_of(trace), trace).attention.weights)


def rollout_call(trace: Trace) -> Computation:
    """Return the computation of the rollout of every token."""
    return named("every", call(rollout.rollout, weights_of(trace)))


def numbers(trace: Trace, place: int) -> list[Computation]:
    """Return the computation of one token's attention through the layers."""
    weights = weights_of(trace)
    in_layer = named("in_layer", weights[:, :, place].mean(axis=1))
    rolled = named("rolled", rollout_call(trace)[:, place])
    return [in_layer, rolled, named("by_flow", call(row_shares, call(rollout.flow, weights, place)))]
