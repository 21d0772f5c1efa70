"""Is this really BERT? Ours beside the library's, beside an untrained one, with heads on top, and what came after it."""

import streamlit as st

from pages.ui import cache, controls, view_options
from pages.ui.address import (
    choice_field,
    flag_field,
    held,
    key,
    number_field,
    read_view,
    tell_not_understood,
    text_field,
    write_view,
)
from pages.ui.frame import explain, open_page, share_link, show_engine, ways_on
from tx_core.errors import ExplorerError

PAGE = "bert"
MODEL = "embedded"
LAYERS, HEADS = controls.embedded_sizes()
PARTS = {"compare": "Beside the library's", "random": "Beside an untrained one", "labels": "Heads for labels",
         "family": "What came after"}  # fmt: skip
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


@st.fragment
def look(part: str, text: str, pair: str) -> None:
    """Show one part; what is changed here runs nothing but this."""
    from pages.ui import bert_parts, family_view

    draw = {"compare": bert_parts.compare, "random": bert_parts.random, "labels": bert_parts.labels, "family": family_view.family}
    try:
        draw[part](PAGE, cache.engine(MODEL), text, pair)
    except ExplorerError as problem:
        explain(problem)
    write_view(PAGE, FIELDS, {})
    ways_on(text, pair, "heads_and_blocks", "attention", "fill_mask")
    share_link()


badge = open_page(PAGE)
read_view(PAGE, FIELDS, {})
tell_not_understood(PAGE)
first, second = st.columns([3, 2])
with first:
    text = controls.sentence(key(PAGE, "text"))
with second:
    pair = controls.sentence(key(PAGE, "pair"), "Second sentence (optional)")
part = st.segmented_control("Part", list(PARTS), format_func=PARTS.get, required=True, label_visibility="collapsed",
                            **held(key(PAGE, "part")))  # fmt: skip
try:
    engine = cache.engine(MODEL)
    show_engine(badge, engine.title, engine.device)
except ExplorerError as problem:
    explain(problem)
    write_view(PAGE, FIELDS, {})
else:
    look(part, text, pair)
