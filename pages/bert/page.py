"""Is this really BERT? Ours compared with Hugging Face's, heads on top, and its successors."""

from pages.ui.shell.frame import open_page

PAGE = "bert"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.bert.compare import empty_stage
from pages.bert.inputs import bert_inputs
from pages.bert.parts import PARTS, explain_built_in, show_tensors
from pages.ui.shell.frame import explain, page_links, show_engine
from pages.ui.stage.tokens import note_how_read
from tx_core.errors import ExplorerError

inputs = bert_inputs()
try:
    engine = inputs.engine()
    note_how_read(engine, inputs.text, pair=inputs.pair)
    PARTS[inputs.part](inputs, engine)
except ExplorerError as problem:
    explain(problem)
    empty_stage(inputs)
    badge.empty()
else:
    show_engine(badge, engine.title, engine.device)
    show_tensors(engine)
    explain_built_in(engine)
page_links(
    inputs.text,
    inputs.pair,
    "compare",
    "heads_and_blocks",
    "encoder_decoder",
    "attention",
    views={"compare": {"vary": "untrained"}},
)
