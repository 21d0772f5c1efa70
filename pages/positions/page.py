"""How does it know the order of words? Position encodings, requirements on them, and shuffled words."""

from pages.ui.shell.frame import open_page

PAGE = "positions"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.positions.inputs import FIELDS, position_controls, position_inputs
from pages.positions.parts import run_part
from pages.ui.export.part import show_page
from pages.ui.shell.frame import page_links

inputs = position_inputs()
show_page(PAGE, FIELDS, badge, inputs, run_part, position_controls(inputs, None))
page_links(inputs.text, "", "attention", "masks", "fill_mask", "bert")
