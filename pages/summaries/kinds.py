"""All heads of a run at a glance: a table of layers × heads, coloured by what each head does."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.summaries import texts
from pages.summaries.export import Subject, engine_of, summary_export, table_of, trace_call
from pages.ui.canvas.attention_view import heads_to_link
from pages.ui.canvas.head_table import (
    AXES,
    CellsAndLegend,
    HeadCell,
    LegendEntry,
    chosen_head,
    describe_grammar,
    distance_cells,
    grammar_cells,
    grammar_columns,
    grammar_columns_note,
    head_table,
    kind_cells,
    kind_styles,
    spread_cells,
)
from pages.ui.export.computation import Computation, call, each, evaluate, named
from pages.ui.export.figure import charts_figure, grid_chart
from pages.ui.export.records import Code, Export
from pages.ui.panels.texts import EXPLANATION_DEBATE
from pages.ui.panels.tokens import reading_in_link
from pages.ui.panels.view_options import ask_head, show_note
from pages.ui.shell import cache
from pages.ui.shell.address import widget_binding, widget_key
from pages.ui.shell.controls import ask_option, head_name
from pages.ui.shell.frame import page_link, show_source
from pages.ui.shell.level import is_hidden
from pages.ui.shell.numbers import whole_percent
from tx_core.analysis import patterns
from tx_core.analysis.grammar import grammar_of
from tx_core.engine.engine import Engine
from tx_core.errors import TextProblem
from tx_core.transformer.trace import AttentionStack, Trace


@dataclass(frozen=True)
class HeadSummary:
    """The heads of one text in numbers.

    Attributes:
        entropy: normalised, from 0 (one token) to 1 (uniform).
        distance: mean, in tokens.
    """

    sums: patterns.PatternSums
    named: tuple[patterns.HeadPattern, ...]
    entropy: Float[np.ndarray, "layer head"]
    distance: Float[np.ndarray, "layer head"]

    @property
    def nbytes(self) -> int:
        """The memory of the numbers, in bytes."""
        return self.sums.nbytes + self.entropy.nbytes + self.distance.nbytes + 200 * len(self.named)


@dataclass(frozen=True)
class Grid:
    """The table of heads as it is drawn."""

    colour: str
    cells: list[list[HeadCell]]
    legend: list[LegendEntry]
    chosen: tuple[int, int]

    @property
    def alt(self) -> str:
        """Return the alternative text of the table."""
        return texts.KINDS_ALT.format(colour=texts.COLOURS[self.colour])


def summarise(stack: AttentionStack) -> HeadSummary:
    """Classify and measure every head of a run, over the text's own tokens.

    Raises:
        TextProblem: the text has special tokens only.
    """
    own = ~np.array(stack.query_tokens.special)
    if not own.any():
        raise TextProblem(texts.SPECIAL_TOKENS_ONLY)
    return HeadSummary(*evaluate(measures(named("stack", stack))))


def measures(stack: Computation) -> list[Computation]:
    """Return the computation of the pattern sums, and of the kind, spread and distance of every head of a run."""
    own = named("own", ~call(np.array, stack.query_tokens.special), "the text's own tokens")
    sums = named("sums", call(patterns.pattern_sums, stack.weights, stack.query_tokens))
    # One layer at a time: a long text would double its memory.
    spread = call(np.stack, each(stack.weights, lambda layer: call(patterns.normalised_entropy, layer[:, own]).mean(-1)))
    distance = call(np.stack, each(stack.weights, lambda layer: call(patterns.mean_distance, layer)[:, own].mean(-1)))
    return [sums, named("kinds", call(patterns.name_heads, sums)), named("spread", spread), named("distance", distance)]


def summary_of(page: str, engine: Engine, text: str, pair: str, stack: AttentionStack) -> HeadSummary:
    """Return the summary of a run, cached."""
    return cache.get_or_compute((page, "heads", cache.engine_key(engine), text, pair or None), lambda: summarise(stack))


def show(page: str, engine: Engine, text: str, pair: str) -> Callable[[], Export]:
    """Draw the table, the chosen head in words, and all numbers."""
    trace = cache.trace_with(engine, text, pair)
    stack = trace.attention
    summary = summary_of(page, engine, text, pair, stack)
    st.markdown(texts.KINDS)
    ask_option(texts.COLOUR_BY, texts.COLOURS, **widget_binding(widget_key(page, "colour")))
    grid = _draw_grid(page, engine.name, stack, summary)
    _show_chosen(page, engine, text, pair, stack, summary)
    _show_numbers(page, engine.name, stack, summary)
    show_source(patterns.TokenMarks, *patterns.TARGETS.values(), patterns.pattern_sums, patterns.entropy, patterns.mean_distance)
    show_note(f"{texts.KINDS_CAVEAT} {EXPLANATION_DEBATE}", trace)
    return lambda: export(trace, grid, summary)


def _draw_grid(page: str, model: str, stack: AttentionStack, summary: HeadSummary) -> Grid:
    name = widget_key(page, "table")
    layers, heads = summary.entropy.shape

    def store_head() -> None:
        if (head := chosen_head(name, layers, heads)) is not None:
            st.session_state[widget_key(page, "heads")] = [head]

    colour = st.session_state[widget_key(page, "colour")]
    cells, legend = _cells(model, stack, summary, colour)
    chosen = st.session_state[widget_key(page, "heads")][0]
    chosen = chosen if chosen[0] < layers and chosen[1] < heads else (0, 0)
    rows = [cells[start : start + heads] for start in range(0, len(cells), heads)]
    grid = Grid(colour, rows, legend, chosen)
    head_table(rows, legend, chosen, alt=grid.alt, key=name, on_choose=store_head)
    return grid


def _cells(model: str, stack: AttentionStack, summary: HeadSummary, colour: str) -> CellsAndLegend:
    return {
        "pattern": lambda: kind_cells(
            summary.named,
            stack.query_tokens,
            lambda head: (f"{head.confidence:.2f}", head.confidence),
            lambda names, head: texts.CONFIDENCE.format(**names, confidence=head.confidence),
            grammar_of(model),
        ),
        "grammar": lambda: grammar_cells(model, *summary.entropy.shape),
        "entropy": lambda: spread_cells(summary.entropy),
        "distance": lambda: distance_cells(summary.distance, patterns.uniform_distance(len(stack.query_tokens))),
    }[colour]()


def _show_chosen(page: str, engine: Engine, text: str, pair: str, stack: AttentionStack, summary: HeadSummary) -> None:
    choice, description = st.columns([2, 5], gap="medium")
    with choice:
        head = ask_head(page, *summary.entropy.shape)
    with description:
        st.text(describe_head(stack, summary, head))
        st.text(describe_grammar(engine.name, head))
        address = {
            "text": text,
            "pair": pair,
            "model": engine.name,
            **reading_in_link(engine.tokenizer.special_tokens),
            "heads": heads_to_link([head]),
        }
        page_link(
            "attention",
            texts.SEE_HEAD,
            {name: value for name, value in address.items() if value},
            icon=":material/zoom_in:",
        )


def describe_head(stack: AttentionStack, summary: HeadSummary, head: tuple[int, int]) -> str:
    """Return a sentence on a head: its kind, the second-best kind, its spread and its distance."""
    looks = kind_styles(stack.query_tokens)
    pattern = summary.named[head[0] * summary.entropy.shape[1] + head[1]]
    return texts.HEADS.get(pattern.kind, texts.HEAD).format(
        head=head_name(head),
        aim=looks[pattern.kind].target,
        share=whole_percent(summary.sums.share_of(pattern)),
        confidence=pattern.confidence,
        second=looks[pattern.second].target,
        second_score=pattern.second_score,
        entropy=summary.entropy[head],
        distance=summary.distance[head],
    )


def _show_numbers(page: str, model: str, stack: AttentionStack, summary: HeadSummary) -> None:
    if is_hidden("tables"):
        return
    folded = st.expander(texts.NUMBERS, key=widget_key(page, "numbers"), on_change="rerun")
    if folded.open:
        with folded:
            st.caption(f"{texts.KINDS_NUMBERS} {grammar_columns_note()}")
            st.dataframe(head_rows(model, stack, summary), hide_index=True)


def head_rows(model: str, stack: AttentionStack, summary: HeadSummary) -> Sequence[dict[str, object]]:
    """List the heads, one row each, with every number that is known of them."""
    looks, shares = kind_styles(stack.query_tokens), summary.sums.shares
    return [
        {
            "layer": head.layer + 1,
            "head": head.head + 1,
            "kind": looks[head.kind].word,
            "confidence": round(head.confidence, 3),
            "spread (0 to 1)": round(float(summary.entropy[head.layer, head.head]), 3),
            "distance (tokens)": round(float(summary.distance[head.layer, head.head]), 2),
        }
        | {
            texts.KIND_COLUMN.format(kind=looks[kind].word): round(float(shares[head.layer, head.head, number]), 3)
            for number, kind in enumerate(patterns.TARGETED_KINDS)
        }
        | grammar_columns(model, (head.layer, head.head))
        for head in summary.named
    ]


def export(trace: Trace, grid: Grid, summary: HeadSummary) -> Export:
    """Return the export of the table of all heads."""
    subject = Subject(trace, texts.KINDS_SUBJECTS[grid.colour], texts.KINDS_DESCRIPTION, "heads")
    figure = charts_figure([grid_chart(grid.cells, grid.legend, grid.chosen)], grid.alt)
    arrays = {
        "spread": summary.entropy,
        "distance": summary.distance,
        "shares": summary.sums.shares,
        "kinds": np.array(summary.sums.kinds),
    }
    table = table_of(head_rows(trace.model, trace.attention, summary), AXES, **arrays)
    return summary_export(subject, figure, table, Code(texts.KINDS_RESULT, lambda: numbers(trace)))


def numbers(trace: Trace) -> list[Computation]:
    """Return the computation of the kind and the measures of every head."""
    _, kinds, spread, distance = measures(named("stack", trace_call(engine_of(trace), trace).attention))
    return [kinds, spread.round(3), distance.round(2)]
