"""What stands below the stage: blanks together, sentences against each other, heads by their effect, tables, figures, code."""

import streamlit as st

from pages.fill_mask import head_scan, predictions, texts
from pages.fill_mask.export import prediction_exports, prediction_tables
from pages.fill_mask.run import BlankRun
from pages.ui.export.attention import shown_map
from pages.ui.export.menu import export_menu, offer_tables
from pages.ui.stage import texts as stage_texts


def show_below(page: str, run: BlankRun) -> None:
    """Show what is more than one blank's picture. The boxes follow the view of the browser while they are open."""
    _show_together(page, run)
    looked = run.looked
    if looked is None:
        return
    shown = None
    if not run.alone:
        st.markdown(f"{stage_texts.HOW_TO_READ} {stage_texts.NOT_AN_EXPLANATION}")
        head_scan.show_ranking(page, looked.scan_asked)
        shown = shown_map(page, looked.trace, looked.plain if looked.changed else None)
    offer_tables(page, lambda: prediction_tables(run.answers, looked.shift), texts.TABLE)
    export_menu(page, prediction_exports(run, shown))


def _show_together(page: str, run: BlankRun) -> None:
    """Draw the blanks of a sentence together, and two sentences against each other, all without the reader's changes."""
    chosen, answers = run.inputs.chosen, run.answers
    joint = [(place, answer) for place, answer in enumerate(answers) if answer.joint]
    for column, (place, answer) in zip(st.columns(len(joint), gap="large") if joint else (), joint, strict=True):
        with column:
            predictions.show_joint(page, f"{('text', 'second')[place]}_joint", answer, chosen)
    if len(answers) > 1:
        predictions.show_text_shift(page, run.engine, answers)
    if run.looked and run.looked.changed and (joint or len(answers) > 1):
        st.caption(texts.LISTS_UNCHANGED)
