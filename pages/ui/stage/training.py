"""The stage of a model that is trained on its page: the map of a head at any moment of its training, its curves, its buttons.

While a training runs in the background, the browser asks once a second by a report: no part of the page has a clock of its own.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log10
from typing import Any

import streamlit as st

from pages.ui.shell.address import is_offered, widget_key
from pages.ui.shell.fields import Field, StageFields, choice_field, number_field
from pages.ui.shell.frame import explain
from pages.ui.stage import background_runs, texts, view_options
from pages.ui.stage.attention import NO_CHANGES
from pages.ui.stage.charts import Drawing, lines_drawing
from pages.ui.stage.mount import Reported, mount
from pages.ui.stage.packing import pack_moments
from tx_core.analysis.packing import join
from tx_core.engine.progress import Progress
from tx_core.errors import TextProblem
from tx_core.settings import app_version
from tx_core.training.background import Snapshot, Trainable
from tx_core.transformer.interventions import Head
from tx_core.transformer.trace import Trace

STEPS = 40
"""Points of a curve, at most."""
LEAST_LOSS = 1e-4
"""The axis of a loss does not go below it."""
ABSENT = ("changes", "words", "hide")
"""Parts of a stage of attention that such a model does not have: no changes, no word pieces, no special tokens."""

Curves = Mapping[str, Sequence[tuple[int, float]]]
"""Lines of a chart: (batch, value) pairs by name."""


@dataclass(frozen=True)
class Trainer:
    """What a page trains.

    make: returns a new training with the settings of the page. choose: writes the settings of a training into the controls of
    the page. kept: what a visitor should know of a trained model before leaving it.
    """

    page: str
    kind: str
    fields: StageFields
    make: Callable[[], Trainable]
    choose: Callable[[Any], None]
    kept: str


@dataclass(frozen=True)
class ShownTraining:
    """The training that a page shows.

    model: the training whose model answers; None while one computes, and for one that is too large to be made untrained. records:
    empty for an untrained model. own: the visitor's training of this kind, whether it is shown or not. is_stored: whether it is
    the one that ships. fixed: what is said of a model that is not trained here; "" of any other.
    """

    model: Any
    records: Sequence[Progress]
    own: Snapshot | None
    is_stored: bool = False
    fixed: str = ""

    @property
    def is_running(self) -> bool:
        """Whether the visitor's training computes, or waits for its turn to."""
        return bool(self.own and self.own.running)

    @property
    def is_own(self) -> bool:
        """Whether the visitor trained it."""
        return self.is_running or bool(self.own and self.own.result is not None and self.own.result is self.model)


@dataclass(frozen=True)
class Moment:
    """What a model in training makes of an input after `batch` batches, in words, as attention, and drawn beside the map."""

    batch: int
    title: str
    said: str
    trace: Trace
    drawn: Mapping[str, object]


def shown_training(
    trainer: Trainer, is_chosen: Callable[[Any], bool], make: Callable[[], Any], stored: Any = None
) -> ShownTraining:
    """Return the visitor's training while it computes, and where it is what is chosen; else one that ships, or a new one.

    is_chosen: whether a training has the settings on the page. make: returns an untrained one with them, or None. stored: a
    training that ships, with its records.
    """
    own = background_runs.current_run(trainer.kind)
    if own and own.running:
        return ShownTraining(None, own.records, own)
    if own and own.result and is_chosen(own.result):
        return ShownTraining(own.result, own.records, own)
    if stored and is_chosen(stored.training):
        return ShownTraining(stored.training, stored.records, own, is_stored=True)
    return ShownTraining(make(), (), own)


def kept_untrained(page: str, is_same: Callable[[Any], bool], make: Callable[[], Any]) -> Any:
    """Return an untrained model; the session keeps one, which `is_same` may find to be it."""
    name = widget_key(page, "untrained")
    kept = st.session_state.get(name)
    if kept is None or not is_same(kept):
        kept = st.session_state[name] = make()
    return kept


def answers_at_moments(shown: ShownTraining, untrained: Callable[[Any], Any], ask: Callable[[Any], Any]) -> dict[int, Any]:
    """Return what a model makes of the input on the page at each moment that is shown, by how many batches it was trained on.

    Between the first and the last it is the input that was on the page when the training began, alone where the one on the page
    cannot be read.

    untrained: returns the untrained model of a training, or of the page where it is given None; None for one that is not made.
    ask: returns what a model makes of the input; raises TextProblem.
    """
    kept = {one.done: one.probe for one in shown.records if one.probe}
    try:
        model = shown.model if shown.model or kept else untrained(None)  # the last of a training that has only begun
        if model is None:
            return kept
        first = {0: ask(untrained(model))} if model.done else {}
        return first | {batch: one for batch, one in kept.items() if batch < model.done} | {model.done: ask(model)}
    except TextProblem as problem:
        explain(problem)
        return kept if shown.is_running else {}  # an answer to another input would look like one to this


def look_fields(kinds: Sequence[str], heads: Sequence[Head], most: Head) -> tuple[Field, ...]:
    """Describe how a reader looks at a trained model: links call a stack a kind, and the heads a head.

    heads: shown first; none where the page chooses them. most: layers and heads of the largest model.
    """
    usual = {field.name: field for field in view_options.view_fields(heads)}

    def read(written: str) -> list[Head]:
        found = view_options.read_heads(written)
        if any(layer >= most[0] or head >= most[1] for layer, head in found):
            raise ValueError(f"a head must be one of {most[0]} layers with {most[1]} heads")
        return found

    head = Field("head", list(heads), read, usual["heads"].write)
    return (choice_field("kind", kinds), head, usual["show"], usual["lines"], usual["scale"], usual["focus"], MOMENT_FIELD)


LOOK_NAMES = {"kind": "stack", "head": "heads"}


MOMENT_FIELD = Field(
    "moment", None, number_field("moment", 0, 0, 999_999).read, lambda batch: "" if batch is None else str(batch)
)
"""The batch at which a model is shown; without one, the last."""


def training_stage(
    trainer: Trainer, shown: ShownTraining, moments: Sequence[Moment], curves: Sequence[Drawing], about: Mapping[str, object]
) -> None:
    """Draw the stage of a model that is trained on its page. about: title of the model, text and stem."""
    told = [
        ({"batch": one.batch, "title": one.title, "said": one.said, "drawn": one.drawn, "model": _model(about, one)}, one.trace)
        for one in moments
    ]

    def pack(header: Mapping[str, object]) -> bytes:
        header = {**_common(trainer, header), "training": training_header(trainer, shown, curves), **about, "model": ""}
        return pack_moments(header, told)

    mount(trainer.page, trainer.fields, pack, lambda reported: take_wish(trainer, reported))


def empty_training_stage(trainer: Trainer, shown: ShownTraining | None = None, curves: Sequence[Drawing] = ()) -> None:
    """Draw a stage without a picture: it still writes the address. shown: a training that can be started."""

    def pack(header: Mapping[str, object]) -> bytes:
        told = training_header(trainer, shown, curves) if shown else None
        return join({**_common(trainer, header), "run": None, "stacks": [], "training": told}, [])

    take = functools.partial(take_wish, trainer)
    mount(trainer.page, trainer.fields, pack, take, is_empty=shown is None)


def _model(about: Mapping[str, object], moment: Moment) -> str:
    return f"{about['model']}, {moment.title[0].lower()}{moment.title[1:]}"


def _common(trainer: Trainer, header: Mapping[str, object]) -> dict[str, object]:
    """Return what a stage of attention is told where there is nothing to say."""
    hidden = [name for name in header["hidden"] if name != "heads"]  # of the sizes; the look is called head
    return {
        **header,
        "hidden": [*hidden, *ABSENT, *([] if is_offered(widget_key(trainer.page, "head")) else ["heads"])],
        "pair": "",
        "bare": False,
        "origin": f"{texts.APP} {app_version()};",
        "before": None,
        **NO_CHANGES,
    }


def training_header(trainer: Trainer, shown: ShownTraining, curves: Sequence[Drawing] = ()) -> dict[str, object]:
    """Return what the stage is told of a training: its buttons, its progress, its curves."""
    own, problem = shown.own, st.session_state.get(widget_key(trainer.page, "refused"))
    is_other = bool(own and own.records and own.result is not None and not shown.is_own)
    return {
        **background_runs.run_header(own, [] if shown.fixed else [("train", texts.TRAIN, "")], _progress(trainer, shown)),
        **({"problem": str(problem)} if problem else {}),
        "other": texts.OTHER_MODEL if is_other else "",
        "curves": [curve.chart for curve in curves],
    }


def _progress(trainer: Trainer, shown: ShownTraining) -> str:
    """Return how far the training is, or what the model that is shown was trained on."""
    own = shown.own
    if shown.fixed:
        return shown.fixed
    if shown.model is None and not shown.is_running:
        return texts.NO_MODEL
    if not shown.is_own:
        return texts.STORED_MODEL if shown.is_stored else texts.UNTRAINED_MODEL
    said = background_runs.run_in_words(own, texts.TRAINING_PROGRESS, texts.STARTING if own.running else texts.UNTRAINED_MODEL)
    return said if own.running or not own.records else f"{said}. {trainer.kept}"


def take_wish(trainer: Trainer, reported: Reported) -> None:
    """Do what a reader asked of a training; the question of how far it is asks nothing more."""
    run, wish = background_runs.current_run(trainer.kind), reported.get("training")
    if wish == "train":
        background_runs.attempt(trainer.page, background_runs.start_or_queue, trainer.kind, trainer.make)
    elif wish == "stop":
        background_runs.stop(trainer.kind)
    elif wish == "show" and run and run.result is not None:
        trainer.choose(run.result)


def curve(
    title: str,
    series: Curves,
    batches: int,
    *,
    logarithmic: bool = False,
    every: int = 0,
    limits: tuple[float, float] = (0.0, 1.02),
) -> Drawing:
    """Draw a chart of a training: each line the mean since the point before, or the value measured last.

    batches: of the whole training, where the axis ends. every: so many batches there is a point. limits: of an axis that is not
    logarithmic. Points where nothing was measured are None.
    """
    every = every or -(-batches // STEPS)
    ends = [*range(every, batches, every), batches]
    done = max((batch for pairs in series.values() for batch, _ in pairs), default=0)
    found = {name: _at(ends, pairs, done) for name, pairs in series.items() if pairs}
    values = [value for one in found.values() for value in one if value is not None]
    if logarithmic:
        low, high = (log10(max(LEAST_LOSS, edge(values, default=1.0))) for edge in (min, max))
        limits = (low - 0.1, high + 0.1)
    return lines_drawing(title, [str(end) for end in ends], found, limits=limits, logarithmic=logarithmic)


def training_charts(records: Sequence[Progress], losses: Curves, shares: Curves, titles: tuple[str, str]) -> list[Drawing]:
    """Draw the losses of a training, and the shares of what is right; none before it has begun."""
    if not records:
        return []
    batches = records[0].total
    return [curve(titles[0], losses, batches, logarithmic=True), curve(titles[1], shares, batches)]


def _at(ends: Sequence[int], pairs: Sequence[tuple[int, float]], done: int) -> list[float | None]:
    """Return a value for each of some batches: the mean of those since the one before, else the last; None after `done`."""
    found: list[float | None] = []
    start = 0
    for end in ends:
        within = [value for batch, value in pairs if start < batch <= end]
        last = found[-1] if found and end <= done else None
        found.append(sum(within) / len(within) if within else last)
        start = end
    return found


def curves_of(records: Sequence[Progress], labels: Mapping[str, str]) -> Curves:
    """Return what was measured of each batch as lines. labels: what each is called, by its name in the records."""
    return {label: [(one.done, one.values[name]) for one in records] for name, label in labels.items()}


def curve_drawings(series: Curves, *, logarithmic: bool = False) -> list[Drawing]:
    """Return each line as a chart of its own for export: its batches may be others than those of the next."""
    drawn = []
    for name, pairs in series.items():
        batches, values = [f"{batch:g}" for batch, _ in pairs], [value for _, value in pairs]
        if pairs:
            drawn.append(lines_drawing(name, batches, {name: values}, logarithmic=logarithmic))
    return drawn


def moment_title(batch: int, batches: int, probe: str = "") -> str:
    """Return in words how far a model is trained. probe: the input of its records, where it is not the one on the page."""
    if not batch:
        return texts.UNTRAINED_MOMENT
    return (texts.MOMENT_ON_PROBE if probe else texts.MOMENT).format(batch=batch, batches=batches, probe=probe)
