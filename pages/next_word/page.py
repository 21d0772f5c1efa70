"""What comes next, and from where? A beginning, the words that a model finds likely behind it, and what it writes."""

from pages.ui.shell.frame import open_page

PAGE = "next_word"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.next_word.below import show_below
from pages.next_word.inputs import writing_inputs
from pages.next_word.run import writing_run
from pages.next_word.stage import empty_writing_stage, writing_stage
from pages.ui.shell.frame import page_links, show_engine
from pages.ui.stage.inputs import explain_problem, note_reading
from tx_core.engine.catalogue import WRITER
from tx_core.errors import ExplorerError

inputs = writing_inputs(PAGE)
try:
    run = writing_run(inputs)
except ExplorerError as problem:
    explain_problem(PAGE, problem, WRITER)
    empty_writing_stage(PAGE)
    badge.empty()
else:
    note_reading(run.inputs, run.attention.trace, run.attention.notes)
    writing_stage(PAGE, run)
    show_engine(badge, run.engine.title, run.engine.device)
    show_below(PAGE, run)
page_links(inputs.text, "", "attention", "masks", "fill_mask", "self_attention", "words")
