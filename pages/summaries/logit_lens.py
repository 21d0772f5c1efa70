"""Layer-by-layer predictions: what the model would answer at a token after each layer (logit lens)."""

from collections.abc import Callable

import streamlit as st

from pages.summaries import texts
from pages.summaries.export import Subject, Table, computed, engine_of, summary_export, table_of, trace_call
from pages.ui.canvas.charts import depths, draw_lines, lines_chart
from pages.ui.export.computation import Computation, call, named
from pages.ui.export.figure import charts_figure, listing_chart
from pages.ui.export.records import Code, Export
from pages.ui.panels.tokens import ask_token, numbered_tokens
from pages.ui.panels.view_options import show_note
from pages.ui.shell import cache
from pages.ui.shell.frame import show_source
from pages.ui.shell.level import show_formula
from pages.ui.shell.numbers import percent
from tx_core.analysis import logit_lens
from tx_core.analysis.logit_lens import LayerPredictions
from tx_core.engine.engine import Engine
from tx_core.transformer.trace import Trace

EQUATION = r"p_\ell = \mathrm{softmax}\bigl(\mathrm{head}(h_\ell)\bigr)"
CHART_HEIGHT = 200
MARGINS = (-0.04, 1.08)
"""The ends of the chart's axis, as multiples of the largest probability."""


def show(page: str, engine: Engine, text: str, pair: str) -> Callable[[], Export]:
    """Draw a table of answers by layer, and the probability of the final one."""
    st.markdown(texts.LENS)
    show_formula(EQUATION)
    show_source(logit_lens.logit_lens)
    trace = cache.trace_with(engine, text, pair, keep=("hidden",))
    encoding = trace.attention.query_tokens
    place = ask_token(page, encoding, texts.ASK_TOKEN, last=engine.info.predicts_next)
    answers = computed(page, engine, trace, answers_call(trace, place), place)
    st.dataframe(answer_table(answers), hide_index=True, key=f"{page}_lens")
    description = describe_answer(answers, numbered_tokens(encoding.tokens)[place], predicts_next=engine.info.predicts_next)
    st.text(description)
    draw_lines(f"{page}_lens_line", texts.FINAL_PROBABILITY, depths(engine.info.num_layers), _series(answers), _limits(answers))
    show_note(texts.LENS_CAVEAT)
    return lambda: export(trace, answers, description)


def answer_table(answers: LayerPredictions) -> list[dict[str, str]]:
    """List the top answers after each layer, and the rank of the final one."""
    cells = [
        [*(f"{word} {percent(float(share))}" for word, share in zip(words, shares, strict=True)), f"{rank:,}"]
        for words, shares, rank in zip(answers.words, answers.shares, answers.rank.tolist(), strict=True)
    ]
    columns = ["", *(texts.RANK.format(rank=rank) for rank in range(1, answers.shares.shape[1] + 1)), texts.FINAL_RANK]
    return [dict(zip(columns, [name, *row], strict=True)) for name, row in zip(_depth_names(answers), cells, strict=True)]


def describe_answer(answers: LayerPredictions, token: str, *, predicts_next: bool) -> str:
    """Return a sentence on the final prediction, and on the layer from which it ranks first."""
    template = texts.ANSWER_NEXT_TOKEN if predicts_next else texts.ANSWER
    answer = template.format(token=token, answer=answers.answer, probability=percent(float(answers.probability[-1])))
    layer = len(answers.rank)
    while layer and answers.rank[layer - 1] == 1:
        layer -= 1
    first = texts.FIRST_FROM_LAYER.format(layer=layer) if layer else texts.FIRST_FROM_EMBEDDINGS
    return f"{answer} {first}"


def _depth_names(answers: LayerPredictions) -> list[str]:
    return [texts.EMBEDDINGS, *(texts.AFTER_LAYER.format(layer=layer) for layer in range(1, len(answers.words)))]


def _series(answers: LayerPredictions) -> dict[str, list[float]]:
    return {"probability": answers.probability.tolist()}


def _limits(answers: LayerPredictions) -> tuple[float, float]:
    largest = float(answers.probability.max())
    return MARGINS[0] * largest, MARGINS[1] * largest


def export(trace: Trace, answers: LayerPredictions, description: str) -> Export:
    """Return the export of the answers after every layer."""
    token = numbered_tokens(trace.attention.query_tokens.tokens)[answers.place]
    subject = Subject(trace, texts.LENS_SUBJECT.format(token=token), description, "logit-lens")
    table = answer_table(answers)
    steps = depths(len(answers.words) - 1)
    charts = [
        listing_chart("", list(table[0]), [list(row.values()) for row in table]),
        lines_chart(texts.FINAL_PROBABILITY, steps, _series(answers), limits=_limits(answers), tall=CHART_HEIGHT),
    ]
    written = Code(texts.LENS_RESULT, lambda: numbers(trace, answers.place))
    return summary_export(subject, charts_figure(charts, description), _data(answers), written)


def _data(answers: LayerPredictions) -> Table:
    return table_of(
        [
            {
                "depth": depth,
                "rank": rank,
                "word": word,
                "probability": float(share),
                "probability of the final answer": float(answers.probability[number]),
                texts.FINAL_RANK: int(answers.rank[number]),
            }
            for number, depth in enumerate(_depth_names(answers))
            for rank, (word, share) in enumerate(zip(answers.words[number], answers.shares[number], strict=True), start=1)
        ]
    )


def answers_call(trace: Trace, place: int) -> Computation:
    """Return the computation of the answers after every layer."""
    engine = engine_of(trace)
    return named("answers", call(logit_lens.logit_lens, engine, trace_call(engine, trace, keep=("hidden",)), place))


def numbers(trace: Trace, place: int) -> list[Computation]:
    """Return the computation of the answers, of their shares, and of the final one's probability and rank."""
    answers = answers_call(trace, place)
    shares, probability, rank = (named(name, getattr(answers, name)) for name in ("shares", "probability", "rank"))
    return [answers.words, shares.round(4), probability.round(4), rank]
