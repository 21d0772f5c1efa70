"""Where does a word lie? Tokens in two dimensions, layer by layer, and what a probe reads off their vectors."""

from pages.ui.shell.frame import open_page

PAGE = "vectors"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.ui.export.part import show_page
from pages.ui.shell.frame import page_links
from pages.vectors.inputs import CONTROLS, FIELDS, vector_inputs
from pages.vectors.points import points_part
from pages.vectors.probing import probe_part

inputs = vector_inputs()
show_page(PAGE, FIELDS, badge, inputs, probe_part if inputs.part == "probe" else points_part, CONTROLS)
page_links(inputs.text, "", "compare", "patching", "many_sentences", text_b=inputs.text_b)
