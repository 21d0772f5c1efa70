"""Where does a word lie? Tokens in two dimensions, layer by layer, and what a probe reads off their vectors."""

from pages.ui.shell.frame import open_page

PAGE = "vectors"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.ui.export.part import show_part
from pages.ui.shell.address import widget_key
from pages.ui.shell.frame import page_links, show_engine
from pages.ui.stage.inputs import explain_problem
from pages.ui.stage.pictures import empty_pictures, pictures_stage
from pages.ui.stage.tokens import note_how_read
from pages.vectors import probing
from pages.vectors.inputs import FIELDS, METHOD_CONTROL, PART_CONTROL, vector_inputs
from pages.vectors.points import points_part
from tx_core.errors import ExplorerError

inputs = vector_inputs()
try:
    engine = inputs.engine()
    if inputs.part == "probe":
        found = probing.find_probes(inputs, engine)
    else:
        part, controls = points_part(inputs, engine)
except ExplorerError as problem:
    explain_problem(PAGE, problem)
    empty_pictures(PAGE, FIELDS, [PART_CONTROL, METHOD_CONTROL])
    badge.empty()
else:
    if inputs.texts == "typed":
        note_how_read(engine, inputs.text, inputs.text_b, key=widget_key(PAGE, "model"))
    if inputs.part == "probe":
        shown, about = probing.probe_pictures(found), probing.probe_about(found)
        asks = [PART_CONTROL, probing.LABEL_CONTROL]
        pictures_stage(PAGE, FIELDS, asks, shown, about, run=found.run)
        probing.explain_probes(found)
    else:
        show_part(PAGE, FIELDS, [PART_CONTROL, METHOD_CONTROL, *controls], part)
    show_engine(badge, engine.title, engine.device)
page_links(inputs.text, "", "compare", "patching", "many_sentences", text_b=inputs.text_b)
