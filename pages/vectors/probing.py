"""Probes: trained in the background, their scores as lines over the layers, a table, and the code that trains them."""

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.ui.export.computation import call, engine_call, named, sentences_call
from pages.ui.export.part import Part
from pages.ui.export.records import PartNumbers, table_of
from pages.ui.shell.controls import model_title
from pages.ui.shell.numbers import signed, whole_percent
from pages.ui.stage.background_runs import offer_run
from pages.ui.stage.charts import lines_drawing
from pages.ui.stage.controls import Control
from pages.ui.stage.pictures import Picture
from pages.vectors import texts
from pages.vectors.inputs import LIMITS, PAGE, PART_CONTROL, VectorInputs
from pages.vectors.points import about, name_texts
from tx_core.corpus.sentence_file import Sentences
from tx_core.corpus.vectors import ProbeScores, Probing, probe
from tx_core.engine.engine import Engine
from tx_core.errors import TextProblem

KIND = "probe"
MOST_CONTROL = Control(
    "most", "list", texts.MOST, tuple((str(most), f"{most:,}") for most in LIMITS), texts.MOST_HELP, labelled=True
)
LABEL_CONTROL = Control("label", "list", texts.LABEL, tuple(texts.LABELS.items()), labelled=True)


def probe_part(inputs: VectorInputs, engine: Engine) -> Part:
    """Return the scores of the visitor's last probes, with what they are of where something else is asked; and the run.

    Raises TextProblem for typed texts, which are not annotated.
    """
    if not isinstance(inputs.sentences, Sentences):
        raise TextProblem(texts.PROBE_TYPED)
    make, start = partial(Probing, engine, inputs.sentences, inputs.label, inputs.most), (texts.RUN, texts.RUN_HELP)
    probed = replace(inputs, text="", text_b="")
    run = offer_run(PAGE, KIND, probed, make, texts.PROGRESS, start)
    part = Part(prose=[texts.PROBE_SHOWS], sources=[probe], controls=[PART_CONTROL, LABEL_CONTROL, MOST_CONTROL], run=run)
    scores = run.last.work.result() if run.last else None
    if scores is None:
        if not run.running:
            st.caption(texts.PRESS_RUN)
        return part
    asked = run.last.asked
    of = {"label": texts.LABELS[asked.label], "source": name_texts(asked, scores.read), "model": model_title(asked.model)}
    if asked != probed:
        st.text(texts.LAST_RUN.format(**of, most=asked.most))
    trained = named("scores", call(probe, engine_call(asked), sentences_call(asked.sentences), asked.label, asked.most))
    shown = [trained.accuracy.round(3), trained.control.round(3)]
    return replace(
        part,
        pictures=[probe_picture(scores, of["label"])],
        prose=[*([_what_was_read(asked, scores)] if scores.read < len(asked.sentences) else []), *part.prose],
        numbers=PartNumbers(texts.PROBE_EXPORT_TITLE.format(**of), about(asked, scores.read), shown),
        table=lambda: table_of(scores.rows(), texts.PROBE_NOTE.format(seen=whole_percent(scores.seen))),
    )


def _what_was_read(asked: VectorInputs, scores: ProbeScores) -> str:
    return texts.PROBE_READ.format(read=scores.read, count=len(asked.sentences), most=asked.most)


def probe_picture(scores: ProbeScores, label: str) -> Picture:
    """Draw accuracy, control task and selectivity over the layers."""
    series = {texts.LINES[name]: getattr(scores, name).tolist() for name in texts.LINES}
    steps, ends = [str(layer) for layer in range(len(scores.accuracy))], scores.intervals(scores.correct)
    look = {"limits": (min(0.0, *scores.selectivity.tolist()), 1.0), "band": tuple(ends.tolist()), "note": texts.BAND}
    lines = lines_drawing(texts.PROBE_TITLE.format(label=label), steps, series, **look)
    return Picture(lines, describe_probes(scores, label, ends), cell=texts.PROBE_STEP)


def describe_probes(scores: ProbeScores, label: str, ends: Float[np.ndarray, "end layer"]) -> str:
    """Return where the probe is right most often, beside its baselines. ends: of the interval of the accuracy."""
    best, selective = int(scores.accuracy.argmax()), int(scores.selectivity.argmax())
    low, high = ends[:, best]
    return texts.PROBE_SAID.format(
        label=label,
        words=len(scores.sentence),
        read=scores.read,
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
