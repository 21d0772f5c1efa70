"""What does the answer lose without a part? Every head, or every sublayer, taken out of many prompts."""

from pages.ui.shell.frame import open_page

PAGE = "importance"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.importance.inputs import CONTROLS, FIELDS, importance_inputs
from pages.importance.ranking import importance_part
from pages.ui.export.part import show_page
from pages.ui.shell.frame import page_links

show_page(PAGE, FIELDS, badge, importance_inputs(), importance_part, CONTROLS)
page_links("", "", "patching", "fill_mask", "many_sentences")
