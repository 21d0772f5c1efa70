"""What of this holds for my model? What lessons and the examples of pages claim of a built-in model, put to any model."""

from pages.ui.shell.frame import open_page

PAGE = "claims"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.claims.verdicts import CONTROLS, FIELDS, ask_claims, claims_part
from pages.ui.export.part import show_page
from pages.ui.shell.frame import page_links

show_page(PAGE, FIELDS, badge, ask_claims(), claims_part, CONTROLS)
page_links("", "", "attention", "fill_mask", "patching")
