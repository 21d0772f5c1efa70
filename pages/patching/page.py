"""Where does the answer travel? A part of one sentence's run put into another's, at every layer and token, or by every head."""

from pages.ui.shell.frame import open_page

PAGE = "patching"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.patching.grid import patch_part
from pages.patching.inputs import CONTROLS, FIELDS, patch_inputs
from pages.ui.export.part import show_part
from pages.ui.shell.address import widget_key
from pages.ui.shell.frame import page_links, show_engine
from pages.ui.stage.inputs import explain_problem
from pages.ui.stage.pictures import empty_pictures
from pages.ui.stage.tokens import note_how_read
from tx_core.errors import ExplorerError

inputs = patch_inputs()
try:
    engine = inputs.engine()
    more, part, look = patch_part(inputs, engine)
except ExplorerError as problem:
    look = {}
    explain_problem(PAGE, problem)
    empty_pictures(PAGE, FIELDS, CONTROLS)
    badge.empty()
else:
    note_how_read(engine, inputs.text, inputs.text_b, key=widget_key(PAGE, "model"))
    show_part(PAGE, FIELDS, [*CONTROLS, *more], part)
    show_engine(badge, engine.title, engine.device)
page_links(inputs.text, "", "compare", "fill_mask", "attention", text_b=inputs.text_b, views={"attention": look})
