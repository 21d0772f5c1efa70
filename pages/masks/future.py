"""Why the future is hidden: two tiny models in training, with and without the causal mask, at any moment of it."""

from collections.abc import Sequence
from functools import partial
from math import log
from statistics import mean

import streamlit as st

from pages.masks import texts
from pages.masks.inputs import FIELDS, PAGE, MaskInputs
from pages.ui.export.computation import after, call, each, named
from pages.ui.export.part import Part
from pages.ui.export.records import PartNumbers
from pages.ui.shell import cache
from pages.ui.shell.address import widget_key
from pages.ui.shell.numbers import percent
from pages.ui.stage import background_runs
from pages.ui.stage import texts as stage_texts
from pages.ui.stage.background_runs import OfferedRun
from pages.ui.stage.charts import Drawing, listing_drawing, matrix_drawing
from pages.ui.stage.controls import Control
from pages.ui.stage.pictures import Picture
from pages.ui.stage.training import ShownTraining, Trainer, curve, moment_title, take_wish, training_header
from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.progress import Progress
from tx_core.training.future import (
    BATCHES,
    FIRST_WORDS,
    MASKS,
    PROBE,
    SHOWN_EVERY,
    SLOT_WORDS,
    FutureMoment,
    FutureTraining,
    least_loss,
    look_at_both,
    next_word_share,
    start_future_training,
    train_next_words,
)
from tx_core.training.stored import FUTURE_SEED, stored_future
from tx_core.transformer import attention

KIND = "future"
_EVEN = log(len(SLOT_WORDS))
"""The loss of guessing every word of the vocabulary with the same probability."""


def _new_training() -> FutureTraining:
    """Return untrained models with random weights that this visitor has not seen."""
    name = widget_key(PAGE, "seed")
    st.session_state[name] = st.session_state.get(name, FUTURE_SEED) + 1
    return start_future_training(st.session_state[name])


def shown_seed(shown: ShownTraining) -> int:
    """Return the random seed of the training that is shown."""
    if shown.is_stored:
        return FUTURE_SEED
    return shown.model.seed if shown.model else st.session_state[widget_key(PAGE, "seed")]


TRAINER = Trainer(PAGE, KIND, FIELDS, _new_training, lambda _: None, texts.OWN_TRAINING)


def shown_future() -> tuple[ShownTraining, list[FutureMoment]]:
    """Return the visitor's training, else the one that ships, with its moments."""
    own = background_runs.current_run(KIND)
    untrained, stored = stored_future()
    if own and (own.running or own.records):
        shown, records = ShownTraining(own.result, own.records, own), own.records
        if records:
            seed = shown_seed(shown)
            untrained = cache.get_or_compute(("untrained future", seed), lambda: look_at_both(start_future_training(seed)))
    else:
        shown, records = ShownTraining(True, stored, own, is_stored=True), stored
    return shown, [untrained, *(one.probe for one in records if one.probe)]


def future_part(_inputs: MaskInputs, engine: BertEngine) -> Part:
    """Return the training that is shown, at any moment of it, with its buttons."""
    shown, moments = shown_future()
    names, limits = tuple((str(one.batch), str(one.batch)) for one in moments), (moments[0].batch, moments[-1].batch)
    # The last moment stands in for any that is not there yet.
    moment = Control("moment", "slider", texts.MOMENT, names, limits=limits, step=SHOWN_EVERY, fallback=names[-1][0])
    return Part(
        future_pictures(shown, moments),
        future_numbers(shown),
        [texts.WHY_TEXT],
        formulas=[texts.WHY_FORMULA],
        sources=[train_next_words, attention.causal_mask],
        controls=[moment],
        run=OfferedRun(training_header(TRAINER, shown), partial(take_wish, TRAINER)),
        by=(texts.TWO_MODELS, engine.device),
    )


def future_pictures(shown: ShownTraining, moments: Sequence[FutureMoment]) -> list[Picture]:
    """Draw the losses of both models, and at each moment what they write and where they look."""
    losses = loss_drawing(shown.records)
    drawn = [picture for one in moments for picture in _at(one)]
    if not shown.records:
        return drawn
    said = {str(one.batch): {"sentence": loss_in_words(one, shown.records)} for one in moments}
    about = {"cell": stage_texts.CURVE_STEP, "chooses": "moment", "choices": losses.columns, "varies": "moment", "variants": said}
    return [Picture(losses, share=1.2, **about), *drawn]


def _at(moment: FutureMoment) -> list[Picture]:
    when = {"moment": [str(moment.batch)]}
    rows = [[one, *(moment.written[name][place] for name in MASKS)] for place, one in enumerate(FIRST_WORDS)]
    listing = listing_drawing(texts.WRITTEN, [texts.BEGINNING, *texts.MODELS.values()], rows)
    written = Picture(listing, writing_in_words(moment), when, share=1.4)
    return [written, *(_map(moment, name, when) for name in MASKS)]


def _map(moment: FutureMoment, name: str, when: dict[str, list[str]]) -> Picture:
    words, weights = PROBE.split(), moment.weights[name]
    share = percent(next_word_share(weights))
    drawing = matrix_drawing(texts.LOOKS[name], "weights", weights, words, words)
    return Picture(drawing, texts.NEXT_WORD[name].format(share=share), when, row=1, cell=texts.LOOKS_CELL)


def loss_drawing(records: Sequence[Progress]) -> Drawing:
    """Draw the loss of both models, and the least that one can reach that only looks back."""
    lines = {texts.MODELS[name]: [(one.done, one.values[name]) for one in records] for name in MASKS}
    lines[texts.LEAST] = [(batch, least_loss()) for batch in range(1, len(records) + 1)]
    return curve(texts.LOSSES, lines, BATCHES, every=SHOWN_EVERY, limits=(0.0, 3.5))


def loss_in_words(moment: FutureMoment, records: Sequence[Progress]) -> str:
    """Return in a sentence how large both losses are at a moment, and what no model gets below that looks back only."""
    if not moment.batch:
        return texts.UNTRAINED_LOSS
    recent = [one for one in records if moment.batch - SHOWN_EVERY < one.done <= moment.batch]
    masked, unmasked = (mean(one.values[name] for one in recent) for name in MASKS)
    template = texts.LOSS_BELOW if unmasked < least_loss() else texts.LOSS_ABOVE
    title = moment_title(moment.batch, BATCHES)
    return template.format(title=title, masked=f"{masked:.2f}", unmasked=f"{unmasked:.2f}", least=f"{least_loss():.2f}")


def writing_in_words(moment: FutureMoment) -> str:
    """Return in a sentence how well both models guess a word that has nothing after it, as when they write."""
    masked, unmasked = (moment.writing_loss[name] for name in MASKS)
    template = texts.UNTRAINED_WRITING if not moment.batch else texts.WRITING_WORSE if unmasked > _EVEN else texts.WRITING
    return template.format(masked=f"{masked:.2f}", unmasked=f"{unmasked:.2f}", even=f"{_EVEN:.2f}", words=len(SLOT_WORDS))


def future_numbers(shown: ShownTraining) -> PartNumbers:
    """Return what the losses of both models are computed of."""
    seed = shown_seed(shown)
    both = named("training", call(start_future_training, seed), "random seed")
    records = named("records", call(list, both.updates()))
    drawn = each(records, lambda one: (one.done, one.values))
    last = named("moment", call(look_at_both, after(records, both)))
    about = {"seed": seed, "batches": len(shown.records)}
    return PartNumbers(texts.EXPORT_TITLES["why"], about, [drawn, last.written, last.writing_loss])
