"""Is this really BERT? Ours beside the library's, beside an untrained one, with heads on top, and what came after it."""

from pages.ui.shell.frame import open_page

PAGE = "bert"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.bert import families, parts, texts
from pages.ui.panels import view_options
from pages.ui.panels.parts_page import Part, PartsPage, parts_page
from pages.ui.shell import controls
from pages.ui.shell.address import choice_field, flag_field, number_field, text_field

LAYERS, HEADS = controls.embedded_sizes()
PARTS = {
    "compare": Part("Beside the library's", parts.compare, texts.compare),
    "random": Part("Beside an untrained one", parts.random, texts.random),
    "labels": Part("Heads for labels", parts.labels, texts.labels),
    "family": Part("What came after", families.family, texts.family),
}
FIELDS = (
    text_field("text", "I drink a cup of [MASK] every morning."),
    text_field("pair"),
    choice_field("part", tuple(PARTS)),
    flag_field("run"),
    number_field("layer", min(2, LAYERS), 1, LAYERS),
    number_field("head", min(3, HEADS), 1, HEADS),
    number_field("seed", 1, 1, 20),
    choice_field("kind", ("first", "every", "max")),
    number_field("labels", 3, 2, 5),
    choice_field("family", ("bert", "roberta", "albert", "electra", "electra-large", "distilbert")),
    flag_field("load"),
    *view_options.view_fields([(0, 0)]),
)

parts_page(PartsPage(PAGE, FIELDS, PARTS, ("heads_and_blocks", "attention", "fill_mask")), badge)
