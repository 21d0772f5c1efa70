"""The predictions for a sentence: as charts, before and after a reader's changes, and drawn on the page with their table."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.fill_mask import texts
from pages.ui.panels.predictions import (
    ListSettings,
    SentencePredictions,
    blank_trace,
    joint_fillings,
    list_settings,
    top_predictions,
    word_label,
    word_scores,
)
from pages.ui.shell import cache
from pages.ui.shell.numbers import large_number, percent, points
from pages.ui.stage.browser_texts import CAPTION
from pages.ui.stage.changes import Changes
from pages.ui.stage.charts import Chart, bars_drawing, moved_chart, probability_chart
from pages.ui.stage.pictures import Picture, pictures_beside
from pages.ui.stage.sources import reading, source
from pages.ui.stage.texts import AFTER, BEFORE
from tx_core.engine.engine import Engine
from tx_core.fill_mask.prediction_shift import BlankShift, EntryShift, PredictionShift, compare_texts, shift_predictions
from tx_core.fill_mask.predictions import JointFilling
from tx_core.fill_mask.steps import MAX_ORDERED_BLANKS, StepwiseFilling, fill_in_every_order, fill_stepwise, named_orders
from tx_core.fill_mask.word_scores import LENGTH_NOTE, WordScore

BARS_HEIGHT = 262
"""Pixels that are kept for bars until they are drawn."""
MAX_CONTRASTS = 3
"""With how many other words the first word to check is compared."""


@dataclass(frozen=True)
class Lists:
    """All that is listed on the page, and how. model: its name."""

    model: str
    sentences: tuple[SentencePredictions, ...]
    chosen: ListSettings

    @property
    def reads_special(self) -> bool:
        """Whether the sentences were read with the model's special tokens."""
        return self.sentences[0].filling.encoding.special_tokens

    @property
    def notes(self) -> tuple[str, ...]:
        """Return how the lists differ from the model's own probabilities."""
        return tuple(note for note in ("" if self.reads_special else CAPTION["withoutSpecial"], self.chosen.note) if note)

    @property
    def about(self) -> dict[str, object]:
        """Return the settings that a reader of the exported numbers needs."""
        texts, settings = [answer.text for answer in self.sentences], {"temperature": self.chosen.temperature}
        settings |= {"top_p": self.chosen.top_p, "notes": list(self.notes)}
        return source(self.model, texts=texts, **reading(self.reads_special), **settings)


def checked_words_title(number: int, several: bool) -> str:
    """Return the title of the checked words at one blank."""
    return texts.CHECKED_WORDS_AT.format(number=number + 1) if several else texts.CHECKED_WORDS


def joint_picture(fillings: tuple[JointFilling, ...], chosen: ListSettings) -> Picture:
    """Draw the best fillings of all blanks together; the filled sentence is each bar's detail."""
    labels, shares = [" … ".join(one.words) for one in fillings], [one.probability for one in fillings]
    drawing = bars_drawing(probability_chart(texts.JOINT, labels, shares, limit=chosen.limit))
    return Picture(drawing, details=[one.sentence for one in fillings])


def checked_label(score: WordScore) -> str:
    """Return a word to check with the number of its pieces, where it has several."""
    return score.word if len(score.pieces) == 1 else texts.WORD_OF_PIECES.format(word=score.word, count=len(score.pieces))


def product_of_pieces(score: WordScore) -> str:
    """Return a note on a word to check: its rank, or the probabilities of its pieces."""
    if len(score.conditionals) == 1:
        return texts.RANK.format(rank=score.rank)
    return " × ".join(f"{piece} {percent(share)}" for piece, share in zip(score.pieces, score.conditionals, strict=True))


def change_chart(rows: Sequence[EntryShift], title: str, chosen: ListSettings) -> Chart:
    """Chart words at one blank before and after the reader's changes."""
    before, after = [one.before for one in rows], [one.after for one in rows]
    return moved_chart(title, [word_label(one.prediction) for one in rows], before, after, limit=chosen.limit)


def strongest_words(blank: BlankShift, chosen: ListSettings) -> list[EntryShift]:
    """List the words that were or are the most likely, by their probability now; as many as an unchanged list has."""
    strongest = sorted(blank.moved, key=lambda one: -max(one.before, one.after))[: chosen.listed]
    return sorted(strongest, key=lambda one: (-one.after, -one.before))


def note(moved: EntryShift) -> str:
    """Note how an entry's rank changed, counted over the whole vocabulary."""
    climbed = moved.rank_before - moved.rank_after
    template = texts.SAME_RANK if not climbed else texts.CLIMBED if climbed > 0 else texts.FELL
    return template.format(before=moved.rank_before, after=moved.rank_after)


def prediction_shift(engine: Engine, text: str, changed: Changes, chosen: ListSettings) -> PredictionShift:
    """Predict with and without the changes; raise ExplorerError where that cannot be done."""
    shown = _list_options(chosen)
    key = ("shift", cache.engine_key(engine), text, frozenset(changed), *shown.values())

    def compare() -> PredictionShift:
        traces = blank_trace(engine, text), blank_trace(engine, text, changed)
        return shift_predictions(engine, text, changed, traces=traces, **shown)

    return cache.get_or_compute(key, compare)


def text_shift(engine: Engine, text: str, second: str, chosen: ListSettings) -> PredictionShift:
    """Compare the predictions of two sentences; raise ExplorerError where that cannot be done."""
    shown = _list_options(chosen)
    key = ("text shift", cache.engine_key(engine), text, second, *shown.values())
    return cache.get_or_compute(key, lambda: compare_texts(engine, text, second, **shown))


def _list_options(chosen: ListSettings) -> dict[str, float]:
    return {"top_k": chosen.listed, "temperature": chosen.temperature, "top_p": chosen.top_p}


# On the page


def answer_sentence(engine: Engine, text: str, words: tuple[str, ...], chosen: ListSettings) -> SentencePredictions:
    """Ask everything about a sentence; raise ExplorerError where it cannot be filled."""
    filling = top_predictions(engine, text, chosen)
    scores = tuple(word_scores(engine, text, words, blank.number) for blank in filling.blanks)
    joint = joint_fillings(engine, text) if len(filling.blanks) > 1 else ()
    return SentencePredictions(text, filling, scores, joint)


def filled_stepwise(engine: Engine, text: str) -> tuple[tuple[StepwiseFilling, ...], dict[str, tuple[int, ...]]]:
    """Fill the blanks of a sentence one after another in every order, or of many blanks in two; return those that have a name."""

    def fill() -> tuple[tuple[StepwiseFilling, ...], dict[str, tuple[int, ...]]]:
        if len(engine.encode(text).blanks) <= MAX_ORDERED_BLANKS:
            fillings = fill_in_every_order(engine, text)
            return fillings, named_orders(fillings)
        both = {name: fill_stepwise(engine, text, name) for name in ("surest", "left")}
        return tuple(both.values()), {name: one.order for name, one in both.items()}

    return cache.get_or_compute(("filled_stepwise", cache.engine_key(engine), text), fill)


def show_notices(answer: SentencePredictions) -> None:
    """Show where an answer was not computed on the model's own device."""
    fallbacks = [*(score.fallback for blank in answer.scores for score in blank), *(filling.notice for filling in answer.joint)]
    if notice := next(filter(None, [answer.filling.notice, *fallbacks]), ""):
        st.info(notice)


def show_joint(page: str, part: str, answer: SentencePredictions, chosen: ListSettings) -> None:
    """Draw the best fillings of all blanks of a sentence together. part: tells the sentences of a page apart."""
    pictures_beside(page, part, [joint_picture(answer.joint, chosen)], BARS_HEIGHT)
    st.text(texts.BEST_FILLING.format(sentence=answer.joint[0].sentence))
    st.caption(texts.JOINT_CAPTION)


def rest_in_words(engine: Engine, labels: Sequence[str], share: str) -> str:
    """Return how much probability all words have that are not listed. labels: of the listed ones."""
    rest = texts.REST.format(count=engine.tokenizer.vocab_size - len(labels), share=share)
    return f"{rest} {texts.CONTINUES_WORD}" if any(label.startswith("##") for label in labels) else rest


def followed_words_chart(
    before: Sequence[WordScore], after: Sequence[WordScore], chosen: ListSettings, sides: tuple[str, str] = (BEFORE, AFTER)
) -> Chart:
    """Chart the words to check in two runs."""
    pairs = [(one, other) for one, other in zip(before, after, strict=True) if None not in (one.probability, other.probability)]
    shares = ([one.probability for one, _ in pairs], [other.probability for _, other in pairs])
    return moved_chart(texts.CHECKED_WORDS, [checked_label(one) for one, _ in pairs], *shares, limit=chosen.limit, sides=sides)


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
    """Draw two sentences against each other: each word's probability in the first, in the second, and the difference."""
    chosen = list_settings(page)
    shift = text_shift(engine, answers[0].text, answers[1].text, chosen)
    st.markdown(f"##### {texts.DIFFERENCE}")
    for blank in shift.blanks:
        pair, several = [answer.scores[blank.number] for answer in answers], len(shift.blanks) > 1
        rows, title = strongest_words(blank, chosen), texts.BLANK.format(number=blank.number + 1) if several else texts.TOP_WORDS
        chart = change_chart(rows, title, chosen) | {"sides": list(texts.SIDES)}
        pictures = [Picture(bars_drawing(chart), details=[note(one) for one in rows])]
        if all(pair):
            title = checked_words_title(blank.number, several)
            pictures.append(Picture(bars_drawing(followed_words_chart(*pair, chosen, texts.SIDES) | {"title": title})))
        pictures_beside(page, f"difference_{blank.number}", pictures, BARS_HEIGHT)
        _note_checked_words(pair[0])
    st.caption(texts.DIFFERENCE_CAPTION)


def _note_checked_words(scores: Sequence[WordScore]) -> None:
    """Say which words could not be scored, and how words of several pieces are."""
    for score in scores:
        if score.probability is None:
            st.text(texts.NOT_SCORED.format(word=score.word, reason=score.note))
    if any(len(score.pieces) > 1 for score in scores if score.probability is not None):
        st.caption(LENGTH_NOTE)
