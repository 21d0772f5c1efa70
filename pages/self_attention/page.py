"""How does a token find what matters to it? One head of attention, every matrix and every number of it."""

from pages.ui.shell.frame import open_page

PAGE = "self_attention"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.self_attention.below import explain_head, export_head
from pages.self_attention.inputs import head_inputs
from pages.self_attention.stage import empty_stage, head_stage, note_reading, run_head
from pages.self_attention.store import show_store
from pages.ui.shell.frame import explain, page_links, show_engine
from tx_core.errors import ExplorerError

inputs = head_inputs()
try:
    answer = run_head(inputs)
except ExplorerError as problem:
    explain(problem)
    empty_stage()
    badge.empty()
else:
    note_reading(answer)
    head_stage(inputs, answer)
    show_engine(badge, answer.engine.title, answer.engine.device)
    explain_head(answer)
    export_head(inputs, answer.run)
show_store()
page_links(inputs.text, "", "attention", "heads_and_blocks", "masks", "fill_mask")
