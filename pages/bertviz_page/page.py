"""How does bertviz draw it? The three views of the well-known tool, on the same run as all other pages."""

from pages.ui.shell.frame import open_page

PAGE = "bertviz_page"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.bertviz_page.frame import FIELDS, draw_view, show_below, view_controls
from pages.ui.shell.frame import page_links, show_engine
from pages.ui.stage.inputs import explain_problem, note_reading, sentence_inputs
from pages.ui.stage.pictures import empty_pictures, pictures_stage
from tx_core.errors import ExplorerError

inputs = sentence_inputs(PAGE, FIELDS)
try:
    engine = inputs.engine()
    drawing = draw_view(PAGE, inputs, engine)
except ExplorerError as problem:
    explain_problem(PAGE, problem)
    empty_pictures(PAGE, FIELDS, view_controls())
    badge.empty()
else:
    note_reading(inputs, drawing.trace, drawing.notes)
    pictures_stage(PAGE, FIELDS, view_controls(drawing), [drawing.picture], drawing.about, drawing.partial)
    show_engine(badge, engine.title, engine.device)
    show_below(PAGE, drawing)
page_links(inputs.text, inputs.pair, "attention", "self_attention", "heads_and_blocks")
