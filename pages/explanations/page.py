"""Which explanation is right? Eleven methods say which word an answer rests on, of a pair in which one word decides it."""

from pages.ui.shell.frame import open_page

PAGE = "explanations"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.explanations.inputs import CONTROLS, FIELDS, explanation_inputs
from pages.explanations.methods import explanation_part
from pages.explanations.recovery import explain_methods, find_recovery, show_recovery
from pages.ui.export.part import show_part
from pages.ui.shell.address import widget_key
from pages.ui.shell.frame import page_links, show_engine
from pages.ui.stage.inputs import explain_problem
from pages.ui.stage.pictures import empty_pictures
from pages.ui.stage.tokens import note_how_read
from tx_core.errors import ExplorerError

inputs = explanation_inputs()
try:
    engine = inputs.engine()
    recovery = find_recovery(inputs, engine)
    part = explanation_part(inputs, engine, lambda: (explain_methods(), show_recovery(recovery)))
except ExplorerError as problem:
    explain_problem(PAGE, problem)
    empty_pictures(PAGE, FIELDS, CONTROLS)
    badge.empty()
else:
    note_how_read(engine, inputs.text, inputs.text_b, key=widget_key(PAGE, "model"))
    show_part(PAGE, FIELDS, CONTROLS, part, run=recovery.run)
    show_engine(badge, engine.title, engine.device)
page_links(inputs.text, "", "patching", "summaries", "fill_mask", text_b=inputs.text_b)
