"""Heads as points on a map: similar heads lie close together, and a table lists the nearest."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.summaries import texts
from pages.summaries.export import Subject, Table, computed, engine_of, show_numbers, summary_export, table_of, trace_call
from pages.summaries.kinds import summary_of
from pages.ui.canvas.head_table import grammar_columns, kind_styles
from pages.ui.canvas.plotly_figures import PointKind, head_points, show_plotly
from pages.ui.export.computation import Computation, call, named
from pages.ui.export.figure import charts_figure, listing_chart, points_chart
from pages.ui.export.records import Code, Export
from pages.ui.panels.texts import EXPLANATION_DEBATE
from pages.ui.panels.view_options import ask_head, head_in_sentence, show_note
from pages.ui.shell import cache
from pages.ui.shell.address import widget_key
from pages.ui.shell.controls import head_name
from pages.ui.shell.frame import show_source
from pages.ui.shell.level import show_formula
from tx_core.analysis import similarity
from tx_core.engine.engine import Engine
from tx_core.transformer.interventions import Head
from tx_core.transformer.trace import Trace

NUM_NEIGHBOURS = 5
EQUATIONS = (
    r"\text{similarity}(a, b) = 1 - \mathrm{JS}(a, b)",
    r"\mathrm{JS}(a,b) = H\bigl(\tfrac{a+b}{2}\bigr) - \tfrac12 H(a) - \tfrac12 H(b)",
)


@dataclass(frozen=True)
class Neighbourhood:
    """The chosen head among all heads, which are numbered through the layers.

    Attributes:
        nearest: the heads most similar to the chosen one, each with its similarity, most similar first.
    """

    similarities: Float[np.ndarray, "head other"]
    heads: tuple[Head, ...]
    kinds: tuple[PointKind, ...]
    chosen: int
    nearest: tuple[tuple[int, float], ...]

    @property
    def labels(self) -> list[str]:
        """Label every head: layer-head."""
        return [f"{layer + 1}-{head + 1}" for layer, head in self.heads]

    @property
    def neighbours(self) -> list[int]:
        """The numbers of the nearest heads."""
        return [other for other, _ in self.nearest]

    @property
    def description(self) -> str:
        """Return a sentence on the chosen head and the nearest ones."""
        heads = [
            texts.SIMILAR_HEAD.format(head=head_in_sentence(self.heads[other]), similarity=share) for other, share in self.nearest
        ]
        return texts.SIMILARITY_ALT.format(head=head_in_sentence(self.heads[self.chosen]), heads=", ".join(heads))


def show(page: str, engine: Engine, text: str, pair: str) -> Callable[[], Export]:
    """Draw the map, and list the neighbours of the chosen head."""
    st.markdown(texts.SIMILARITY)
    for equation in EQUATIONS:
        show_formula(equation)
    show_source(similarity.head_similarity, similarity.classical_mds)
    trace = cache.trace_with(engine, text, pair)
    around = _neighbourhood(page, engine, text, pair, trace)
    draw, table = st.columns([3, 2], gap="medium")
    with draw:
        figure = head_points(
            similarity.classical_mds(around.similarities),
            around.labels,
            around.kinds,
            around.chosen,
            around.neighbours,
            dark=st.context.theme.type == "dark",
        )
        show_plotly(figure, key=f"{page}_map", alt=around.description)
    with table:
        st.markdown(texts.NEAREST.format(head=head_in_sentence(around.heads[around.chosen])))
        rows = [(head_name(around.heads[other]), around.kinds[other].name, round(share, 3)) for other, share in around.nearest]
        nearest = [dict(zip(texts.SIMILARITY_COLUMNS, row, strict=True)) for row in rows]
        st.dataframe(nearest, hide_index=True, key=f"{page}_near")
    show_numbers(widget_key(page, "alike_numbers"), lambda: _table(engine.name, around))
    correlation = similarity.mds_correlation(around.similarities)
    show_note(f"{texts.SIMILARITY_CAVEAT.format(correlation=correlation)} {EXPLANATION_DEBATE}", trace)
    return lambda: export(trace, around)


def _neighbourhood(page: str, engine: Engine, text: str, pair: str, trace: Trace) -> Neighbourhood:
    """Compare all heads, and let the reader choose one."""
    stack = trace.attention
    layers, heads = stack.weights.shape[:2]
    similarities = computed(page, engine, trace, similarities_call(trace))
    summary = summary_of(page, engine, text, pair, stack)
    looks = kind_styles(stack.query_tokens)
    kinds = [PointKind(looks[one.kind].word, looks[one.kind].colour, looks[one.kind].symbol) for one in summary.named]
    layer, head = ask_head(page, layers, heads)
    chosen = layer * heads + head
    nearest = similarity.most_similar_heads(similarities, chosen, NUM_NEIGHBOURS)
    numbers = tuple(divmod(number, heads) for number in range(layers * heads))
    return Neighbourhood(similarities, numbers, tuple(kinds), chosen, tuple(nearest))


def export(trace: Trace, around: Neighbourhood) -> Export:
    """Return the export of the map and of the nearest heads."""
    positions = similarity.classical_mds(around.similarities)
    subject = Subject(trace, texts.SIMILARITY_SUBJECT, f"{around.description} {texts.SIMILARITY_LABELS}", "head-similarity")
    nearest = [[head_name(around.heads[other]), around.kinds[other].name, f"{share:.3f}"] for other, share in around.nearest]
    title = texts.NEAREST_TITLE.format(head=head_in_sentence(around.heads[around.chosen]))
    charts = [
        points_chart("", positions, around.labels[around.chosen], around.kinds, around.chosen, around.neighbours),
        listing_chart(title, texts.SIMILARITY_COLUMNS, nearest),
    ]
    written = Code(texts.SIMILARITY_RESULT, lambda: numbers(trace, around.chosen))
    return summary_export(subject, charts_figure(charts, around.description), _table(trace.model, around), written)


def _table(model: str, around: Neighbourhood) -> Table:
    """List every head with its place on the map and its similarity to the chosen one."""
    positions = similarity.classical_mds(around.similarities)
    arrays = {"similarity": around.similarities, "positions": positions, "heads": np.array(around.labels)}
    return table_of(_rows(model, around, positions), texts.SIMILARITY_AXES, **arrays)


def _rows(
    model: str, around: Neighbourhood, positions: Float[np.ndarray, "head axis"]
) -> Sequence[dict[str, str | float | int | None]]:
    return [
        {
            "layer": layer + 1,
            "head": head + 1,
            "kind": around.kinds[number].name,
            "x": float(positions[number, 0]),
            "y": float(positions[number, 1]),
            texts.SIMILARITY_TO_CHOSEN: float(around.similarities[around.chosen, number]),
        }
        | grammar_columns(model, (layer, head))
        for number, (layer, head) in enumerate(around.heads)
    ]


def similarities_call(trace: Trace) -> Computation:
    """Return the computation of the similarity of every two heads."""
    return named("similarities", call(similarity.head_similarity, trace_call(engine_of(trace), trace).attention.weights))


def numbers(trace: Trace, chosen: int) -> list[Computation]:
    """Return the computation of the map of the heads, and of the similarity of one to every other."""
    similarities = similarities_call(trace)
    positions = named("positions", call(similarity.classical_mds, similarities))
    return [positions.round(3), named("similar", similarities[chosen]).round(3)]
