"""How does a transformer know the order of words? Six ways to tell positions, four demands on them, and shuffled words."""

import streamlit as st

from pages.positions import drawings
from pages.positions.dimension_box import MAX_DRAWN_DIMENSIONS, dimension_box
from pages.positions.drawings import VIEWS, Choice
from pages.positions.encodings import WAYS
from pages.positions.prefetch import prefetch
from pages.positions.word_order import draw_guesses, draw_shuffle
from pages.ui.panels.tokens import warn_of_unknown
from pages.ui.shell import cache, controls
from pages.ui.shell.address import (
    Field,
    check,
    choice_field,
    number_field,
    read_view,
    text_field,
    widget_key,
    write_view,
)
from pages.ui.shell.controls import engine_of
from pages.ui.shell.frame import open_page, page_links, share_link, show_engine
from pages.ui.shell.live import live
from pages.ui.shell.source_code import show_source
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine
from tx_core.lessons import position_encodings, word_order
from tx_core.lessons.position_encodings import VECTORS
from tx_core.transformer import positions

PAGE = "positions"
PARTS = {"ways": "Six ways", "demands": "Four demands", "shuffle": "Shuffle the words"}
LENGTHS = range(4, 129)
WIDTHS = range(4, 257, 2)
BASES = (10, 100, 1000, 10_000, 100_000)
WITH_HEAD = {
    ("alibi", "map"),
    ("alibi", "similarity"),
    ("alibi", "effect"),
    ("t5", "similarity"),
    ("t5", "effect"),
    ("learned", "effect"),
}
CARDS = tuple(card for card in catalogue.catalogue() if card.family == "bert")
BERTS = tuple(card.name for card in CARDS)
MAX_POSITION_HEADS = max(position_encodings.BIAS_HEADS, *(card.num_heads for card in CARDS))


def read_dims(written: str) -> list[int]:
    """Read dimensions as a link writes them, 0-4-20; ValueError for nonsense."""
    dims = [int(dim) for dim in written.split("-") if dim.isascii() and dim.isdigit() and len(dim) < 5]
    if "-".join(map(str, dims)) != written or len(dims) > MAX_DRAWN_DIMENSIONS or len(set(dims)) < len(dims):
        raise ValueError("dims must be written like 0-4-20")
    return dims


FIELDS = (
    text_field("text", "He opened the [MASK] with a key."),
    choice_field("part", tuple(PARTS)),
    choice_field("scheme", tuple(WAYS)),
    choice_field("look", tuple(VIEWS)),
    number_field("length", 48, LENGTHS[0], LENGTHS[-1]),
    Field("width", 64, lambda written: int(check(written, [str(width) for width in WIDTHS]))),
    Field("base", 10_000, lambda written: int(check(written, [str(base) for base in BASES]))),
    number_field("head", 1, 1, MAX_POSITION_HEADS),
    Field("dims", [0, 8, 16, 24], read_dims, lambda dims: "-".join(map(str, dims))),
    number_field("seed", 1, 1, 999),
    choice_field("model", BERTS),
)


def held(name: str) -> object:
    """Give what the page holds of a field."""
    return st.session_state[widget_key(PAGE, name)]


def ask_model() -> Engine:
    """Ask for a BERT; raise ExplorerError when it cannot be had."""
    name = st.selectbox("Model", BERTS, key=widget_key(PAGE, "model"), format_func=controls.model_title)
    with controls.wait_for(name):
        return engine_of(badge, name)


def ask_sizes(scheme: str, view: str) -> Choice:
    """Ask for what the chosen way has: length, width and base, or a head, or a model."""
    length, second, third = st.columns(3)
    length.slider("Length: positions", LENGTHS[0], LENGTHS[-1], key=widget_key(PAGE, "length"))
    engine = engine_of(badge, catalogue.DEFAULT)
    if scheme in ("sinusoidal", "rotary"):
        second.slider("Width: dimensions", 4, 256, step=2, key=widget_key(PAGE, "width"))
        third.select_slider("Base", BASES, key=widget_key(PAGE, "base"), format_func="{:,}".format)
    elif scheme == "learned":
        with second:
            engine = ask_model()
    width = engine.model.config.hidden_size if scheme == "learned" else held("width")
    if view == "waves" and scheme in VECTORS:
        dimension_box(widget_key(PAGE, "dims"), width)
    if (scheme, view) in WITH_HEAD:
        heads = engine.num_heads if scheme == "learned" else position_encodings.BIAS_HEADS
        st.session_state[widget_key(PAGE, "head")] = min(held("head"), heads)
        (third if scheme == "learned" else second).slider("Head", 1, heads, key=widget_key(PAGE, "head"))
    return Choice(scheme, held("length"), width, float(held("base")), held("head") - 1, tuple(held("dims")), engine)


def ways() -> None:
    """One way of telling positions, seen from four sides."""
    scheme = st.segmented_control(
        "Way",
        list(WAYS),
        key=widget_key(PAGE, "scheme"),
        format_func=lambda name: WAYS[name].name,
        required=True,
        label_visibility="collapsed",
    )
    way = WAYS[scheme]
    st.markdown(way.told)
    st.latex(way.formula.replace("10000", str(held("base"))))
    show_source(*way.code)
    view = st.segmented_control(
        "View", list(VIEWS), key=widget_key(PAGE, "look"), format_func=VIEWS.get, required=True, label_visibility="collapsed"
    )
    choice = ask_sizes(scheme, view)
    tell_engine(choice.engine if scheme == "learned" else None)
    ahead = prefetch(PAGE, {field.name: held(field.name) for field in FIELDS}, choice, LENGTHS, WIDTHS)
    drawings.draw(view, choice, widget_key(PAGE, f"drawn_{view}"), ahead)


def tell_engine(engine: Engine | None) -> None:
    """Say in the badge which model computed; None where formulas alone did."""
    if engine:
        show_engine(badge, engine.title, engine.device)
    else:
        show_engine(badge, "No model, formulas alone", "cpu")


def demands() -> None:
    """The four demands on encodings, measured on the spot."""
    st.markdown(
        "What should a code for positions be? **Unique**: no two positions alike. **Bounded**: no larger numbers in longer "
        "texts. **Deterministic**: the same each time, whatever the length of the text. **Consistent in distance**: two "
        "positions that are equally far apart differ equally, wherever they stand. All four are measured here, now."
    )
    st.latex(r"\lVert P_{t+k} - P_t \rVert \;\text{ the same for every } t")
    show_source(positions.check_criteria, position_encodings.compared_encodings)
    live(PAGE, FIELDS, measure)
    st.caption(
        "Unique: distance of the two most alike positions. Bounded: growth of the greatest value when the text doubles. "
        "Deterministic: greatest change when computed again or for half the text. Consistent: how much the distance of "
        "equally far positions varies, as a share of the greatest distance. A learned table is consistent only roughly: "
        "nothing forces it to be. Relative ways (Shaw, T5, ALiBi) know nothing but distances, so they have no code to judge."
    )


def measure() -> None:
    """The four demands at the length, the width and the base that the reader chooses."""
    length, width, base = st.columns(3)
    length.slider("Length: positions", LENGTHS[0], LENGTHS[-1], key=widget_key(PAGE, "length"))
    width.slider("Width: dimensions", 4, 256, step=2, key=widget_key(PAGE, "width"))
    base.select_slider("Base", BASES, key=widget_key(PAGE, "base"), format_func="{:,}".format)
    engine = engine_of(badge, catalogue.DEFAULT)
    tell_engine(engine)
    table = position_encodings.learned_table(engine)
    verdicts = position_encodings.check_encodings(held("width"), float(held("base")), table, held("length"))
    drawings.draw_verdicts(verdicts, widget_key(PAGE, "verdicts"))


def shuffle() -> None:
    """Words shuffled, with the model's positions and without."""
    st.markdown(
        "Attention sees a **set** of words. Without positions, shuffling the words only shuffles the answers "
        "(**equivariance**): every word gets the very same vector as before. With positions, it does not. Leave a blank, "
        "`[MASK]`, and see what it does to a guess."
    )
    st.latex(r"f(\pi X) = \pi f(X) \;\text{ for every order } \pi")
    show_source(word_order.embed, word_order.shuffle_effect)
    live(PAGE, FIELDS, shuffle_words)


def shuffle_words() -> None:
    """The words in another order, and what the model makes of them."""
    again, model = st.columns(2, vertical_alignment="bottom")
    with model:
        engine = ask_model()
    tell_engine(engine)
    again.button("Shuffle again", key=widget_key(PAGE, "again"), icon=":material/shuffle:", on_click=next_seed)
    text, seed = held("text"), held("seed")
    found = cache.remember((PAGE, held("model"), text, seed), lambda: word_order.shuffle_test(engine, text, seed))
    warn_of_unknown([found.encoding])
    draw_shuffle(found, widget_key(PAGE, "shuffled"))
    draw_guesses(found, widget_key(PAGE, "guesses"))


def next_seed() -> None:
    """Draw another order."""
    st.session_state[widget_key(PAGE, "seed")] = held("seed") % 999 + 1


badge = open_page(PAGE)
read_view(PAGE, FIELDS, {})
part = st.segmented_control(
    "Part", list(PARTS), key=widget_key(PAGE, "part"), format_func=PARTS.get, required=True, label_visibility="collapsed"
)
if part == "shuffle":
    controls.sentence(widget_key(PAGE, "text"))
if part == "ways":
    live(PAGE, FIELDS, ways)
else:
    {"demands": demands, "shuffle": shuffle}[part]()
write_view(PAGE, FIELDS, {})
page_links(held("text"), "", "attention", "masks", "fill_mask", "bert")
share_link()
