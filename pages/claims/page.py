"""What of this holds for my model? What lessons and the examples of pages claim of a built-in model, put to any model."""

from pages.ui.shell.frame import open_page

PAGE = "claims"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.claims.verdicts import CONTROLS, FIELDS, ask_claims, claims_about, claims_pictures, explain_claims, find_claims
from pages.ui.shell.controls import model_engine
from pages.ui.shell.frame import page_links, show_engine
from pages.ui.stage.inputs import explain_problem
from pages.ui.stage.pictures import empty_pictures, pictures_stage
from tx_core.errors import ExplorerError

model = ask_claims()
try:
    engine = model_engine(model)
    claims, run = find_claims(model, engine)
except ExplorerError as problem:
    explain_problem(PAGE, problem)
    empty_pictures(PAGE, FIELDS, CONTROLS)
    badge.empty()
else:
    show_engine(badge, engine.title, engine.device)
    pictures_stage(PAGE, FIELDS, CONTROLS, claims_pictures(model, claims), claims_about(model), run=run)
    explain_claims(model, claims)
page_links("", "", "attention", "fill_mask", "patching")
