"""What do all the heads do? A sentence summed up: heads by kind, attention through the layers, and what it cannot tell."""

from pages.ui.canvas.attention_view import heads_to_link, token_to_link
from pages.ui.panels import view_options
from pages.ui.panels.parts_page import Draw, PartsPage, parts_page
from pages.ui.shell import controls
from pages.ui.shell.address import Field, choice_field, number_field, text_field

PAGE = "summaries"
PARTS = {
    "glance": "Heads at a glance",
    "layers": "Through the layers",
    "values": "What is mixed",
    "alike": "Heads alike",
    "lens": "Early answers",
    "owed": "Attention and gradients",
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


def drawings() -> dict[str, Draw]:
    """Tell how each part is drawn."""
    from pages.summaries import attribution, glance, lens, rollout, similarity, value_weighted

    return {
        "glance": glance.glance,
        "layers": rollout.layers,
        "values": value_weighted.values,
        "alike": similarity.alike,
        "lens": lens.lens,
        "owed": attribution.owed,
    }


parts_page(PartsPage(PAGE, FIELDS, PARTS, drawings, ("attention", "fill_mask", "heads_and_blocks")))
