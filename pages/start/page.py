"""What does a language model look at? The first page: a sentence's way to a prediction, and three ways on."""

from pages.ui.shell.frame import open_page

PAGE = "start"
open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.start import texts
from pages.start.doors import show_doors
from pages.ui.shell.frame import explain
from pages.ui.stage.routes import empty_routes, route_fields, route_inputs, route_run, routes_stage
from tx_core.errors import ExplorerError

inputs = route_inputs(PAGE, route_fields(texts.SENTENCE), texts.ASK_SENTENCE)
try:
    run = route_run(inputs)
except ExplorerError as problem:
    explain(problem)
    empty_routes(inputs)
else:
    routes_stage(inputs, run)
show_doors()
