"""What do all the heads do? A sentence summed up: heads by kind, attention through the layers, and its limits."""

from pages.ui.shell.frame import open_page

PAGE = "summaries"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.summaries.parts import FIELDS, part_controls, run_part
from pages.ui.export.part import show_part
from pages.ui.shell.frame import page_links, show_engine
from pages.ui.stage.inputs import explain_problem, note_reading, sentence_inputs
from pages.ui.stage.pictures import empty_pictures
from tx_core.errors import ExplorerError

inputs = sentence_inputs(PAGE, FIELDS)
try:
    trace, controls, part = run_part(inputs)
except ExplorerError as problem:
    explain_problem(PAGE, problem)
    empty_pictures(PAGE, FIELDS, part_controls())
    badge.empty()
else:
    note_reading(inputs, trace)
    show_part(PAGE, FIELDS, part_controls(controls), part)
    show_engine(badge, inputs.engine().title, trace.device)
page_links(inputs.text, inputs.pair, "attention", "fill_mask", "heads_and_blocks")
