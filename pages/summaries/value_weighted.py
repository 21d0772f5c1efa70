"""A head's weights beside what it adds: the lengths of the vectors that it mixes."""

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from pages.summaries import export
from pages.ui.canvas.mask_grid import Matrices, Matrix, matrices
from pages.ui.export.menu import export_menu
from pages.ui.panels.attention_table import numbered
from pages.ui.panels.choices import NO_EXPLANATION, ask_head, head_named, tell
from pages.ui.shell import cache
from pages.ui.shell.address import widget_key
from pages.ui.shell.controls import head_name
from pages.ui.shell.source_code import show_source
from tx_core.analysis import value_weighted
from tx_core.engine.engine import head_parts

if TYPE_CHECKING:
    from tx_core.engine.engine import Engine
    from tx_core.transformer.trace import AttentionStack


def values(page: str, engine: "Engine", text: str, pair: str) -> None:
    """Weights, weighted lengths and the lengths themselves, of one head and of its layer."""
    st.markdown(
        "A weight says how much of a token is taken; what is taken is its **value**, and values differ in length. "
        "**A head may look at a token and take next to nothing from it.** So weigh the link by the vector that it adds."
    )
    st.latex(r"\lVert \alpha_{ij}\, f(x_j) \rVert")
    st.latex(r"f(x) = (x W^V + b^V)\, W^O")
    show_source(value_weighted.value_weighted, head_parts)
    trace = cache.trace(engine.name, text, pair, keep=("weights", "value"))
    stack = trace.attention
    layer, head = ask_head(page, *stack.weights.shape[:2])
    found = cache.remember(
        (page, "values", engine.name, engine.device, text, pair or None, layer),
        lambda: value_weighted.value_weighted(engine, stack, layer),
    )
    drawn = _draw(page, stack, layer, head, found)
    told = _in_words(stack, layer, head, found)
    st.text(told)
    _numbers(page, stack, layer, head, found)
    tell(
        "Lengths tell how much a head writes into a token, not in which direction or what later layers make of it; nor does the "
        f"norm that follows enter here (Kobayashi et al. 2020 and 2021). {NO_EXPLANATION}",
        trace,
    )
    export_menu(page, {"What is mixed": lambda: export.values_export(trace, (layer, head), drawn, told)})


def _draw(page: str, stack: "AttentionStack", layer: int, head: int, found: "value_weighted.ValueWeighted") -> Matrices:
    tokens, name = stack.query_tokens.tokens, head_name((layer, head))
    shown = {
        f"Weights, {head_named((layer, head))}": stack.weights[layer, head],
        "Weighted by values, this head": value_weighted.row_shares(found.mixed[head]),
        f"Weighted by values, all heads of layer {layer + 1}": value_weighted.row_shares(found.together),
    }
    limit = max(float(cells.max()) for cells in shown.values())
    return matrices(
        tokens,
        tokens,
        [
            Matrix(
                title,
                "weights",
                cells,
                f"{title}: {name}, a row for each token that looks",
                limit=limit,
                root=True,
                note="every row sums to 1",
            )
            for title, cells in shown.items()
        ],
        key=f"{page}_values",
    )


def _in_words(stack: "AttentionStack", layer: int, head: int, found: "value_weighted.ValueWeighted") -> str:
    labels, lengths = numbered(stack.key_tokens.tokens), found.values[head]
    least, most = int(lengths.argmin()), int(lengths.argmax())
    weights, shares = stack.weights[layer, head].mean(axis=0), value_weighted.row_shares(found.mixed[head]).mean(axis=0)
    moved = int(np.abs(shares - weights).argmax())
    return (
        f"{head_name((layer, head))}: the longest value is that of {labels[most]} ({lengths[most]:.2f}), the shortest that of "
        f"{labels[least]} ({lengths[least]:.2f}). What changes most is {labels[moved]}: it gets {weights[moved]:.2f} of "
        f"the attention on average, and brings {shares[moved]:.2f} of what is mixed."
    )


def _numbers(page: str, stack: "AttentionStack", layer: int, head: int, found: "value_weighted.ValueWeighted") -> None:
    opened = st.expander("The numbers as a table", key=widget_key(page, "values_numbers"), on_change="rerun")
    if opened.open:
        import pandas

        shares = value_weighted.row_shares(found.mixed[head])
        with opened:
            st.dataframe(
                pandas.DataFrame(
                    {
                        "token": numbered(stack.key_tokens.tokens),
                        "attention received, mean": stack.weights[layer, head].mean(axis=0).astype(float).round(4),
                        "length of its value": found.values[head].round(4),
                        "share of what is mixed, mean": shares.mean(axis=0).round(4),
                    }
                ),
                hide_index=True,
            )
