"""What is a block made of? Embeddings, heads, feed-forward, norms and skip connections, each on the reader's own sentence."""

from pages.ui.shell.frame import open_page

PAGE = "heads_and_blocks"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.heads_and_blocks.inputs import FIELDS, block_controls, block_inputs
from pages.heads_and_blocks.parts import block_part
from pages.ui.export.part import show_page
from pages.ui.shell.frame import page_links

inputs = block_inputs()
show_page(PAGE, FIELDS, badge, inputs, block_part, block_controls(inputs, None))
ways = ("attention", "self_attention", "summaries", "bert")
page_links(inputs.text, inputs.pair, *ways, views={"summaries": {"part": "lens"}})
