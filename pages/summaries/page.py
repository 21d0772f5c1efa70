"""What do all the heads do? A sentence summed up: heads by kind, attention through the layers, and what it cannot tell."""

from pages.ui.shell.frame import open_page

PAGE = "summaries"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.summaries import attribution, glance, lens, rollout, similarity, value_weighted
from pages.ui.canvas.attention_view import heads_to_link, token_to_link
from pages.ui.panels import view_options
from pages.ui.panels.parts_page import Part, PartsPage, parts_page
from pages.ui.shell import controls
from pages.ui.shell.address import Field, choice_field, number_field, text_field

PARTS = {
    "glance": Part("Heads at a glance", glance.glance),
    "layers": Part("Through the layers", rollout.layers),
    "values": Part("What is mixed", value_weighted.values),
    "alike": Part("Heads alike", similarity.alike),
    "lens": Part("Early answers", lens.lens),
    "owed": Part("Attention and gradients", attribution.owed),
}
FIELDS = (
    text_field("text", "The old man drank a cup of [MASK] by the fire."),
    text_field("pair"),
    Field("model", "embedded", controls.read_model),
    choice_field("part", tuple(PARTS)),
    choice_field("colour", ("pattern", "entropy", "distance")),
    Field("heads", [(0, 1)], view_options.read_heads, heads_to_link),
    Field("token", None, view_options.read_focus, token_to_link),
    number_field("rank", 1, 1, 5),
)

parts_page(PartsPage(PAGE, FIELDS, PARTS, ("attention", "fill_mask", "heads_and_blocks")), badge)
