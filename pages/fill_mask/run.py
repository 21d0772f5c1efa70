"""Runs of the page: every sentence answered, and one blank of them, with the reader's changes, looked at."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

import streamlit as st

from pages.fill_mask import head_scan, predictions, texts
from pages.fill_mask.head_scan import OfferedScan
from pages.fill_mask.inputs import ONLY_LIST, QUOTED, QUOTED_LEFT_OUT, QUOTED_MODEL, BlankInputs
from pages.fill_mask.predictions import SentencePredictions, blank_trace, word_scores
from pages.ui.shell import cache, controls
from pages.ui.shell.address import set_values, value_of, widget_key
from pages.ui.shell.frame import explain
from pages.ui.shell.numbers import percent
from pages.ui.stage.browser_texts import CAPTION
from pages.ui.stage.changes import Changes, active_changes, drop_missing_changes
from pages.ui.stage.inputs import drop_missing_looks
from pages.ui.stage.packing import RunName
from pages.ui.stage.sources import reading, source
from pages.ui.stage.tokens import note_special_tokens, warn_of_unknown
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine
from tx_core.engine.tokenizer import BLANK
from tx_core.errors import ExplorerError, memory_checked
from tx_core.fill_mask.blanks import NEW_BLANK
from tx_core.fill_mask.head_scan import HeadScan
from tx_core.fill_mask.prediction_shift import BlankShift
from tx_core.fill_mask.word_scores import WordScore
from tx_core.transformer.interventions import Head
from tx_core.transformer.trace import Trace

FIRST_HEAD: Head = (4, 6)
"""The head to begin with where a scan takes too long: of the embedded model, one that decides many a verb's form."""


@dataclass(frozen=True)
class LookedAt:
    """The blank that is looked at.

    Attributes:
        answer, number: its sentence, and which blank of it this is, from 0.
        trace, plain: the run of its sentence with the reader's changes, and without.
        shift: what they do to its most likely words; None without changes.
        scores: of the words to follow, with the changes; None without them.
        automatic: whether the page chose the heads.
        scanned: heads that a scan has chosen, which a link leaves out.
        scan: every head of the unchanged model switched off in turn, where that has been done.
        scan_asked: the scan that the reader asked for; None where none is offered.
        notes: what of the view this run does not have, and was left out.
    """

    answer: SentencePredictions
    number: int
    changed: Changes
    trace: Trace
    plain: Trace
    shift: BlankShift | None
    scores: tuple[WordScore, ...] | None
    automatic: bool
    scanned: list[Head]
    scan: HeadScan | None
    scan_asked: OfferedScan | None
    notes: tuple[str, ...]

    @property
    def text(self) -> str:
        """The sentence."""
        return self.answer.text

    @property
    def place(self) -> int:
        """The position of the blank among the tokens."""
        return self.answer.filling.blanks[self.number].place


@dataclass(frozen=True)
class BlankRun:
    """What the page has computed.

    answers: of the sentences that could be filled. problems: of those that could not, by the names of their fields. looked: the
    blank that is looked at; None where there is none. alone: whether only the list is shown.
    """

    inputs: BlankInputs
    engine: Engine
    answers: tuple[SentencePredictions, ...]
    problems: Mapping[str, ExplorerError]
    looked: LookedAt | None
    alone: bool

    @property
    def notes(self) -> tuple[str, ...]:
        """Return how the lists differ from the model's own probabilities."""
        return tuple(filter(None, (CAPTION["withoutSpecial"] if self.inputs.bare else "", self.inputs.chosen.note)))

    @property
    def about(self) -> dict[str, object]:
        """Return the settings that a reader of the exported numbers needs."""
        asked, chosen = [answer.text for answer in self.answers], self.inputs.chosen
        settings = {"temperature": chosen.temperature, "top_p": chosen.top_p, "notes": list(self.notes)}
        return source(self.engine.name, texts=asked, **reading(not self.inputs.bare), **settings)

    @property
    def name(self) -> RunName:
        """Name the run that is looked at."""
        inputs = self.inputs
        return RunName(inputs.model, self.looked.text, "", inputs.bare, self.looked.changed)

    @property
    def blank_names(self) -> list[str]:
        """Name the blanks of all sentences, to choose from."""
        return [
            (texts.BLANK if len(self.answers) == 1 else texts.BLANK_OF_SENTENCE).format(sentence=place, number=blank.number + 1)
            for place, answer in enumerate(self.answers, start=1)
            for blank in answer.filling.blanks
        ]


def blank_run(inputs: BlankInputs) -> BlankRun:
    """Answer the sentences, and run the one whose blank is looked at; raise ExplorerError where the model cannot be used."""
    engine = inputs.engine()
    answers: list[SentencePredictions] = []
    problems: dict[str, ExplorerError] = {}
    held: list[Trace] = []  # to the end: a run that is larger than the cache would be computed again
    for name, sentence in inputs.asked.items():
        try:
            with memory_checked():
                held.append(blank_trace(engine, sentence.text))
                answers.append(predictions.answer_sentence(engine, sentence.text, inputs.followed, inputs.chosen))
        except ExplorerError as problem:
            problems[name] = problem
    page = inputs.page
    alone = value_of(page, ONLY_LIST) and not active_changes(page)
    looked = _look(inputs, engine, answers, looks=not alone) if answers else None
    return BlankRun(inputs, engine, tuple(answers), problems, looked, alone)


def _look(inputs: BlankInputs, engine: Engine, answers: list[SentencePredictions], *, looks: bool) -> LookedAt:
    """Run one blank, with the reader's changes, and choose heads and focus where the reader has not.

    looks: whether it is shown where the blank looks.
    """
    page, chosen = inputs.page, inputs.chosen
    blanks = [(answer, blank) for answer in answers for blank in answer.filling.blanks]
    if value_of(page, "blank") > len(blanks):
        set_values(page, {"blank": 1})
    answer, blank = blanks[value_of(page, "blank") - 1]
    if looks:
        _focus_blank(page, answer.text, blank.place)
    plain = blank_trace(engine, answer.text)
    notices = drop_missing_changes(page, plain)
    changed = active_changes(page)
    trace = blank_trace(engine, answer.text, changed) if changed else plain
    shifts = cache.call(predictions.prediction_shift, engine, answer.text, changed, **chosen.options) if changed else ()
    shift = shifts[blank.number] if changed else None
    scores = word_scores(engine, answer.text, inputs.followed, blank.number, changed) if changed else None
    automatic, scanned = _choose_heads(page, engine, answer.text, blank.number) if looks else (False, [])
    scan_asked = head_scan.offered_scan(page, engine, answer, blank.number, changed) if looks else None
    scan = head_scan.known_scan(engine, answer.text, blank.number)
    missing = drop_missing_looks(page, trace)
    notes = [trace.notice, *notices, *missing]
    said = tuple(note for note in notes if note)
    return LookedAt(answer, blank.number, changed, trace, plain, shift, scores, automatic, scanned, scan, scan_asked, said)


def _focus_blank(page: str, text: str, place: int) -> None:
    """Focus the blank when it is another one; a focus that the reader or a link chose stays."""
    before, now = st.session_state.get(f"{page}_focused"), (text, place)
    if before != now and (before is not None or value_of(page, "focus") is None):
        set_values(page, {"focus": place})
    st.session_state[f"{page}_focused"] = now


def _choose_heads(page: str, engine: Engine, text: str, number: int) -> tuple[bool, list[Head]]:
    """Choose the head that the prediction depends on most, where its scan is quick and the server is not busy.

    Returns whether the page chose, and what a scan chose: what the reader or a link chose stays, and what a blank began with.
    """
    key, blank = f"{page}_begun_with", (cache.engine_key(engine), text, number)
    begun, scanned, automatic = st.session_state.get(key, (None, [], []))
    if value_of(page, "heads") not in ([], automatic):
        return False, scanned
    if begun != blank:
        scan = head_scan.first_scan(engine, text, number)
        scanned = [scan.most_important] if scan else []
    layer, head = FIRST_HEAD
    usual = FIRST_HEAD if layer < engine.info.num_layers and head < engine.info.num_heads else (0, 0)
    automatic = scanned or [usual]
    set_values(page, {"heads": automatic})
    st.session_state[key] = blank, scanned, automatic
    return True, scanned


def note_reading(run: BlankRun) -> None:
    """Show what a reader should know of how the texts were read; nothing where all is as usual."""
    inputs, engine = run.inputs, run.engine
    page = inputs.page
    note_special_tokens(engine, not inputs.bare)
    if inputs.chosen.note:
        st.caption(inputs.chosen.note)
    for name, sentence in inputs.asked.items():
        with suppress(ExplorerError):
            warn_of_unknown([engine.encode(sentence.typed)], engine.name, widget_key(page, "model") if name == "text" else "")
        if sentence.note:
            st.info(sentence.note)
    for problem in run.problems.values():
        explain(problem)
    for answer in run.answers:
        if not inputs.bare:  # the quoted answers are to a text with special tokens
            _quote_words(engine.name, answer.text)
    for note in run.looked.notes if run.looked else ():
        st.info(note)


def _quote_words(model: str, text: str) -> None:
    """Quote what BERT base is known to answer to a few well-known sentences, where it cannot be had to answer here."""
    sentence = BLANK.sub(NEW_BLANK, text).strip()
    words = QUOTED.get(sentence, {})
    if words and model != QUOTED_MODEL and QUOTED_MODEL in catalogue.hub_reach.out_of_reach():
        listed = ", ".join(f"{word} {percent(share)}" for word, share in words.items())
        left_out = QUOTED_LEFT_OUT.get(sentence)
        ends = texts.QUOTED_LEFT_OUT.format(number=left_out[0], share=percent(left_out[1])) if left_out else ""
        st.caption(texts.QUOTED.format(model=controls.model_title(QUOTED_MODEL), words=listed) + ends)
