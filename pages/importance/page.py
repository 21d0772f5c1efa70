"""Which parts does the answer need? Every head, or every layer's attention and feed-forward, taken out of many prompts."""

from pages.ui.shell.frame import open_page

PAGE = "importance"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.importance.inputs import CONTROLS, FIELDS, find_importance, importance_inputs
from pages.importance.ranking import explain_ranking, ranking_about, ranking_pictures
from pages.ui.shell.frame import page_links, show_engine
from pages.ui.stage.inputs import explain_problem
from pages.ui.stage.pictures import About, empty_pictures, pictures_stage
from pages.ui.stage.tokens import note_special_tokens
from tx_core.errors import ExplorerError

inputs = importance_inputs()
try:
    engine = inputs.engine()
    found, asked, run = find_importance(inputs, engine)
except ExplorerError as problem:
    explain_problem(PAGE, problem)
    empty_pictures(PAGE, FIELDS, CONTROLS)
    badge.empty()
else:
    show_engine(badge, engine.title, engine.device)
    note_special_tokens(engine, engine.tokenizer.special_tokens)
    if found is None:
        pictures_stage(PAGE, FIELDS, CONTROLS, (), About("", {}), run=run)
    else:
        about = ranking_about(found, asked)
        pictures_stage(PAGE, FIELDS, CONTROLS, ranking_pictures(found, asked), about, run=run)
        explain_ranking(found, asked)
page_links("", "", "patching", "fill_mask", "many_sentences")
