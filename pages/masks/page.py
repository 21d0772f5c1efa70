"""Who may look at whom? A mask on one head, −∞ against a penalty, padding in a batch, and a mask on the whole model."""

from pages.ui.shell.frame import open_page

PAGE = "masks"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.masks.inputs import mask_inputs, note_reading
from pages.masks.parts import draw_empty, explain_part, run_part
from pages.ui.export.menu import offer_drawings
from pages.ui.shell.frame import explain, page_links, show_engine
from pages.ui.stage.view_options import explain_built_in
from tx_core.errors import ExplorerError

inputs = mask_inputs()
try:
    engine = inputs.engine()
    run = run_part(inputs)
except ExplorerError as problem:
    explain(problem)
    draw_empty(inputs.part)
    badge.empty()
else:
    note_reading(inputs, engine)
    run.draw()
    show_engine(badge, run.model or engine.title, engine.device)
    explain_part(inputs)
    offer_drawings(PAGE, run.numbers, run.drawings)
    if not run.model:
        explain_built_in()
page_links(inputs.text, "", "attention", "fill_mask", "heads_and_blocks")
