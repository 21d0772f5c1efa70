"""Is this really BERT? Ours compared with Hugging Face's and with an untrained one, heads on top, and its successors."""

from pages.ui.shell.frame import open_page

PAGE = "bert"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.bert import parts, texts
from pages.ui.panels import view_options
from pages.ui.panels.parts_page import Part, PartsPage, parts_page
from pages.ui.panels.tokens import SPECIAL_FIELD
from pages.ui.shell import controls
from pages.ui.shell.address import choice_field, flag_field, number_field, text_field
from tx_core.lessons.families import FAMILIES
from tx_core.lessons.untrained import MAX_UNTRAINED_LABELS

LAYERS, HEADS = controls.embedded_sizes()
DRAWINGS = {
    "compare": (parts.with_export("compare", parts.draw_comparison), parts.introduce_comparison),
    "random": (parts.with_export("random", parts.draw_untrained), parts.introduce_untrained),
    "labels": (parts.with_export("labels", parts.draw_labels), parts.introduce_labels),
    "family": (parts.draw_family, parts.introduce_families),
}
PARTS = {name: Part(texts.PARTS[name], *drawing) for name, drawing in DRAWINGS.items()}
FIELDS = (
    text_field("text", "I drink a cup of [MASK] every morning."),
    text_field("pair"),
    SPECIAL_FIELD,
    choice_field("part", tuple(PARTS)),
    number_field("layer", min(2, LAYERS), 1, LAYERS),
    number_field("head", min(3, HEADS), 1, HEADS),
    number_field("seed", 1, 1, parts.MAX_HEAD_SEEDS),
    choice_field("kind", tuple(parts.LABEL_HEADS)),
    number_field("labels", 3, 2, MAX_UNTRAINED_LABELS),
    choice_field("family", tuple(FAMILIES)),
    flag_field("load"),
    *view_options.view_fields([(0, 0)]),
)

WAYS = ("heads_and_blocks", "attention", "fill_mask")
parts_page(PartsPage(PAGE, FIELDS, PARTS, WAYS, close=parts.explain_built_in), badge)
