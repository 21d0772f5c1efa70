"""How does it know the order of words? Position encodings, requirements on them, and shuffled words."""

from functools import partial

import streamlit as st

from pages.ui.shell.frame import open_page

PAGE = "positions"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.positions import texts
from pages.positions.drawings import (
    describe_learned_table,
    draw,
    draw_effects,
    draw_requirements,
    prefetch_maps,
    shuffle_numbers,
)
from pages.positions.encodings import (
    BASES,
    BERTS,
    ENCODING_VIEWS,
    LENGTHS,
    MAX_POSITION_HEADS,
    WIDTHS,
    ask_choice,
    ask_model,
    ask_sizes,
    dimensions_from_link,
    dimensions_to_link,
    encoding_numbers,
    requirements_numbers,
)
from pages.ui.export.lessons import draw_and_export
from pages.ui.panels.tokens import SPECIAL_FIELD, ask_special_tokens, note_special_tokens, warn_of_unknown
from pages.ui.shell import cache, controls
from pages.ui.shell.address import Field, check, choice_field, number_field, read_view, text_field, widget_key, write_view
from pages.ui.shell.controls import ask_option, engine_of, live
from pages.ui.shell.frame import ask_part, page_links, share_link, show_engine, show_source
from pages.ui.shell.level import show_formula
from tx_core.engine.catalogue import DEFAULT
from tx_core.engine.engine import Engine, with_special_tokens
from tx_core.lessons import word_order
from tx_core.lessons.position_encodings import check_encodings, compared_encodings, learned_table
from tx_core.transformer.positions import check_criteria

SEEDS = range(1, 1000)
FIELDS = (
    text_field("text", "He opened the [MASK] with a key."),
    SPECIAL_FIELD,
    choice_field("part", tuple(texts.PARTS)),
    choice_field("scheme", tuple(ENCODING_VIEWS)),
    choice_field("look", tuple(texts.VIEWS)),
    number_field("length", 48, LENGTHS[0], LENGTHS[-1]),
    Field("width", 64, lambda written: int(check(written, [str(width) for width in WIDTHS]))),
    Field("base", 10_000, lambda written: int(check(written, [str(base) for base in BASES]))),
    number_field("head", 1, 1, MAX_POSITION_HEADS),
    Field("dims", [0, 8, 16, 24], dimensions_from_link, dimensions_to_link),
    number_field("seed", 1, SEEDS[0], SEEDS[-1]),
    choice_field("model", BERTS),
)


def value(name: str) -> object:
    """Get the current value of a field of this page."""
    return st.session_state[widget_key(PAGE, name)]


def encodings() -> None:
    """One encoding, seen from four sides."""
    scheme = st.segmented_control(
        texts.ENCODING,
        list(ENCODING_VIEWS),
        key=widget_key(PAGE, "scheme"),
        format_func=lambda name: ENCODING_VIEWS[name].name,
        required=True,
        label_visibility="collapsed",
    )
    encoding = ENCODING_VIEWS[scheme]
    st.markdown(encoding.text)
    show_formula(encoding.formula.replace("10000", str(value("base"))))
    show_source(*encoding.code)
    view = ask_option(texts.VIEW, texts.VIEWS, key=widget_key(PAGE, "look"), label_visibility="collapsed")
    choice = ask_choice(PAGE, badge, scheme, view)
    name_engine(choice.engine if encoding.of_model else None)
    values = {field.name: value(field.name) for field in FIELDS}
    prefetch = prefetch_maps(PAGE, values, choice, LENGTHS, WIDTHS)
    key = widget_key(PAGE, f"drawn_{view}")
    draw_and_export(PAGE, lambda: encoding_numbers(view, choice), draw, view, choice, key, prefetch)


def name_engine(engine: Engine | None) -> None:
    """Show in the badge which model computed; None where formulas alone did."""
    if engine:
        show_engine(badge, engine.title, engine.device)
    else:
        show_engine(badge, texts.NO_MODEL, "cpu")


def requirements() -> None:
    """The requirements on encodings, measured on the spot."""
    st.markdown(texts.REQUIREMENTS_TEXT)
    show_formula(texts.REQUIREMENTS_FORMULA)
    show_source(check_criteria, compared_encodings)
    live(PAGE, FIELDS, measure)
    st.caption(texts.REQUIREMENTS_CAPTION)


def measure() -> None:
    """The requirements at the length, the width and the base that the reader chooses."""
    ask_sizes(PAGE)
    engine = engine_of(badge, DEFAULT, weights=True)
    name_engine(engine)
    table = learned_table(engine)
    checked = check_encodings(value("width"), float(value("base")), table, value("length"))
    lesson = partial(requirements_numbers, value("length"), value("width"), float(value("base")))
    draw_and_export(PAGE, lesson, draw_requirements, checked, widget_key(PAGE, "verdicts"))
    st.caption(describe_learned_table(checked, table[: value("length")]))


def shuffle() -> None:
    """Words shuffled, with the model's positions and without."""
    st.markdown(texts.SHUFFLE_TEXT)
    show_formula(texts.SHUFFLE_FORMULA)
    show_source(word_order.embed, word_order.shuffle_effect)
    live(PAGE, FIELDS, shuffle_words)


def shuffle_words() -> None:
    """The words in another order, and what the model makes of them."""
    again, model = st.columns(2, vertical_alignment="bottom")
    with model:
        engine = with_special_tokens(ask_model(PAGE, badge), not value(SPECIAL_FIELD.name))
    name_engine(engine)
    again.button(texts.SHUFFLE_AGAIN, key=widget_key(PAGE, "again"), icon=":material/shuffle:", on_click=choose_next_seed)
    text, seed = value("text"), value("seed")
    key = (PAGE, cache.engine_key(engine), text, seed)
    run = cache.get_or_compute(key, lambda: word_order.shuffle_test(engine, text, seed))
    note_special_tokens(engine, run.encoding.special_tokens)
    warn_of_unknown([run.encoding], engine.name, widget_key(PAGE, "model"))
    lesson = partial(shuffle_numbers, engine, text, seed)
    draw_and_export(PAGE, lesson, draw_effects, run, widget_key(PAGE, "shuffled"), widget_key(PAGE, "guesses"))


def choose_next_seed() -> None:
    """Choose another order."""
    st.session_state[widget_key(PAGE, "seed")] = value("seed") % SEEDS[-1] + 1


read_view(PAGE, FIELDS, {})
part = ask_part(PAGE, texts.PART, texts.PARTS)
if part == "shuffle":
    controls.sentence(widget_key(PAGE, "text"))
    ask_special_tokens(PAGE)
if part == "ways":
    live(PAGE, FIELDS, encodings)
else:
    {"demands": requirements, "shuffle": shuffle}[part]()
write_view(PAGE, FIELDS, {})
page_links(value("text"), "", "attention", "masks", "fill_mask", "bert")
share_link()
