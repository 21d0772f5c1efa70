"""How does it know the order of words? Position encodings, requirements on them, and shuffled words."""

from pages.ui.shell.frame import open_page

PAGE = "positions"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.positions import texts
from pages.positions.inputs import FIELDS, position_controls, position_inputs
from pages.positions.parts import run_part
from pages.ui.export.part import show_part
from pages.ui.shell.frame import page_links, show_engine
from pages.ui.stage.inputs import explain_problem
from pages.ui.stage.pictures import empty_pictures
from tx_core.errors import ExplorerError

inputs, engine = position_inputs(), None
try:
    engine = inputs.engine()
    part = run_part(inputs, engine)
except ExplorerError as problem:
    explain_problem(PAGE, problem)
    empty_pictures(PAGE, FIELDS, position_controls(inputs, engine))
    badge.empty()
else:
    show_part(PAGE, FIELDS, position_controls(inputs, engine), part)
    has_model = "model" in part.numbers.source
    show_engine(badge, *(engine.title, engine.device) if has_model else (texts.NO_MODEL, "cpu"))
page_links(inputs.text, "", "attention", "masks", "fill_mask", "bert")
