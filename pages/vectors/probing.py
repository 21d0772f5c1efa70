"""Probes: trained in the background, their scores as lines over the layers, a table, and the code that trains them."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.ui.export.computation import call, engine_call, named, sentences_call
from pages.ui.export.menu import export_menu, offer_tables
from pages.ui.export.records import DataTable, Export, PartNumbers, table_export, table_of
from pages.ui.shell.controls import model_title
from pages.ui.shell.frame import explain_computation
from pages.ui.shell.numbers import signed, whole_percent
from pages.ui.stage.background_runs import OfferedRun, offer_run
from pages.ui.stage.charts import lines_drawing
from pages.ui.stage.controls import Control
from pages.ui.stage.pictures import About, Picture
from pages.vectors import texts
from pages.vectors.inputs import PAGE, VectorInputs
from pages.vectors.points import about, name_texts
from tx_core.corpus.sentence_file import Sentences
from tx_core.corpus.vectors import ProbeScores, Probing, probe
from tx_core.engine.engine import Engine
from tx_core.errors import TextProblem

KIND = "probe"
LABEL_CONTROL = Control("label", "list", texts.LABEL, tuple(texts.LABELS.items()), labelled=True)


@dataclass(frozen=True)
class Probes:
    """What the page shows: the scores of the visitor's last probes, None without any, of what was asked; and the run."""

    scores: ProbeScores | None
    asked: VectorInputs
    run: OfferedRun


def find_probes(inputs: VectorInputs, engine: Engine) -> Probes:
    """Return the scores of the visitor's last probes, and say of what they are where something else is asked."""
    if not isinstance(inputs.sentences, Sentences):
        raise TextProblem(texts.PROBE_TYPED)
    make, start = partial(Probing, engine, inputs.sentences, inputs.label), (texts.RUN, texts.RUN_HELP)
    probed = replace(inputs, text="", text_b="")
    run = offer_run(PAGE, KIND, probed, make, texts.PROGRESS, start)
    scores = run.last.work.result() if run.last else None
    if scores is None:
        if not run.running:
            st.caption(texts.PRESS_RUN)
        return Probes(None, inputs, run)
    asked = run.last.asked
    if asked != probed:
        named_texts = {"source": name_texts(asked), "model": model_title(asked.model)}
        st.text(texts.LAST_RUN.format(label=texts.LABELS[asked.label], **named_texts))
    return Probes(scores, asked, run)


def probe_about(found: Probes) -> About:
    """Return what the picture is of."""
    asked = found.asked
    title = texts.PROBE_EXPORT_TITLE.format(
        model=model_title(asked.model), label=texts.LABELS[asked.label], source=name_texts(asked)
    )
    return About(title, about(asked))


def probe_pictures(found: Probes) -> list[Picture]:
    """Draw accuracy, control task and selectivity over the layers; nothing without scores."""
    scores = found.scores
    if scores is None:
        return []
    title = texts.PROBE_TITLE.format(label=texts.LABELS[found.asked.label])
    series = {texts.LINES[name]: getattr(scores, name).tolist() for name in texts.LINES}
    steps = [str(layer) for layer in range(len(scores.accuracy))]
    ends = scores.intervals(scores.correct)
    low, high = ends.tolist()
    least = min(0.0, *scores.selectivity.tolist())
    lines = lines_drawing(title, steps, series, limits=(least, 1.0), band=(low, high), note=texts.BAND)
    return [Picture(lines, describe_probes(found, ends), cell=texts.PROBE_STEP)]


def describe_probes(found: Probes, ends: Float[np.ndarray, "end layer"]) -> str:
    """Return where the probe is right most often, beside its baselines. ends: of the interval of the accuracy."""
    scores = found.scores
    best, selective = int(scores.accuracy.argmax()), int(scores.selectivity.argmax())
    low, high = ends[:, best]
    return texts.PROBE_SAID.format(
        label=texts.LABELS[found.asked.label],
        words=len(scores.sentence),
        best=whole_percent(float(scores.accuracy[best])),
        layer=best,
        low=whole_percent(float(low)),
        high=whole_percent(float(high)),
        first=whole_percent(float(scores.accuracy[0])),
        majority=whole_percent(scores.majority),
        from_=signed(float(scores.selectivity[0])),
        to=signed(float(scores.selectivity[selective])),
        selective=selective,
    )


def explain_probes(found: Probes) -> None:
    """Show what stands below the stage: what a probe shows, all numbers, and the export."""
    st.markdown(texts.PROBE_SHOWS)
    explain_computation(sources=[probe])
    if found.scores:
        offer_tables(PAGE, lambda: [_table(found)], texts.PROBE_TABLE)
        export_menu(PAGE, {texts.PROBE_EXPORT: lambda: probe_export(found)})


def _table(found: Probes) -> DataTable:
    return table_of(found.scores.rows(), texts.PROBE_NOTE.format(seen=whole_percent(found.scores.seen)))


def probe_export(found: Probes) -> Export:
    """Return the export of the scores, and the code that trains the probes again."""
    described, asked = probe_about(found), found.asked
    trained = call(probe, engine_call(asked), sentences_call(asked.sentences), asked.label)
    scores = named("scores", trained)
    shown = [scores.accuracy.round(3), scores.control.round(3)]
    return table_export(PartNumbers(described.title, described.source, shown), _table(found))
