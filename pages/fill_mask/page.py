"""What would BERT put here? Blanks in one sentence, or in two side by side, filled by a masked-word model."""

import streamlit as st

from pages.ui.shell.frame import open_page

PAGE = "fill_mask"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.fill_mask.below import show_below
from pages.fill_mask.inputs import blank_inputs
from pages.fill_mask.run import blank_run, note_reading
from pages.fill_mask.stage import blank_stage, empty_blank_stage
from pages.ui.shell.frame import page_links, show_engine
from pages.ui.stage.inputs import explain_problem
from pages.ui.stage.long_runs import runs_shown
from tx_core.errors import ExplorerError

inputs = blank_inputs(PAGE)
try:
    with runs_shown(st.empty()):
        run = blank_run(inputs)
except ExplorerError as problem:
    explain_problem(PAGE, problem)
    empty_blank_stage(inputs)
    badge.empty()
else:
    note_reading(run)
    blank_stage(PAGE, run)
    show_engine(badge, run.engine.title, run.engine.device)
    show_below(PAGE, run)
page_links(inputs.asked["text"].text, "", "attention", "patching", "summaries", "bert")
