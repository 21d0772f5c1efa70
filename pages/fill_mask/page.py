"""What would BERT put here? Blanks in one sentence, or in two side by side, filled by a masked-word model."""

from collections.abc import Sequence

import streamlit as st

from pages.ui.shell.frame import open_page

PAGE = "fill_mask"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from streamlit.delta_generator import DeltaGenerator

from pages.fill_mask import blank_attention, predictions, tables, texts
from pages.fill_mask.export import prediction_exports
from pages.fill_mask.prompts import QUOTED_MODEL, Prompt, curated, quoted_words
from pages.ui.export.menu import export_menu
from pages.ui.panels.predictions import (
    LIST_FIELDS,
    SentencePredictions,
    ask_list_settings,
    blank_trace,
    list_settings,
    top_predictions,
    word_label,
)
from pages.ui.panels.tokens import (
    SPECIAL_FIELD,
    ask_special_tokens,
    blank_last_word,
    escape_markdown,
    note_special_tokens,
    warn_of_unknown,
    word_buttons,
)
from pages.ui.shell import cache, controls, examples
from pages.ui.shell.address import (
    Field,
    flag_field,
    is_offered,
    read_view,
    restore_hidden_fields,
    text_field,
    widget_key,
    write_view,
)
from pages.ui.shell.controls import live_part, view_changed
from pages.ui.shell.frame import explain, page_links, share_link, show_engine
from pages.ui.shell.metrics import page_run
from pages.ui.shell.numbers import percent
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine, no_head, with_special_tokens
from tx_core.errors import ExplorerError
from tx_core.fill_mask.word_scores import MAX_SCORED_WORDS, read_words
from tx_core.transformer.trace import Trace

EXAMPLES = curated()
FIELDS = (
    text_field("text", EXAMPLES[0].text),
    flag_field("compare"),
    text_field("second", EXAMPLES[0].second),
    text_field("text_behind"),
    text_field("second_behind"),
    text_field("named"),
    Field("model", "embedded", controls.read_model),
    SPECIAL_FIELD,
    *LIST_FIELDS,
    *blank_attention.FIELDS,
)
FIRST_VIEW = {"focus": 3, "named": EXAMPLES[0].named}
EXAMPLES_DRAWN = widget_key(PAGE, "examples_drawn")
"""Where the session keeps what `example_on_page` said when the examples were drawn."""


def show_example(prompt: Prompt) -> None:
    """Load an example's sentences and words into the page."""
    view = {
        "text": prompt.text,
        "compare": bool(prompt.second) and is_offered("compare"),
        "named": prompt.named,
        "limit": prompt.limit,
        "text_behind": "",
        "second_behind": "",
        "changes": (),
        blank_attention.ONLY_LIST: False,
        SPECIAL_FIELD.name: False,
    }
    if prompt.second:
        view["second"] = prompt.second
    st.session_state.update({widget_key(PAGE, name): value for name, value in view.items()})
    st.rerun()


def example_on_page() -> tuple[Prompt | None, Prompt | None]:
    """Return the example whose sentences stand in the boxes, with special tokens, and its entry in the list."""
    names = ("text", "compare", "second", SPECIAL_FIELD.name)
    text, compare, second, bare = (st.session_state[widget_key(PAGE, name)] for name in names)
    return examples.find(EXAMPLES, lambda one: one.text == text and (not compare or one.second == second) and not bare)


def set_by_example() -> dict[str, object]:
    """Return the hidden values that belong to the example on the page."""
    example, _ = example_on_page()
    return {"limit": example.limit} if example else {}


def load(model: str, special: bool) -> Engine:
    """Return the engine of a masked-language model, without fetching any other; raise ExplorerError.

    special: whether it adds special tokens.
    """
    card = catalogue.card(model)
    if not card.fills_blanks:
        raise no_head(card.title)
    with controls.wait_for(model):
        return with_special_tokens(cache.engine(model), special)


def show_examples() -> None:
    """Offer the examples; for the one on the page, show what to notice."""
    forget_words_of_example()  # a click on a word may have made another sentence
    st.session_state[EXAMPLES_DRAWN] = example, origin = example_on_page()
    examples.offer(widget_key(PAGE, "example"), EXAMPLES, origin, show_example)
    if example and origin and is_offered("examples"):
        st.markdown(texts.HINT.format(hint=example.notice))
        examples.offer_counters(widget_key(PAGE, "counter_example"), origin, example, show_example)


def sentence_changed() -> None:
    """Rerun the examples, too, where the sentence becomes or stops being one.

    With another limit than the usual one, `show_sentences` runs the whole page, which names the values that are hidden.
    """
    limit = next(field for field in LIST_FIELDS if field.name == "limit")
    if forget_words_of_example():
        return  # `show_sentences` then runs the whole page, in which the box of words stands
    is_usual = st.session_state[widget_key(PAGE, limit.name)] == limit.default
    if is_usual and example_on_page() != st.session_state.get(EXAMPLES_DRAWN):
        view_changed(PAGE, ("examples", "sentences"))


def forget_words_of_example() -> bool:
    """Clear the words that an example has brought, once its sentence is another one; return whether there were any."""
    before, _ = st.session_state.get(EXAMPLES_DRAWN) or (None, None)
    now, named = example_on_page()[0], widget_key(PAGE, "named")
    if not before or before == now or not before.named or st.session_state[named] != before.named:
        return False
    if now and now.named == before.named:
        return False
    st.session_state[named] = ""
    return True


def ask_sentence(name: str, label: str) -> None:
    """Ask for a sentence, as a line to type in and as words to click."""
    controls.sentence(widget_key(PAGE, name), label, placeholder=texts.PLACEHOLDER, on_change=sentence_changed)
    word_buttons(widget_key(PAGE, name), fill_with_top_prediction)


def ask_words() -> tuple[str, ...]:
    """Ask for words to check; return them, or none, with the reason on the page, where they are too many."""
    written = st.text_input(
        texts.CHECK_WORDS,
        key=widget_key(PAGE, "named"),
        live=True,
        autocomplete="off",
        placeholder="nurse, doctor, ##ing",
        help=texts.CHECK_WORDS_HELP.format(maximum=MAX_SCORED_WORDS),
    )
    try:
        return read_words(written or "")
    except ExplorerError as problem:
        explain(problem)
        return ()


def fill_with_top_prediction(text: str, number: int) -> str:
    """Fill one blank with the model's top prediction; return the text unchanged where it cannot be filled."""
    model, bare = (st.session_state[widget_key(PAGE, name)] for name in ("model", SPECIAL_FIELD.name))
    try:
        filling = top_predictions(cache.engine(model, special_tokens=not bare), text, list_settings(PAGE))
    except ExplorerError:
        return text
    best = filling.blanks[number].predictions[0]
    st.session_state[widget_key(PAGE, "guess")] = word_label(best)
    return best.sentence


def answer(engine: Engine, name: str, words: tuple[str, ...], runs: list[Trace]) -> list[SentencePredictions]:
    """Return the predictions for a sentence; empty, with a message, where it cannot be filled. runs: gets its run appended."""
    text = st.session_state[widget_key(PAGE, name)]
    try:
        encoding = engine.encode(text)
        warn_of_unknown([encoding], engine.name, widget_key(PAGE, "model") if name == "text" else "")
        if not encoding.blanks:
            offer_a_blank(name)
            return []
        runs.append(blank_trace(engine, text))
        answered = predictions.answer_sentence(engine, text, words, list_settings(PAGE))
    except ExplorerError as problem:
        explain(problem)
        return []
    predictions.show_notices(answered)
    if engine.tokenizer.special_tokens:  # the quoted answers are to a text with them
        show_quoted_words(engine.name, text)
    return [answered]


def show_quoted_words(model: str, text: str) -> None:
    """Quote what BERT base is known to answer to a few well-known sentences, where it cannot be had to answer here."""
    words = quoted_words(text)
    if words and model != QUOTED_MODEL and QUOTED_MODEL in catalogue.hub_reach.out_of_reach():
        listed = ", ".join(f"{word} {percent(share)}" for word, share in words.items())
        st.caption(texts.QUOTED.format(model=controls.model_title(QUOTED_MODEL), words=listed))


def offer_a_blank(name: str) -> None:
    """Explain that the sentence has no blank, and offer to make one in one click."""
    with st.container(border=True):
        st.markdown(texts.NO_BLANK)
        st.button(
            texts.BLANK_LAST_WORD,
            key=f"{widget_key(PAGE, name)}_last",
            icon=":material/ink_eraser:",
            on_click=blank_last_word,
            args=(widget_key(PAGE, name),),
        )


def show_all_lists(engine: Engine, answers: Sequence[SentencePredictions], columns: Sequence[DeltaGenerator]) -> None:
    """Draw the lists of all blanks; a single one stands beside the heads."""
    chosen = list_settings(PAGE)
    for column, answered in zip(columns[-len(answers) :], answers, strict=True):
        with column:
            key = widget_key(PAGE, "text" if column is columns[0] else "second")
            predictions.show_lists(engine, answered, chosen, key, alone=len(answers) == 1)
    if len(answers) > 1:
        predictions.show_text_shift(PAGE, engine, answers)
    st.caption(texts.LISTS_UNCHANGED)


@st.fragment
@page_run(PAGE)
def show_blank_section(model: str, special: bool, answers: Sequence[SentencePredictions]) -> None:
    """Show a blank's prediction, its attention and the reader's changes; a click in here reruns only this."""
    restore_hidden_fields(PAGE, FIELDS)
    view = engine = None
    if answers:
        try:
            engine = cache.engine(model, special_tokens=special)
            view = blank_attention.blank_attention(PAGE, engine, answers)
        except ExplorerError as problem:
            explain(problem)
        shift = None
        if view and view.changed:
            shift = predictions.prediction_shift(engine, view.text, view.changed, list_settings(PAGE)).blanks[view.number]
        tables.numbers(answers, shift, widget_key(PAGE, "numbers"))
    write_view(PAGE, blank_attention.fields_in_link(PAGE, FIELDS), FIRST_VIEW)
    if engine:
        export_menu(PAGE, prediction_exports(PAGE, engine, answers, view))
    page_links(st.session_state[widget_key(PAGE, "text")], "", "attention", "summaries", "positions", "bert")
    share_link()


def show_sentences(model: str, special: bool, words: tuple[str, ...]) -> None:
    """Ask for the sentences, and show what the model puts into their blanks, and in the badge which model that is.

    The boxes stand above the choice of a model, which is not drawn again.
    """
    for box, (name, label) in zip(boxes, labels.items(), strict=True):
        with box:
            ask_sentence(name, label)
    if example_on_page() != st.session_state[EXAMPLES_DRAWN]:
        st.rerun()  # a click on a word has changed the sentence, or `sentence_changed` left it to the whole page
    if guess := st.session_state.pop(widget_key(PAGE, "guess"), None):
        boxes[0].info(texts.GUESS.format(word=escape_markdown(guess)))
    answers: list[SentencePredictions] = []
    runs: list[Trace] = []  # held until all is drawn: one that is larger than the cache would be computed again
    try:
        engine = load(model, special)
        show_engine(badge, engine.title, engine.device)
        note_special_tokens(engine, special)
        if note := list_settings(PAGE).note:
            st.caption(note)
        columns = st.columns(len(labels), gap="large")
        for column, name in zip(columns, labels, strict=True):
            with column:
                answers += answer(engine, name, words, runs)
        if sum(len(answered.filling.blanks) for answered in answers) > 1:
            show_all_lists(engine, answers, columns)
    except ExplorerError as problem:
        badge.empty()
        explain(problem)
        controls.offer_default_model(widget_key(PAGE, "model"))
    show_blank_section(model, special, answers)


read_view(PAGE, FIELDS, FIRST_VIEW, set_by_example)
live_part(PAGE, FIELDS, show_examples, part="examples")
labels = {"text": texts.SENTENCE}
if st.session_state[widget_key(PAGE, "compare")]:
    labels = {"text": texts.FIRST_SENTENCE, "second": texts.SECOND_SENTENCE}
boxes = st.columns(len(labels), gap="large")
with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
    words = ask_words()
    model = controls.model(widget_key(PAGE, "model"))
    st.toggle(texts.COMPARE, key=widget_key(PAGE, "compare"))
    options = ask_list_settings(PAGE)
with options:
    special = ask_special_tokens(PAGE)
live_part(PAGE, FIELDS, show_sentences, model, special, words, part="sentences")
