"""What stands below the stage: how to read it, the weights as a table, data and code for export, and the tokens."""

import streamlit as st

from pages import contents
from pages.ui.export.attention import attention_exports, offer_weights, shown_map
from pages.ui.export.menu import export_menu, offer_tables
from pages.ui.export.records import table_of
from pages.ui.shell.frame import page_link
from pages.ui.stage import texts as stage_texts
from pages.ui.stage.inputs import AttentionRun
from pages.ui.stage.tokens import token_rows
from pages.ui.stage.view_options import heads_to_link
from tx_core.transformer.interventions import write_interventions


def show_below(page: str, run: AttentionRun) -> None:
    """Explain the picture, and offer its numbers and its code. The boxes follow the view of the browser while they are open."""
    _lead_to_the_answer(run)
    st.markdown(f"{stage_texts.HOW_TO_READ} {stage_texts.NOT_AN_EXPLANATION}")
    shown = shown_map(page, run.trace, run.unchanged)
    offer_weights(page, shown)
    export_menu(page, attention_exports(shown))
    read = dict.fromkeys(stack.key_tokens for stack in run.trace.stacks)
    offer_tables(page, lambda: [table_of(token_rows(one)) for one in read], stage_texts.TOKEN_TABLE, name="tokens")


def _lead_to_the_answer(run: AttentionRun) -> None:
    """Link to the page of predictions where no head comes after what was changed: only the answer can tell what it did."""
    name, layers = run.name, sum(len(stack.weights) for stack in run.trace.stacks)
    if not name.changes or any(change.layer != layers - 1 for change in name.changes):
        return
    page = contents.page("fill_mask")
    heads = [(change.layer, change.head) for change in name.changes if change.head is not None]
    view = {"text": name.text, "model": name.model, "changes": write_interventions(name.changes)}
    shown = {"heads": heads_to_link(heads)} if heads else {}
    page_link(page.key, stage_texts.SEE_ON_PAGE.format(page=page.name), view | shown, icon=":material/arrow_forward:")
