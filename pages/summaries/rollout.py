"""One token's attention through the layers: as each layer has it, rolled out to the input, and as a flow."""

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from pages.summaries import export
from pages.ui.canvas.mask_grid import Matrices, Matrix, Naming, matrices
from pages.ui.export.menu import export_menu
from pages.ui.panels.attention_table import numbered
from pages.ui.panels.choices import NO_EXPLANATION, ask_token, tell
from pages.ui.shell import cache
from pages.ui.shell.frame import explain
from pages.ui.shell.source_code import show_source
from tx_core.analysis import rollout
from tx_core.analysis.value_weighted import row_shares
from tx_core.errors import TextProblem

if TYPE_CHECKING:
    from tx_core.engine.engine import Engine


def layers(page: str, engine: "Engine", text: str, pair: str) -> None:
    """Three maps of layers × tokens, one scale."""
    st.markdown(
        "A token in layer 3 attends to tokens of layer 2, and those are mixtures already. **How much of each word of the input "
        "has arrived?** Rollout multiplies the layers; flow asks how much could run through them as through pipes. Both average "
        "the heads and count half of every token's way straight up its skip connection."
    )
    st.latex(r"\bar A = \tfrac12 A + \tfrac12 I")
    st.latex(r"R_\ell = \bar A_\ell\,R_{\ell-1}\;")  # ends in a space: a trailing index is two pixels wider than its box
    show_source(rollout.with_residual, rollout.rollout, rollout.flow)
    trace = cache.trace(engine.name, text, pair)
    stack, encoding = trace.attention, trace.attention.query_tokens
    place = ask_token(page, encoding, "Looking token")
    raw = stack.weights[:, :, place].mean(axis=1)
    run = (engine.name, engine.device, text, pair or None)
    rolled = cache.remember((page, "rollout", *run), lambda: rollout.rollout(stack.weights))[:, place]
    shown = {"Attention in this layer": raw, "Rollout from the input": rolled}
    try:
        with st.spinner("Solving the flow network …", show_time=True):
            flow = cache.remember((page, "flow", *run, place), lambda: rollout.flow(stack.weights, place))
        shown["Flow from the input"] = row_shares(flow)
    except TextProblem as problem:
        explain(problem)
    drawn = _draw(page, encoding.tokens, place, shown)
    told = _in_words(encoding.tokens, place, shown)
    st.text(told)
    tell(
        "Flow is scaled so that each row sums to 1; it comes out more even than rollout, since nearly every pipe is wide enough. "
        "Both leave out what the values, the feed-forward parts and the norms do to the vectors (Abnar & Zuidema 2020), so they "
        f"estimate which words have arrived, not what is made of them. {NO_EXPLANATION}",
        trace,
    )
    export_menu(page, {"Through the layers": lambda: export.layers_export(trace, place, drawn, told)})


def _draw(page: str, tokens: tuple[str, ...], place: int, shown: dict[str, np.ndarray]) -> Matrices:
    limit = max(float(cells.max()) for cells in shown.values())
    names = [f"layer {number + 1}" for number in range(len(next(iter(shown.values()))))]
    return matrices(
        names,
        tokens,
        [
            Matrix(
                title,
                "weights",
                cells,
                f"{title}, of {tokens[place]}: a row for each layer, a column for each token",
                limit=limit,
                root=True,
            )
            for title, cells in shown.items()
        ],
        key=f"{page}_layers",
        naming=Naming(joint="from"),
        across=1,
    )


def _in_words(tokens: tuple[str, ...], place: int, shown: dict[str, np.ndarray]) -> str:
    labels = numbered(tokens)
    told = []
    for title, cells in shown.items():
        best = np.argsort(-cells[-1], kind="stable")[:3]
        told.append(f"{title}: " + ", ".join(f"{labels[key]} {cells[-1, key]:.2f}" for key in best))
    return f"At {labels[place]} in the last layer. " + "; ".join(told) + "."
