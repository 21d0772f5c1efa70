"""Is this really BERT? Ours beside the library's, beside an untrained one, with heads on top, and what came after it."""

from pages.ui.panels import view_options
from pages.ui.panels.parts_page import Draw, PartsPage, Tell, parts_page
from pages.ui.shell import controls
from pages.ui.shell.address import choice_field, flag_field, number_field, text_field

PAGE = "bert"
LAYERS, HEADS = controls.embedded_sizes()
PARTS = {
    "compare": "Beside the library's",
    "random": "Beside an untrained one",
    "labels": "Heads for labels",
    "family": "What came after",
}
FIELDS = (
    text_field("text", "I drink a cup of [MASK] every morning."),
    text_field("pair"),
    choice_field("part", ("compare", "random", "labels", "family")),
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


def drawings() -> dict[str, Draw]:
    """Tell how each part is drawn."""
    from pages.bert import families, parts

    return {"compare": parts.compare, "random": parts.random, "labels": parts.labels, "family": families.family}


def texts() -> dict[str, Tell]:
    """Tell what stands above each part."""
    from pages.bert import texts as bert_texts

    return {"compare": bert_texts.compare, "random": bert_texts.random, "labels": bert_texts.labels, "family": bert_texts.family}


parts_page(PartsPage(PAGE, FIELDS, PARTS, drawings, ("heads_and_blocks", "attention", "fill_mask"), texts=texts))
