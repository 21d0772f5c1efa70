"""Which explanation names the word that tells A from B? Eleven methods, on a pair and on many."""

from pages.ui.shell.frame import open_page

PAGE = "explanations"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.explanations.inputs import CONTROLS, FIELDS, explanation_inputs
from pages.explanations.methods import explanation_part
from pages.ui.export.part import show_page
from pages.ui.shell.frame import page_links

inputs = explanation_inputs()
show_page(PAGE, FIELDS, badge, inputs, explanation_part, CONTROLS)
page_links(inputs.text, "", "patching", "summaries", "fill_mask", text_b=inputs.text_b)
