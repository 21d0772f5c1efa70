"""How does a token find what matters to it? One head of attention, every matrix and every number of it."""

from pages.ui.shell.frame import open_page

PAGE = "self_attention"
badge = open_page(PAGE)

from pages.self_attention.inputs import FIELDS, controls_of, head_inputs

inputs = head_inputs()

# The boxes are on their way: what follows imports torch.
from pages.self_attention.head import head_part, show_saturation
from pages.self_attention.store import show_store
from pages.ui.export.part import show_page
from pages.ui.shell.controls import embedded_sizes
from pages.ui.shell.frame import page_links

shown = show_page(PAGE, FIELDS, badge, inputs, head_part, controls_of(inputs.weights, embedded_sizes()))
if shown.pictures and inputs.unscaled and inputs.normalise == "softmax":
    show_saturation()
show_store()
page_links(inputs.text, "", "attention", "heads_and_blocks", "masks", "fill_mask")
