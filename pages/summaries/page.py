"""What do all the heads do? A sentence summed up: heads by kind, attention through the layers, and its limits."""

from pages.ui.shell.frame import open_page

PAGE = "summaries"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.summaries.parts import FIELDS, PART_CONTROL, run_part
from pages.ui.export.part import show_page
from pages.ui.shell.frame import page_links
from pages.ui.stage.inputs import sentence_inputs

inputs = sentence_inputs(PAGE, FIELDS)
show_page(PAGE, FIELDS, badge, inputs, run_part, [PART_CONTROL])
page_links(inputs.text, inputs.pair, "attention", "fill_mask", "heads_and_blocks")
