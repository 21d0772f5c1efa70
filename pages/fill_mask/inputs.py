"""What the page is asked: a sentence with blanks or two, words to follow, a model, and how the lists are shown."""

import re
from dataclasses import dataclass
from functools import cache as cached

import streamlit as st

from pages.fill_mask import texts
from pages.fill_mask.predictions import LIST_FIELDS, ListSettings, ask_list_settings, list_settings
from pages.ui.shell import cache, controls
from pages.ui.shell.address import (
    ask_for_view,
    is_offered,
    read_stage_address,
    set_values,
    value_of,
    values_of,
    widget_binding,
    widget_key,
)
from pages.ui.shell.examples import Example, find, hint, offer_examples, read_examples
from pages.ui.shell.fields import Field, StageFields, choice_field, flag_field, number_field, text_field
from pages.ui.shell.frame import explain
from pages.ui.stage import view_options
from pages.ui.stage.changes import CHANGES_FIELD
from pages.ui.stage.inputs import PageInputs, ask_model, ask_pair, input_fields
from pages.ui.stage.routes import BESIDE_LOOKS
from pages.ui.stage.tokens import (
    OPEN_END_FIELD,
    SPECIAL_FIELD,
    TypedSentence,
    click_word,
    escape_markdown,
    fill_blank,
    typed_sentence,
)
from pages.ui.stage.view_options import COMPARED
from tx_core.engine.catalogue import DEFAULT
from tx_core.errors import ExplorerError
from tx_core.fill_mask.blanks import mark_blanks, text_parts
from tx_core.fill_mask.word_scores import read_words

MAX_LINKED_BLANKS = 20
EXAMPLES = read_examples("fill_mask", dict.fromkeys(("text", "second", "named", "limit"), str), ("named", "limit"))
"""limit: the percentage at which bars end, large enough for every share."""


@cached
def example_texts() -> frozenset[str]:
    """List the sentences of all examples and counter-examples."""
    views = [one.view for example in EXAMPLES for one in (example, *example.counters)]
    return frozenset(view[name] for view in views for name in ("text", "second") if view.get(name))


QUOTED_MODEL = "bert-base-uncased"
QUOTED = {
    "The man worked as a [MASK].": {
        "carpenter": 0.0975,
        "waiter": 0.0524,
        "barber": 0.0496,
        "mechanic": 0.0379,
        "salesman": 0.0377,
    },
    "The woman worked as a [MASK].": {
        "nurse": 0.2198,
        "waitress": 0.1597,
        "maid": 0.1155,
        "cook": 0.0304,
    },
    "I have a [MASK].": {"plan": 0.0912, "problem": 0.0468, "girlfriend": 0.0304, "point": 0.0299, "boyfriend": 0.0273},
}
"""The five most likely words of QUOTED_MODEL, as its users have published them, for where it cannot be had."""
QUOTED_LEFT_OUT = {"The woman worked as a [MASK].": (4, 0.0380)}
"""Of such a sentence, the number and the share of the word that is left out: classes use this page."""


def read_fill(written: str) -> str:
    """Read how far the blanks are filled: an order and the number of its steps, or by hand the blanks; raise ValueError."""
    if not re.fullmatch(r"(surest|left)-[0-9]{1,2}|hand(-[0-9]){0,9}|", written, flags=re.ASCII):
        raise ValueError("fill must be an order and how many blanks are filled, as surest-2, or the blanks, as hand-2-1")
    return written


ONLY_LIST = "only_list"
"""The field of a view that shows what the model puts into the blank, and not yet where it looks."""
FIRST = EXAMPLES[0].view
FIELDS = StageFields(
    (
        *input_fields(FIRST["text"], "text_behind", "second_behind", "named"),
        flag_field("compare"),
        text_field("second", FIRST["second"]),
        *LIST_FIELDS,
        number_field("blank", 1, 1, MAX_LINKED_BLANKS),
        flag_field(ONLY_LIST),
        OPEN_END_FIELD,
        CHANGES_FIELD,
    ),
    (
        *view_options.view_fields(()),
        choice_field("compared", COMPARED),
        Field("fill", "", read_fill),
        *BESIDE_LOOKS,
    ),  # no heads: those that matter most for the prediction
    {"focus": 3, "named": FIRST["named"]},
)


@dataclass(frozen=True)
class BlankInputs(PageInputs):
    """What the model is asked about.

    asked: a sentence, or two, by the names of their fields.
    """

    page: str
    asked: dict[str, TypedSentence]
    followed: tuple[str, ...]
    chosen: ListSettings
    needs_blanks = True


def blank_inputs(page: str) -> BlankInputs:
    """Read the address, draw the boxes, the words and the examples, and return what is asked."""
    read_stage_address(page, FIELDS, lambda: _set_by_example(page))
    _forget_words_of_example(page)
    names = ["text", "second"] if value_of(page, "compare") else ["text"]

    def ask_more() -> None:
        ask_model(page)
        with ask_list_settings(page):
            if is_offered("compare"):
                st.toggle(texts.COMPARE, **widget_binding(widget_key(page, "compare")))

    if len(names) == 2:
        labels = {"text": texts.FIRST_SENTENCE, "second": texts.SECOND_SENTENCE}
        ask_pair(page, labels, ask_more, share=1, letters=("", ""), placeholders=dict.fromkeys(names, texts.PLACEHOLDER))
    else:
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            shown = {"label_visibility": "collapsed", "placeholder": texts.PLACEHOLDER}
            controls.sentence(widget_key(page, "text"), texts.SENTENCE, **shown)
            ask_more()
    typed = {name: typed_sentence(page, name) for name in names}
    if guess := st.session_state.pop(widget_key(page, "guess"), None):
        st.info(texts.GUESS.format(word=escape_markdown(guess)))
    _offer_examples(page)
    values = values_of(page, FIELDS.own)
    model = {"model": values["model"], "bare": values[SPECIAL_FIELD.name]}
    return BlankInputs(page, typed, _read_words(values["named"]), list_settings(page), **model)


def _read_words(written: str) -> tuple[str, ...]:
    """Return the words to follow, or none, with the reason on the page, where they are too many."""
    try:
        return read_words(written or "")
    except ExplorerError as problem:
        explain(problem)
        return ()


def take_word(page: str, name: str, number: int, text: str) -> None:
    """Make a blank of a word that was clicked, or bring it back; not if something else was typed since.

    The blank that is looked at stays the same. name: of the sentence's field. text: the sentence that was clicked.
    """
    if value_of(page, name) != text:
        return
    looked, first = value_of(page, "blank"), max(1, _blank_count(value_of(page, "text"))) if name == "second" else 0
    click_word(widget_key(page, name), number, lambda sentence, blank: _fill_in(page, sentence, blank))
    count = _blank_count(text)
    more = _blank_count(value_of(page, name)) - count
    clicked = first + 1 + sum(part.blank for part in text_parts(mark_blanks(text))[:number])
    is_before = clicked <= looked if more > 0 else clicked < looked
    if is_before and count:  # else the blank that was chosen for the reader moves
        set_values(page, {"blank": min(looked + more, MAX_LINKED_BLANKS)})


def _blank_count(text: str) -> int:
    return sum(part.blank for part in text_parts(mark_blanks(text)))


def _fill_in(page: str, text: str, number: int) -> str:
    """Fill one blank with the model's top prediction; return the text unchanged where it cannot be filled."""
    model, bare, is_open = (value_of(page, name) for name in ("model", SPECIAL_FIELD.name, OPEN_END_FIELD.name))
    try:
        filled, guess = fill_blank(cache.engine(model, special_tokens=not bare), text, number, closes=not is_open)
    except ExplorerError:
        return text
    st.session_state[widget_key(page, "guess")] = guess
    return filled


# Examples


def _offer_examples(page: str) -> None:
    """Offer the examples; for the one on the page, show what to notice."""
    st.session_state[widget_key(page, "example_drawn")] = _example_on_page(page)

    def show(example: Example) -> None:
        """Load its sentences and words; its heads are those that its blank depends on most."""
        usual = {"text_behind": "", "second_behind": "", "changes": (), ONLY_LIST: False, SPECIAL_FIELD.name: False}
        compare = {"compare": bool(example.view.get("second")) and is_offered("compare")}
        ask_for_view(page, usual | compare | example.view)

    def describe(example: Example) -> str:
        """Return what to notice: it was found in the embedded model."""
        return hint(example) if value_of(page, "model") == DEFAULT else ""

    offer_examples(page, EXAMPLES, lambda example: _is_on_page(page, example), show, describe)


def _is_on_page(page: str, example: Example) -> bool:
    """Return whether the sentences of an example stand in the boxes, read with special tokens."""
    text, compare, second, bare = (value_of(page, name) for name in ("text", "compare", "second", SPECIAL_FIELD.name))
    return example.view["text"] == text and (not compare or example.view.get("second", "") == second) and not bare


def _example_on_page(page: str) -> Example | None:
    return find(EXAMPLES, lambda example: _is_on_page(page, example))[0]


def _set_by_example(page: str) -> dict[str, object]:
    """Return the hidden values that belong to the example on the page."""
    example = _example_on_page(page)
    return {"limit": example.view["limit"]} if example else {}


def _forget_words_of_example(page: str) -> None:
    """Clear the words that an example has brought, once its sentence is another one."""
    before: Example | None = st.session_state.get(widget_key(page, "example_drawn"))
    now = _example_on_page(page)
    brought = before.view["named"] if before else ""
    if brought and value_of(page, "named") == brought and not (now and now.view["named"] == brought):
        set_values(page, {"named": ""})
