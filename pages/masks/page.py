"""Who may look at whom? A mask on one head, −∞ against a penalty, padding in a batch, and a mask on the whole model."""

from pages.ui.shell.frame import open_page

PAGE = "masks"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.masks import texts
from pages.masks.future import show_future
from pages.masks.head import head_part
from pages.masks.inputs import FIELDS, mask_controls, mask_inputs, note_what_to_notice
from pages.masks.whole_run import batch_part, run_part
from pages.ui.export.part import show_part
from pages.ui.shell.frame import explain, page_links, show_engine
from pages.ui.stage.pictures import empty_pictures
from pages.ui.stage.view_options import explain_built_in
from tx_core.errors import ExplorerError

PARTS = {"one": head_part, "penalty": head_part, "batch": batch_part, "run": run_part}
inputs = mask_inputs()
try:
    engine = inputs.engine()
    part = None if inputs.part == "why" else PARTS[inputs.part](inputs, engine)
except ExplorerError as problem:
    explain(problem)
    empty_pictures(PAGE, FIELDS, mask_controls(inputs.part))
    badge.empty()
else:
    note_what_to_notice(inputs, engine)
    if part:
        show_part(PAGE, FIELDS, mask_controls(inputs.part), part)
        explain_built_in()
    else:
        show_future()
    show_engine(badge, engine.title if part else texts.TWO_MODELS, engine.device)
page_links(inputs.text, "", "attention", "fill_mask", "heads_and_blocks")
