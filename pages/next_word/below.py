"""What stands below the stage: how a model writes, and the numbers and the code of what is shown."""

import streamlit as st

from pages.next_word import texts
from pages.next_word.inputs import sampling
from pages.next_word.run import WritingRun
from pages.ui.export.attention import attention_exports, offer_weights, shown_map
from pages.ui.export.computation import Computation, call, changes_argument, each, engine_call, named, written_argument
from pages.ui.export.menu import export_menu
from pages.ui.export.records import DataTable, Export, PartNumbers, table_export
from pages.ui.shell import controls
from pages.ui.shell.frame import show_source
from pages.ui.shell.level import is_hidden, show_formula
from pages.ui.stage import texts as stage_texts
from tx_core.fill_mask import next_words
from tx_core.fill_mask.next_words import Sampling
from tx_core.fill_mask.predictions import MAX_TOP_K, Prediction
from tx_core.transformer.interventions import write_interventions


def show_below(page: str, run: WritingRun) -> None:
    """Explain how a model writes, and offer the numbers of the picture. The boxes follow the view while they are open."""
    st.markdown(f"{texts.HOW} {texts.AHEAD}")
    show_formula(texts.EQUATION)
    st.markdown(stage_texts.NOT_AN_EXPLANATION if is_hidden("formulas") else f"{texts.SETTINGS} {stage_texts.NOT_AN_EXPLANATION}")
    show_source(next_words.write_words)
    shown = shown_map(page, run.attention.trace, run.attention.unchanged)
    offer_weights(page, shown)
    export_menu(page, {texts.EXPORT_NEXT: lambda: next_export(page, run)} | attention_exports(shown))


def next_export(page: str, run: WritingRun) -> Export:
    """Export what could follow the text, as it is drawn now, with its code."""
    inputs, drawn = run.inputs, sampling(page)
    found = numbers(run, drawn)
    rows = [(word.piece, str(word.id), word.probability) for word in _words(run, drawn)]
    about = inputs.about(written=list(inputs.written))
    about |= {"temperature": drawn.temperature, "top_k": drawn.top_k, "top_p": drawn.top_p}
    about |= {"changes": write_interventions(run.attention.trace.interventions)} if run.unchanged else {}
    title = texts.EXPORT_TITLE.format(model=controls.model_title(inputs.model))
    return table_export(PartNumbers(title, about, found), DataTable(texts.COLUMNS, rows))


def _words(run: WritingRun, drawn: Sampling) -> tuple[Prediction, ...]:
    inputs, changes = run.inputs, run.attention.trace.interventions
    asked = {"listed_words": MAX_TOP_K, "sampling": drawn, "written": inputs.written, "interventions": changes}
    return next_words.next_words(run.engine, inputs.text, **asked)


def numbers(run: WritingRun, drawn: Sampling) -> list[Computation]:
    """Return the computation of what could follow."""
    inputs = run.inputs
    given = changes_argument(run.attention.trace.interventions) | written_argument(run.attention.trace.attention.query_tokens)
    given |= {"sampling": drawn} if drawn != Sampling() else {}
    engine = engine_call(inputs)
    words = call(next_words.next_words, engine, inputs.text, listed_words=MAX_TOP_K, **given)
    return [named("words", each(words, lambda word: (word.piece, word.id, word.probability)))]
