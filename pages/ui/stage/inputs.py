"""What a page with a stage is asked about: a sentence or two, a model, and whether special tokens are added."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

import streamlit as st

from pages.ui.shell import cache, controls, readiness
from pages.ui.shell.address import ask_for_first_view, is_offered, read_stage_address, set_values, value_of, values_of, widget_key
from pages.ui.shell.examples import Example, offer_views
from pages.ui.shell.fields import Field, StageFields, text_field
from pages.ui.shell.frame import explain
from pages.ui.shell.texts import SEE_EXAMPLE, SENTENCE
from pages.ui.stage import view_options
from pages.ui.stage.changes import active_changes, drop_missing_changes
from pages.ui.stage.long_runs import offer_long
from pages.ui.stage.packing import RunName
from pages.ui.stage.sources import reading, source
from pages.ui.stage.texts import EXCHANGE, NEEDS_OWN_BERT, NO_SECOND_SENTENCE, SECOND_SENTENCE
from pages.ui.stage.tokens import SPECIAL_FIELD, ask_special_tokens, note_special_tokens, reading_in_link, warn_of_unknown
from tx_core.engine import catalogue
from tx_core.engine.catalogue import DEFAULT, ModelCard
from tx_core.engine.engine import Engine, no_head
from tx_core.errors import CheckpointProblem, ExplorerError, ModelUnavailable, TakesLong, TextMissing, memory_checked
from tx_core.transformer.trace import Trace

Inputs = TypeVar("Inputs")
"""What a page is asked, as its script takes it: with `text`, and `engine()`."""
SECOND_WIDTH = 280
"""Pixels of the box of a second sentence: on a phone, the first then has a row of its own."""


def input_fields(text: str, *others: str, model: str = DEFAULT) -> tuple[Field, ...]:
    """Return the fields of what `PageInputs` asks. text: the first sentence; others: what further texts are called, as "pair"."""
    return text_field("text", text), *map(text_field, others), Field("model", model, controls.read_model), SPECIAL_FIELD


@dataclass(frozen=True, kw_only=True)
class PageInputs:
    """What a page asks of a model: each page adds what else it asks.

    text, pair: "" where there is none. bare: whether the model reads them without special tokens.
    """

    text: str = ""
    pair: str = ""
    model: str = DEFAULT
    bare: bool = False
    needs_own_bert: ClassVar[bool] = False
    """Whether the page takes only a BERT, in our own layers, and reads its weights, which have to be in this process."""
    needs_blanks: ClassVar[bool] = False
    """Whether the page takes only models that fill blanks."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences that there are."""
        return (self.text, self.pair) if self.pair else (self.text,)

    def engine(self) -> Engine:
        """Return the engine of the model, without fetching one that the page does not take; raise ExplorerError."""
        if self.needs_blanks and not (card := catalogue.card(self.model)).fills_blanks:
            raise no_head(card.title)
        if self.needs_own_bert and not may_be_bert(card := catalogue.card(self.model)):
            raise ModelUnavailable(NEEDS_OWN_BERT.format(model=card.title))
        with memory_checked(), controls.wait_for(self.model):
            engine = cache.engine(self.model, special_tokens=not self.bare, weights=self.needs_own_bert)
        if self.needs_own_bert and not (engine.info.is_own and engine.info.family == "bert"):
            raise ModelUnavailable(NEEDS_OWN_BERT.format(model=engine.title))
        return engine

    def in_link(self, **view: str) -> dict[str, str]:
        """Return the parameters of a link to what the same model reads in the same way. view: what it reads, and how to look."""
        return {name: value for name, value in view.items() if value} | {"model": self.model, **reading_in_link(not self.bare)}

    def about(self, **more: object) -> dict[str, object]:
        """Name what a view of it is of, as `source` does; more: what else applies, or stands for its own."""
        return source(self.model, **{"text": self.text, "pair": self.pair} | reading(not self.bare) | more)


def input_values(page: str, fields: Iterable[Field]) -> dict[str, Any]:
    """Return the values of a page's fields, by the names that they have in `PageInputs` and the records made of it."""
    values = values_of(page, tuple(fields))
    bare = values.pop(SPECIAL_FIELD.name)
    return values | {"bare": bare}


@dataclass(frozen=True, kw_only=True)
class SentenceInputs(PageInputs):
    """What the model is asked about. written: tokens that a model wrote behind the sentence."""

    page: str
    written: tuple[int, ...] = ()

    @property
    def name(self) -> RunName:
        """Name the run of them with the reader's changes."""
        return RunName(self.model, self.text, self.pair, self.bare, active_changes(self.page), written=self.written)


def ask_sentences(
    page: str,
    labels: Mapping[str, str],
    read: Callable[[], Inputs],
    ask_more: Callable[[], None] = lambda: None,
    *,
    counts: bool = True,
) -> Inputs:
    """Draw a box for each sentence, what else is asked, and how many tokens the model reads; return what `read` makes of it.

    labels: by the names of the fields. counts: whether it is told how many tokens there are.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        for name, label in labels.items():
            width = SECOND_WIDTH if label == SECOND_SENTENCE else "stretch"
            key = widget_key(page, name)
            controls.sentence(key, label, label_visibility="collapsed", placeholder=label, width=width)
        ask_more()
        inputs = read()
        if counts and not readiness.is_awaited():
            with suppress(ExplorerError):  # the page explains it where its picture should be
                st.caption(controls.budget(inputs.engine(), inputs.text, getattr(inputs, "pair", "")), width="content")
    return inputs


def ask_pair(
    page: str,
    labels: Mapping[str, str],
    ask_more: Callable[[], None] | None,
    *,
    share: float = 4 / 3,
    letters: Sequence[str] = "AB",
    placeholders: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Draw the boxes of two sentences that are compared and, beside them, what else is asked; on a phone, one below the other.

    labels: by the names of the fields. share: how wide what else is asked is, in widths of a box. letters: before the boxes, as
    the page speaks of them. placeholders: by the names of the fields, where not the label.
    """
    boxes = [(name, letter) for name, letter in zip(labels, letters, strict=True) if is_offered(name)]
    widths = [*[1.0] * len(boxes), *([share] if ask_more else [])]
    columns = st.columns(widths, gap="xsmall", vertical_alignment="center") if widths else []
    for column, (name, letter) in zip(columns, boxes, strict=False):
        shown = {"label_visibility": "collapsed", "placeholder": placeholders.get(name, labels[name]), "letter": letter}
        with column:
            controls.sentence(widget_key(page, name), labels[name], **shown)
    if ask_more:
        with columns[-1], st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            ask_more()


def sentence_inputs(
    page: str,
    fields: StageFields,
    *,
    asks: str = SENTENCE,
    offers: Callable[[ModelCard], bool] | None = None,
    counts: bool = True,
) -> SentenceInputs:
    """Read the address, draw the boxes, and return what is asked.

    offers: which models may be chosen; None for all. counts: whether tokens are counted beside the box.
    """
    read_stage_address(page, fields)
    labels = {"text": asks, "pair": SECOND_SENTENCE}
    asked = {name: labels[name] for name in labels if any(field.name == name for field in fields.own)}

    def read() -> SentenceInputs:
        named = ("text", "pair", "model", SPECIAL_FIELD.name)
        return SentenceInputs(page=page, **input_values(page, (field for field in fields.own if field.name in named)))

    return ask_sentences(page, asked, read, lambda: ask_model(page, offers), counts=counts)


def read_pair_address(page: str, fields: StageFields) -> None:
    """Read the address of a page that begins with sentences A and B; a link that names none shows both."""
    first, arriving = fields.first, read_stage_address(page, fields)
    if arriving and value_of(page, "text") == first["text"] and not value_of(page, "text_b"):
        set_values(page, {"text_b": first["text_b"]})


def pair_inputs(
    page: str,
    fields: StageFields,
    labels: Sequence[str],
    make: Callable[..., Inputs],
    exchange: str,
    ask_more: Callable[[], None],
    examples: Sequence[Example],
    free: Collection[str] = (),
    *,
    apart: bool = False,
) -> Inputs:
    """Read the address, draw the boxes of sentences A and B and the examples, and return what is asked.

    make: takes the values of the page's own fields. exchange: help of the button that exchanges A and B, each field with the one
    whose name ends in _b. free: as of `offer_views`. apart: whether what else is asked has a row of its own.
    """
    read_pair_address(page, fields)
    names = [field.name for field in fields.own]
    others = {name: f"{name}_b" for name in names if f"{name}_b" in names}

    def swap() -> None:
        other_way = {other: name for name, other in others.items()}
        set_values(page, {name: value_of(page, other) for name, other in (others | other_way).items()})

    def ask() -> None:
        st.button(EXCHANGE, key=widget_key(page, "exchange"), help=exchange, on_click=swap)
        ask_more()

    asked = dict(zip(("text", "text_b"), labels, strict=True))
    ask_pair(page, asked, None if apart else ask, share=2 / 3)
    if apart:
        with st.container(horizontal=True, gap="xsmall"):
            ask()
    inputs = make(**input_values(page, fields.own))
    offer_views(page, fields, examples, free)
    return inputs


def check_pair(text_b: str) -> None:
    """Raise TextMissing without sentence B."""
    if not text_b.strip():
        raise TextMissing(NO_SECOND_SENTENCE)


def ask_model(
    page: str,
    offers: Callable[[ModelCard], bool] | None = None,
    on_special: Callable[[], None] | None = None,
    more: Mapping[str, Callable[[], None]] = MappingProxyType({}),
) -> None:
    """Offer the model and how it reads in a box that opens.

    offers: as of `controls.model`; on_special: of `widget_binding`. more: draw what else is asked there, by names of fields.
    """
    asked = [draw for name, draw in more.items() if is_offered(name)]
    if not asked and not any(map(is_offered, ("model", SPECIAL_FIELD.name))):
        return
    name = value_of(page, "model")
    with st.popover(controls.model_title(name), key=widget_key(page, "model_opened")):
        controls.model(widget_key(page, "model"), offers=offers)
        ask_special_tokens(page, on_special)
        for draw in asked:
            draw()


def has_answers(card: ModelCard) -> bool:
    """Return whether a model fills blanks, or writes."""
    return card.fills_blanks or card.predicts_next


def may_be_bert(card: ModelCard) -> bool:
    """Return whether a model is a BERT; what one of the hub is that is in no list nobody knows before it is loaded."""
    return card.family in ("bert", "")


@dataclass(frozen=True)
class AttentionRun:
    """A run of a model on what is asked.

    unchanged: the run without the reader's changes; None where there are none. notes: sentences on what of the view was left out,
    since this run does not have it.
    """

    name: RunName
    title: str
    trace: Trace
    unchanged: Trace | None
    notes: tuple[str, ...]


def attention_run(inputs: SentenceInputs) -> AttentionRun:
    """Run the model on what is asked, without and with the reader's changes. Raises ExplorerError where it cannot be read."""
    page = inputs.page
    engine = inputs.engine()
    with memory_checked():
        plain = cache.trace_with(engine, inputs.text, inputs.pair, written=inputs.written)
        messages = drop_missing_changes(page, plain)
        changes = active_changes(page)
        asked = {"interventions": changes, "written": inputs.written}
        trace = cache.trace_with(engine, inputs.text, inputs.pair, **asked) if changes else plain
    messages += drop_missing_looks(page, trace)
    return AttentionRun(inputs.name, engine.title, trace, plain if changes else None, tuple(messages))


def drop_missing_looks(page: str, trace: Trace) -> list[str]:
    """Leave out of the view what a run does not have; return sentences on that."""
    stacks = {stack.kind: stack for stack in trace.stacks}
    if value_of(page, "stack") not in stacks:
        set_values(page, {"stack": next(iter(stacks))})
    return view_options.drop_missing(page, *stacks[value_of(page, "stack")].weights.shape[:3])


def note_reading(inputs: SentenceInputs, trace: Trace, notes: Sequence[str] = ()) -> None:
    """Show what a reader should know of how the text was read, and further notes; nothing where all is as usual."""
    engine, page = inputs.engine(), inputs.page
    note_special_tokens(engine, not inputs.bare, inputs.pair)
    for note in [*([trace.notice] if trace.notice else []), *notes]:
        st.info(note)
    warn_of_unknown([trace.attention.key_tokens], inputs.model, widget_key(page, "model"))


def explain_problem(page: str, problem: ExplorerError, model: str = DEFAULT) -> None:
    """Explain what cannot be shown; offer a built-in model in place of another, the example where a text is missing, and what
    takes long.
    """
    explain(problem)
    if isinstance(problem, TextMissing) and is_offered("examples"):
        st.button(SEE_EXAMPLE, key=widget_key(page, "see_example"), on_click=ask_for_first_view, args=(page,))
    if isinstance(problem, TakesLong) and problem.asked is not None:
        offer_long(page, problem.asked, problem.seconds)
    replaceable = isinstance(problem, ModelUnavailable | CheckpointProblem)
    replaceable |= isinstance(problem, TakesLong) and value_of(page, "model") != model
    if replaceable and widget_key(page, "model") in st.session_state:
        controls.offer_default_model(widget_key(page, "model"), model)
