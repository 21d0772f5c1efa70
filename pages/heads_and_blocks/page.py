"""What is a block made of? Embeddings, heads, feed-forward, norms and skip connections, each on the reader's own sentence."""

from pages.ui.shell.frame import open_page

PAGE = "heads_and_blocks"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.heads_and_blocks.below import explain_part, export_part, part_numbers
from pages.heads_and_blocks.inputs import FIELDS, block_inputs, fitted
from pages.heads_and_blocks.parts import PARTS
from pages.heads_and_blocks.stage import block_architecture, block_controls
from pages.ui.shell.address import widget_key
from pages.ui.shell.frame import page_links, show_engine
from pages.ui.stage.inputs import explain_problem
from pages.ui.stage.pictures import About, empty_pictures, pictures_stage
from pages.ui.stage.tokens import note_special_tokens, warn_of_unknown_in
from tx_core.errors import ExplorerError

inputs, engine = block_inputs(), None
try:
    engine = inputs.engine()
    inputs = fitted(inputs, engine)
    part = PARTS[inputs.part](inputs, engine)
except ExplorerError as problem:
    explain_problem(PAGE, problem)
    empty_pictures(PAGE, FIELDS, block_controls(inputs, None))
    badge.empty()
else:
    note_special_tokens(engine, not inputs.bare, inputs.pair)
    warn_of_unknown_in(engine, inputs.text, pair=inputs.pair, key=widget_key(PAGE, "model"))
    numbers = part_numbers(inputs)
    about = About(numbers.title, numbers.source, architecture=block_architecture(inputs, engine))
    pictures_stage(PAGE, FIELDS, block_controls(inputs, engine), part.pictures, about)
    show_engine(badge, engine.title, engine.device)
    explain_part(part)
    export_part(part, numbers)
page_links(inputs.text, inputs.pair, "attention", "self_attention", "bert")
