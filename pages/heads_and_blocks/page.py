"""What is a block made of? Embeddings, heads, feed-forward, norms and skip connections, each on the reader's own sentence."""

from pages.ui.shell.frame import open_page

PAGE = "heads_and_blocks"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.heads_and_blocks.inputs import FIELDS, block_architecture, block_controls, block_inputs, fitted
from pages.heads_and_blocks.parts import PARTS
from pages.ui.export.part import show_part
from pages.ui.shell.address import widget_key
from pages.ui.shell.frame import page_links, show_engine
from pages.ui.stage.inputs import explain_problem
from pages.ui.stage.pictures import empty_pictures
from pages.ui.stage.tokens import note_how_read
from tx_core.errors import ExplorerError

inputs = block_inputs()
try:
    engine = inputs.engine()
    inputs = fitted(inputs, engine)
    part = PARTS[inputs.part](inputs, engine)
except ExplorerError as problem:
    explain_problem(PAGE, problem)
    empty_pictures(PAGE, FIELDS, block_controls(inputs, None))
    badge.empty()
else:
    note_how_read(engine, inputs.text, pair=inputs.pair, key=widget_key(PAGE, "model"))
    show_part(PAGE, FIELDS, block_controls(inputs, engine), part, block_architecture(inputs, engine))
    show_engine(badge, engine.title, engine.device)
page_links(inputs.text, inputs.pair, "attention", "self_attention", "bert")
