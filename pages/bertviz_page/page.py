"""How does bertviz draw it? The three views of the well-known tool, on the same run as all other pages."""

from pages.ui.shell.frame import open_page

PAGE = "bertviz_page"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.bertviz_page.frame import FIELDS, view_controls, view_part
from pages.ui.export.part import show_page
from pages.ui.shell.frame import page_links
from pages.ui.stage.inputs import sentence_inputs

inputs = sentence_inputs(PAGE, FIELDS)
show_page(PAGE, FIELDS, badge, inputs, view_part, view_controls())
page_links(inputs.text, inputs.pair, "attention", "self_attention", "heads_and_blocks")
