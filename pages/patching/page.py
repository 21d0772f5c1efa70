"""Where does the answer travel? A part of one sentence's run put into another's, at every layer and token, or by every head."""

from pages.ui.shell.frame import open_page

PAGE = "patching"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.patching.grid import patch_part
from pages.patching.inputs import CONTROLS, FIELDS, patch_inputs
from pages.ui.export.part import show_page
from pages.ui.shell.frame import page_links

inputs = patch_inputs()
part = show_page(PAGE, FIELDS, badge, inputs, patch_part, CONTROLS)
page_links(inputs.text, "", "compare", "fill_mask", "attention", text_b=inputs.text_b, views=part.views)
