"""Heads as points on a map: heads that look alike lie close together, and the nearest are named."""

from typing import TYPE_CHECKING

import pandas
import streamlit as st

from pages.summaries import export
from pages.summaries.glance import summary_of
from pages.ui.canvas import head_kinds
from pages.ui.canvas.figures import QUIET
from pages.ui.canvas.plotly_figures import PointKind, head_points
from pages.ui.export.menu import export_menu
from pages.ui.panels.choices import NO_EXPLANATION, ask_head, tell
from pages.ui.shell import cache
from pages.ui.shell.controls import head_name
from pages.ui.shell.source_code import show_source
from tx_core.analysis import similarity

if TYPE_CHECKING:
    from tx_core.engine.engine import Engine

NEIGHBOURS = 5


def alike(page: str, engine: "Engine", text: str, pair: str) -> None:
    """The map, and the neighbours of the chosen head."""
    st.markdown(
        "Two heads are alike when every token spreads its attention in the same way in both. **Heads that are close on the map "
        "look at the same tokens.** Colours and shapes are the kinds of heads, as at a glance."
    )
    st.latex(r"\text{alike}(a, b) = 1 - \mathrm{JS}(a, b)")
    st.latex(r"\mathrm{JS}(a,b) = H\bigl(\tfrac{a+b}{2}\bigr) - \tfrac12 H(a) - \tfrac12 H(b)")
    show_source(similarity.likeness, similarity.head_map)
    trace = cache.trace(engine.name, text, pair)
    stack = trace.attention
    heads = stack.weights.shape[1]
    run = (engine.name, engine.device, text, pair or None)
    found = cache.remember((page, "alike", *run), lambda: similarity.likeness(stack.weights))
    summary = summary_of(page, engine.name, engine.device, text, pair, stack)
    looks = head_kinds.looks(stack.query_tokens)
    kinds = [looks[one.kind] for one in summary.named]
    layer, head = ask_head(page, *stack.weights.shape[:2])
    chosen = layer * heads + head
    near = similarity.nearest(found, chosen, NEIGHBOURS)
    numbers = [divmod(number, heads) for number in range(len(found))]
    points, told = [PointKind(kind.word, kind.colour, kind.symbol) for kind in kinds], _in_words(numbers, chosen, near)
    draw, table = st.columns([3, 2], gap="medium")
    with draw:
        figure = head_points(
            similarity.head_map(found),
            [f"{at + 1}-{which + 1}" for at, which in numbers],
            points,
            chosen,
            [other for other, _ in near],
            dark=st.context.theme.type == "dark",
        )
        st.plotly_chart(figure, key=f"{page}_map", config=QUIET, alt=told)
    with table:
        st.markdown(f"**Nearest to {head_name((layer, head)).lower()}**")
        rows = [
            {"head": head_name(numbers[other]), "kind": kinds[other].word, "alike (0 to 1)": round(share, 3)}
            for other, share in near
        ]
        st.dataframe(pandas.DataFrame(rows), hide_index=True, key=f"{page}_near")
    tell(
        "Points are named layer-head: the chosen head and its nearest, others where there is room. The map squeezes many "
        "directions into two: distances on it agree with the true ones to "
        f"{similarity.told_by_map(found):.2f} (correlation, 1 at best), so trust the table where they differ. That two heads "
        f"look at the same tokens does not mean that they take the same from them. {NO_EXPLANATION}",
        trace,
    )
    export_menu(page, {"Heads alike": lambda: export.alike_export(trace, found, chosen, near, points, told)})


def _in_words(numbers: list[tuple[int, int]], chosen: int, near: list[tuple[int, float]]) -> str:
    told = ", ".join(f"{head_name(numbers[other]).lower()} ({share:.2f})" for other, share in near)
    return f"Map of all heads. Nearest to {head_name(numbers[chosen]).lower()}: {told}."
