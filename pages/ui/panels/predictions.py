"""What a model puts into the blanks of a sentence: how the lists are shown, the cached results, and their table."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.panels import texts
from pages.ui.shell import cache
from pages.ui.shell.address import Field, choice_field, is_offered, number_field, set_values, value_of, values_of, widget_key
from pages.ui.shell.controls import ask_option
from tx_core.analysis.weights_file import TableValue
from tx_core.engine.engine import Engine
from tx_core.fill_mask.predictions import Filling, JointFilling, Prediction, encode_with_blanks, fill_jointly, predict
from tx_core.fill_mask.word_scores import WordScore, score_words
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import Trace

MAX_LIST_WORDS = 30
PREDICTION_TEMPERATURES = ("1", "0.25", "0.5", "0.75", "1.5", "2", "3")
TOP_P = ("1", "0.95", "0.9", "0.75", "0.5", "0.25")
LIST_FIELDS: tuple[Field, ...] = (
    number_field("listed", 8, 1, MAX_LIST_WORDS),
    choice_field("limit", tuple(texts.BAR_LIMIT_LABELS)),
    choice_field("temperature", PREDICTION_TEMPERATURES),
    choice_field("top_p", TOP_P),
)


@dataclass(frozen=True)
class ListSettings:
    """How the lists of predictions are shown. Nothing here changes the model.

    Attributes:
        listed: words in each list.
        temperature: what the logits are divided by.
        top_p: the share of probability that is kept, 0 to 1.
        limit: the share at which every bar ends, 0 to 1.
    """

    listed: int
    temperature: float
    top_p: float
    limit: float

    @property
    def note(self) -> str:
        """Return how the lists differ from the model's own probabilities; "" where they do not."""
        if self.temperature == 1 and self.top_p == 1:
            return ""
        if self.top_p == 1:
            return texts.TEMPERATURE_CHANGED.format(temperature=self.temperature)
        if self.temperature == 1:
            return texts.TOP_P_CHANGED.format(top_p=self.top_p)
        return texts.TEMPERATURE_AND_TOP_P_CHANGED.format(temperature=self.temperature, top_p=self.top_p)


@dataclass(frozen=True)
class SentencePredictions:
    """Everything that a page shows of one sentence with blanks.

    Attributes:
        text: the sentence.
        filling: the most likely words at each blank.
        scores: the words that the reader checks, at each blank.
        joint: the best fillings of all blanks together; none for a single blank.
    """

    text: str
    filling: Filling
    scores: tuple[tuple[WordScore, ...], ...]
    joint: tuple[JointFilling, ...]


def list_settings(page: str) -> ListSettings:
    """Read the settings of the lists from the page's session."""
    values = values_of(page, LIST_FIELDS)
    return ListSettings(values["listed"], float(values["temperature"]), float(values["top_p"]), int(values["limit"]) / 100)


def ask_list_settings(page: str) -> DeltaGenerator:
    """Draw the settings of the lists in a popover; return it, for the page to add to."""
    for field in LIST_FIELDS:  # a popover draws its widgets when it opens, and knows only what the latest run told them
        set_values(page, {field.name: value_of(page, field.name)})
    if not any(is_offered(field.name) for field in LIST_FIELDS):
        return st.container()
    popover = st.popover(texts.OPTIONS, icon=":material/tune:")
    with popover:
        st.slider(texts.LIST_LENGTH, 1, MAX_LIST_WORDS, key=widget_key(page, "listed"))
        ask_option(texts.BAR_LIMIT, texts.BAR_LIMIT_LABELS, key=widget_key(page, "limit"), help=texts.BAR_LIMIT_HELP)
        st.select_slider(
            texts.TEMPERATURE,
            sorted(PREDICTION_TEMPERATURES, key=float),
            key=widget_key(page, "temperature"),
            help=texts.TEMPERATURE_HELP,
        )
        st.select_slider(texts.TOP_P, sorted(TOP_P, key=float), key=widget_key(page, "top_p"), help=texts.TOP_P_HELP)
        st.caption(texts.LIST_SETTINGS_CAPTION)
    return popover


def blank_trace(engine: Engine, text: str, changed: Sequence[Intervention] = ()) -> Trace:
    """Run a text with blanks: one forward pass gives its attention and its predictions; raise ExplorerError as these do."""
    encode_with_blanks(engine, text)  # what cannot be filled is refused before it runs
    return cache.trace_with(engine, text, keep=("weights", "blank_logits"), interventions=changed)


def top_predictions(engine: Engine, text: str, settings: ListSettings) -> Filling:
    """Return the most likely words at every blank; raise ExplorerError where the text cannot be filled."""
    options = {"top_k": settings.listed, "temperature": settings.temperature, "top_p": settings.top_p}
    key = ("top_predictions", cache.engine_key(engine), text, *options.values())
    return cache.get_or_compute(key, lambda: predict(engine, text, trace=blank_trace(engine, text), **options))


def word_scores(
    engine: Engine, text: str, words: tuple[str, ...], blank: int, changed: Sequence[Intervention] = ()
) -> tuple[WordScore, ...]:
    """Score the words that the reader checks at one blank, with the reader's changes in place."""
    if not words:
        return ()
    key = ("word_scores", cache.engine_key(engine), text, blank, frozenset(changed), *words)

    def score() -> tuple[WordScore, ...]:
        trace = blank_trace(engine, text, changed)
        return score_words(engine, text, words, blank=blank, interventions=changed, trace=trace)

    return cache.get_or_compute(key, score)


def joint_fillings(engine: Engine, text: str) -> tuple[JointFilling, ...]:
    """Return the most likely joint fillings of all blanks."""
    return cache.get_or_compute(("joint_fillings", cache.engine_key(engine), text), lambda: fill_jointly(engine, text))


def word_label(prediction: Prediction) -> str:
    """Label a prediction by its word, with ## before one that continues the word on its left."""
    return f"##{prediction.word}" if prediction.joins else prediction.word or prediction.piece


def prediction_rows(predictions: SentencePredictions) -> list[tuple[TableValue, ...]]:
    """Return every number of a sentence's predictions as rows of `texts.PREDICTION_COLUMNS`."""
    table: list[tuple[TableValue, ...]] = []
    for blank in predictions.filling.blanks:
        name = texts.BLANK_LIST.format(number=blank.number + 1)
        for rank, entry in enumerate(blank.predictions, start=1):
            table.append((name, word_label(entry), entry.piece, str(entry.id), entry.probability, rank, entry.sentence))
    for number, scores in enumerate(predictions.scores, start=1):
        name = texts.CHECKED_WORDS_LIST.format(number=number)
        for score in scores:
            table.append((name, score.word, " ".join(score.pieces), _ids(score.ids), score.probability, score.rank, score.note))
    for rank, filling in enumerate(predictions.joint, start=1):
        words, pieces = " … ".join(filling.words), " ".join(filling.pieces)
        table.append((texts.JOINT_LIST, words, pieces, _ids(filling.ids), filling.probability, rank, filling.sentence))
    return [(predictions.text, *row) for row in table]


def _ids(entries: Sequence[int]) -> str:
    return " ".join(map(str, entries))
