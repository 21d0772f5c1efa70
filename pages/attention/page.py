"""Where does each head look? A sentence, all heads of the model on it, and any of them in detail."""

from pages.ui.shell.frame import open_page

PAGE = "attention"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.attention.below import show_below
from pages.attention.inputs import FIELDS, attention_inputs
from pages.ui.shell.frame import page_links, show_engine
from pages.ui.stage.attention import attention_stage, empty_stage
from pages.ui.stage.inputs import attention_run, explain_problem, note_reading
from tx_core.errors import ExplorerError

inputs = attention_inputs(PAGE)
try:
    run = attention_run(inputs)
except ExplorerError as problem:
    explain_problem(PAGE, problem)
    empty_stage(PAGE, FIELDS)
    badge.empty()
else:
    note_reading(inputs, run.trace, run.notes)
    attention_stage(PAGE, FIELDS, run)
    show_engine(badge, run.title, run.trace.device)
    show_below(PAGE, run)
page_links(inputs.text, inputs.pair, "fill_mask", "compare", "summaries", "self_attention", "heads_and_blocks", "masks")
