"""What do all the heads do? A sentence summed up: heads by kind, attention through the layers, and what it cannot tell."""

from pages.ui import controls, view_options
from pages.ui.address import Field, choice_field, number_field, text_field
from pages.ui.attention_view import heads_to_link, token_to_link
from pages.ui.parts_page import Draw, PartsPage, parts_page

PAGE = "summaries"
PARTS = {"glance": "Heads at a glance", "layers": "Through the layers", "values": "What is mixed", "alike": "Heads alike",
         "lens": "Early answers", "owed": "Attention and gradients"}  # fmt: skip
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
    from pages.ui import summary_alike, summary_glance, summary_layers, summary_lens, summary_owed, summary_values

    return {"glance": summary_glance.glance, "layers": summary_layers.layers, "values": summary_values.values,
            "alike": summary_alike.alike, "lens": summary_lens.lens, "owed": summary_owed.owed}  # fmt: skip


parts_page(PartsPage(PAGE, FIELDS, PARTS, drawings, ("attention", "fill_mask", "heads_and_blocks")))
