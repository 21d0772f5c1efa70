"""The predictions for a sentence: as charts, before and after a reader's changes, and drawn on the page with their table."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.fill_mask import texts
from pages.ui.shell import cache
from pages.ui.shell.address import is_offered, values_of, widget_key
from pages.ui.shell.controls import ask_option
from pages.ui.shell.fields import Field, choice_field, number_field
from pages.ui.shell.numbers import large_number, percent, points
from pages.ui.stage.changes import Changes
from pages.ui.stage.charts import bars_drawing, moved_drawing
from pages.ui.stage.pictures import BARS_HEIGHT, Picture, pictures_beside
from tx_core.analysis.table_file import TableValue
from tx_core.engine.engine import Engine
from tx_core.fill_mask.prediction_shift import BlankShift, EntryShift, compare_texts, shift_predictions
from tx_core.fill_mask.predictions import Filling, JointFilling, encode_with_blanks, fill_jointly, predict
from tx_core.fill_mask.steps import MAX_ORDERED_BLANKS, StepwiseFilling, fill_in_every_order, fill_stepwise, named_orders
from tx_core.fill_mask.word_scores import LENGTH_NOTE, WordScore, score_words
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

    temperature: what the logits are divided by. top_p: the share of probability that is kept, 0 to 1. limit: the share at which
    every bar ends, 0 to 1.
    """

    listed: int
    temperature: float
    top_p: float
    limit: float

    @property
    def options(self) -> dict[str, float]:
        """Return how many words are listed and how their probabilities are sharpened, as `predict` takes it."""
        return {"top_k": self.listed, "temperature": self.temperature, "top_p": self.top_p}

    @property
    def note(self) -> str:
        """Return how the lists differ from the model's own probabilities; "" where they do not."""
        return "" if self.temperature == self.top_p == 1 else texts.LISTS_CHANGED.format(**vars(self))


@dataclass(frozen=True)
class SentencePredictions:
    """Everything that a page shows of one sentence with blanks.

    filling: the most likely words at each blank. scores: the words that the reader checks, at each blank. joint: the best
    fillings of all blanks together; none for a single blank.
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


def blank_trace(engine: Engine, text: str, changed: Changes = ()) -> Trace:
    """Run a text with blanks: one forward pass gives its attention and its predictions; raise ExplorerError as these do."""
    encode_with_blanks(engine, text)  # what cannot be filled is refused before it runs
    return cache.trace_with(engine, text, keep=("weights", "blank_logits"), interventions=changed)


def top_predictions(engine: Engine, text: str, settings: ListSettings) -> Filling:
    """Return the most likely words at every blank; raise ExplorerError where the text cannot be filled."""
    return cache.call(_predict, engine, text, **settings.options)


def _predict(engine: Engine, text: str, **options: float) -> Filling:
    return predict(engine, text, trace=blank_trace(engine, text), **options)


def word_scores(engine: Engine, text: str, words: tuple[str, ...], blank: int, changed: Changes = ()) -> tuple[WordScore, ...]:
    """Score the words that the reader checks at one blank, with the reader's changes in place."""
    return cache.call(_score, engine, text, words, blank, changed) if words else ()


def _score(engine: Engine, text: str, words: tuple[str, ...], blank: int, changed: Changes) -> tuple[WordScore, ...]:
    trace = blank_trace(engine, text, changed)
    return score_words(engine, text, words, blank=blank, interventions=changed, trace=trace)


def prediction_rows(predictions: SentencePredictions) -> list[tuple[TableValue, ...]]:
    """Return every number of a sentence's predictions as rows of `texts.PREDICTION_COLUMNS`."""
    table: list[tuple[TableValue, ...]] = []
    for blank in predictions.filling.blanks:
        name = texts.BLANK_LIST.format(number=blank.number + 1)
        for rank, entry in enumerate(blank.predictions, start=1):
            table.append((name, entry.label, entry.piece, str(entry.id), entry.probability, rank, entry.sentence))
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


# What is drawn

MAX_CONTRASTS = 3
"""With how many other words the first word to check is compared."""


def checked_label(score: WordScore) -> str:
    """Return a word to check with the number of its pieces, where it has several."""
    return score.word if len(score.pieces) == 1 else texts.WORD_OF_PIECES.format(word=score.word, count=len(score.pieces))


def product_of_pieces(score: WordScore) -> str:
    """Return a note on a word to check: its rank, or the probabilities of its pieces."""
    if len(score.conditionals) == 1:
        return texts.RANK.format(rank=score.rank)
    return " × ".join(f"{piece} {percent(share)}" for piece, share in zip(score.pieces, score.conditionals, strict=True))


def strongest_words(blank: BlankShift, chosen: ListSettings) -> list[EntryShift]:
    """List the words that were or are the most likely, by their probability now; as many as an unchanged list has."""
    strongest = sorted(blank.moved, key=lambda one: -max(one.before, one.after))[: chosen.listed]
    return sorted(strongest, key=lambda one: (-one.after, -one.before))


def note(moved: EntryShift) -> str:
    """Note how an entry's rank changed, counted over the whole vocabulary."""
    climbed = moved.rank_before - moved.rank_after
    template = texts.SAME_RANK if not climbed else texts.CLIMBED if climbed > 0 else texts.FELL
    return template.format(before=moved.rank_before, after=moved.rank_after)


def prediction_shift(engine: Engine, text: str, changed: Changes, **options: float) -> tuple[BlankShift, ...]:
    """Predict with and without the changes; raise ExplorerError where that cannot be done. options: as of `ListSettings`."""
    traces = blank_trace(engine, text), blank_trace(engine, text, changed)
    return shift_predictions(engine, text, changed, traces=traces, **options)


def answer_sentence(engine: Engine, text: str, words: tuple[str, ...], chosen: ListSettings) -> SentencePredictions:
    """Ask everything about a sentence; raise ExplorerError where it cannot be filled."""
    filling = top_predictions(engine, text, chosen)
    scores = tuple(word_scores(engine, text, words, blank.number) for blank in filling.blanks)
    joint = cache.call(fill_jointly, engine, text) if len(filling.blanks) > 1 else ()
    return SentencePredictions(text, filling, scores, joint)


def filled_stepwise(engine: Engine, text: str) -> tuple[tuple[StepwiseFilling, ...], dict[str, tuple[int, ...]]]:
    """Fill the blanks of a sentence one after another in every order, or of many blanks in two; return those that have a name."""
    if len(engine.encode(text).blanks) <= MAX_ORDERED_BLANKS:
        fillings = cache.call(fill_in_every_order, engine, text)
        return fillings, named_orders(fillings)
    both = {name: cache.call(fill_stepwise, engine, text, name) for name in ("surest", "left")}
    return tuple(both.values()), {name: one.order for name, one in both.items()}


def show_joint(page: str, part: str, answer: SentencePredictions, chosen: ListSettings) -> None:
    """Draw the best fillings of all blanks of a sentence together. part: tells the sentences of a page apart."""
    labels, shares = [" … ".join(one.words) for one in answer.joint], [one.probability for one in answer.joint]
    drawing = bars_drawing(texts.JOINT, labels, shares, limit=chosen.limit)
    pictures_beside(page, part, [Picture(drawing, details=[one.sentence for one in answer.joint])], BARS_HEIGHT)
    st.text(texts.BEST_FILLING.format(sentence=answer.joint[0].sentence))
    st.caption(texts.JOINT_CAPTION)


def contrasts(before: Sequence[WordScore], after: Sequence[WordScore] | None = None) -> list[str]:
    """Return, for the first word against each other, the difference and the ratio of their probabilities."""
    scored = [score for score in before if score.probability]
    if len(scored) < 2:
        return []
    now = {score.word: score.probability or 0.0 for score in after or before}
    first, others = scored[0], scored[1 : 1 + MAX_CONTRASTS]
    sentences = []
    for other in others:
        names = {"first": first.word, "second": other.word}
        was = (points(first.probability - other.probability), ratio_in_words(first.probability, other.probability))
        new = (points(now[first.word] - now[other.word]), ratio_in_words(now[first.word], now[other.word]))
        both = [one if after is None else texts.FROM_TO.format(before=one, after=two) for one, two in zip(was, new, strict=True)]
        sentences.append(texts.CONTRAST.format(**names, difference=both[0], ratio=both[1]))
    return sentences


def ratio_in_words(one: float, other: float) -> str:
    """Write the ratio of two probabilities with the larger number first or last: 108 : 1, 1 : 2.3."""
    if not one or not other:
        return texts.NO_RATIO
    number = large_number(max(one, other) / min(one, other))
    return f"{number} : 1" if one >= other else f"1 : {number}"


def show_text_shift(page: str, engine: Engine, answers: Sequence[SentencePredictions]) -> None:
    """Draw two sentences against each other: each word's probability in the first, in the second, and the difference.

    Raises ExplorerError where they cannot be compared.
    """
    chosen = list_settings(page)
    (one, other), options = answers, chosen.options
    shifts = cache.call(compare_texts, engine, one.text, other.text, **options)
    several = len(shifts) > 1

    def bars(title: str, named: Sequence[tuple[str, float, float]], details: Sequence[str] = ()) -> Picture:
        labels, before, after = ([row[column] for row in named] for column in range(3))
        return Picture(moved_drawing(title, labels, before, after, limit=chosen.limit, sides=texts.SIDES), details=details)

    st.markdown(f"##### {texts.DIFFERENCE}")
    for blank in shifts:
        number, rows = blank.number + 1, strongest_words(blank, chosen)
        title = texts.BLANK.format(number=number) if several else texts.TOP_WORDS
        pictures = [bars(title, [(row.prediction.label, row.before, row.after) for row in rows], [note(row) for row in rows])]
        if pairs := list(zip(one.scores[blank.number], other.scores[blank.number], strict=True)):
            title = texts.CHECKED_WORDS_AT.format(number=number) if several else texts.CHECKED_WORDS
            scored = [(checked_label(was), was.probability, now.probability) for was, now in pairs]
            pictures.append(bars(title, [row for row in scored if None not in row]))
        pictures_beside(page, f"difference_{blank.number}", pictures, BARS_HEIGHT)
        for said in notes_on_checked(one.scores[blank.number]):
            st.text(said)
    st.caption(texts.DIFFERENCE_CAPTION)


def notes_on_checked(scores: Sequence[WordScore]) -> list[str]:
    """List what is to be said of the words to check: what has no probability, and what several pieces mean."""
    notes = [texts.NOT_SCORED.format(word=one.word, reason=one.note) for one in scores if one.probability is None]
    several = any(len(one.pieces) > 1 for one in scores if one.probability is not None)
    return [*notes, LENGTH_NOTE] if several else notes
