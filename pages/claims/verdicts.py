"""Which claims hold: those of a model, drawn as bars by where they are made, and a row of each."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import get_args
from urllib.parse import parse_qsl

import streamlit as st

from pages import contents
from pages.claims import texts
from pages.ui.export.computation import call, each, load_call, named
from pages.ui.export.part import Part
from pages.ui.export.records import DataTable, PartNumbers, table_of
from pages.ui.shell import cache, controls
from pages.ui.shell.address import is_offered, read_stage_address, value_of, widget_key
from pages.ui.shell.fields import Field, StageFields, choice_field
from pages.ui.shell.frame import page_address
from pages.ui.shell.numbers import signed
from pages.ui.stage.background_runs import NO_RUN, OfferedRun, offer_run
from pages.ui.stage.charts import bars_drawing, listing_drawing
from pages.ui.stage.controls import Control
from pages.ui.stage.inputs import PageInputs
from pages.ui.stage.pictures import Picture
from pages.ui.stage.sources import source
from tx_core.classroom.claims import (
    EXAMPLE_CLAIMS,
    FEW_PROMPTS,
    LESSON_CLAIMS,
    LESSONS,
    Claim,
    ClaimCheck,
    Verdict,
    check_claims,
    stored_claims,
)
from tx_core.classroom.lesson_file import open_lesson
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine

PAGE = KIND = "claims"
MADE = {
    "all": texts.ANYWHERE,
    **{page: contents.page(page).name for page in EXAMPLE_CLAIMS},
    **{name: open_lesson(LESSONS / f"{name}.yaml").title for name in json.loads(LESSON_CLAIMS.read_text("utf-8"))},
}
"""Where claims are made: pages and lessons by name, with what is said of each."""
FIELDS = StageFields(
    own=(Field("model", catalogue.DEFAULT, controls.read_model),),
    looks=(choice_field("show", tuple(texts.SHOWS)), choice_field("made", tuple(MADE))),
)
CONTROLS = [
    Control("show", "segments", texts.SHOW, tuple(texts.SHOWS.items())),
    Control("made", "list", texts.MADE, tuple(MADE.items()), labelled=True),
]


def ask_claims() -> PageInputs:
    """Read the address, say what a claim is, offer the models, and return the one that is chosen."""
    read_stage_address(PAGE, FIELDS)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(texts.NOTICE)
        if is_offered("model"):
            with st.popover(controls.model_title(value_of(PAGE, "model")), key=widget_key(PAGE, "model_opened")):
                controls.model(widget_key(PAGE, "model"))
    return PageInputs(model=value_of(PAGE, "model"))


def find_claims(model: str, engine: Engine) -> tuple[Sequence[Claim], OfferedRun]:
    """Return the claims that were put to a model, and the visitor's run, where it is needed."""
    if stored := stored_claims(model):
        return stored, NO_RUN
    asked, start = cache.engine_key(engine), (texts.RUN, texts.RUN_HELP)
    run = offer_run(PAGE, KIND, asked, partial(ClaimCheck, engine), texts.PROGRESS, start)
    if run.last and run.last.work.finished:
        cache.get_or_compute((PAGE, run.last.asked), lambda: run.last.work.claims)
    if known := cache.get((PAGE, asked)):
        return known, NO_RUN
    stopped = run.last.work.claims if run.last and run.last.asked == asked else []
    if not run.running:
        st.caption(texts.STOPPED.format(count=len(stopped)) if stopped else texts.PRESS_RUN)
    return stopped, run


def claims_pictures(model: str, claims: Sequence[Claim]) -> list[Picture]:
    """Draw a bar of each page and lesson, and list all claims, or those that fail, with these first."""
    listed = sorted(claims, key=lambda claim: get_args(Verdict).index(claim.verdict))
    return [_bars(model, claims), *(_listing(show, listed) for show in texts.SHOWS)]


def _bars(model: str, claims: Sequence[Claim]) -> Picture:
    none = dict.fromkeys(get_args(Verdict), 0)
    counts = {name: none | Counter(claim.verdict for claim in claims if claim.made == name) for name in MADE}
    counts = {name: count for name, count in counts.items() if any(count.values())}
    asked = [count["holds"] + count["fails"] for count in counts.values()]
    shares = [count["holds"] / max(total, 1) for count, total in zip(counts.values(), asked, strict=True)]
    drawing = bars_drawing(texts.TITLE, [MADE[name] for name in counts], shares, limit=1.0)
    ends = zip(counts.values(), asked, strict=True)
    drawing = replace(drawing, columns=(texts.SHARE,))
    drawing.chart["ends"] = [texts.HOLD.format(asked=total, **count) if total else texts.NOT_ASKED for count, total in ends]
    verdicts = none | Counter(claim.verdict for claim in claims)
    said = texts.SAID.format(count=len(claims), model=controls.model_title(model), **verdicts)
    read = [texts.READ.format(**count) for count in counts.values()]
    return Picture(drawing, said, details=read, chooses="made", choices=list(counts))


def _listing(show: str, listed: Sequence[Claim]) -> Picture:
    """List the claims of a choice, wherever they are made or in one place."""
    shown = [claim for claim in listed if show in ("all", claim.verdict)]
    drawing, variants = listing_drawing(head=texts.COLUMNS), {}
    for name, said in MADE.items():
        rows = [[_verdict(claim), number] for number, claim in enumerate(shown) if name in ("all", claim.made)]
        chart = {"title": texts.LISTED[show].format(count=len(rows), made=said), "picks": rows}
        variants[name] = {"chart": chart, "sentence": "" if rows else texts.NONE[show]}
    drawing.chart.update(variants["all"]["chart"], entries=list(map(_entry, shown)), adds="")
    return Picture(drawing, when={"show": [show]}, row=1, varies="made", variants=variants)


def _verdict(claim: Claim) -> str:
    return texts.VERDICTS[claim.verdict].format(margin=_number(abs(claim.margin)))


def _entry(claim: Claim) -> list[str]:
    """Return the row of a claim behind its verdict, and the address that shows it."""
    says = texts.AT_HEAD.format(**claim._asdict()) if claim.where else claim.says
    claimed = "" if math.isinf(claim.least) and math.isinf(claim.most) else claim.claimed
    page, _, view = claim.link.partition("?")
    address = page_address(page, dict(parse_qsl(view))) if is_offered("links") else ""
    return [_number(claim.value), claimed, says, claim.text, MADE[claim.made], texts.SEE, address]


def _number(value: float) -> str:
    """Write a weight or a probability with three decimals, and a large number without any."""
    return "–" if math.isnan(value) else signed(value, 3) if abs(value) < 100 else f"{value:,.0f}"


def claims_part(inputs: PageInputs, engine: Engine) -> Part:
    """Return the claims that were put to a model, a row of each in the table, and the code that puts them."""
    claims, run = find_claims(inputs.model, engine)
    return replace(part_of_claims(inputs.model, claims), run=run)


def part_of_claims(model: str, claims: Sequence[Claim]) -> Part:
    """Return what is shown of some claims; without any, what a verdict says."""
    part = Part(prose=[texts.SHOWS_WHAT.format(prompts=FEW_PROMPTS)], sources=[check_claims])
    if not claims:
        return part
    asked = named("claims", call(check_claims, load_call(model)))
    title = texts.EXPORT_TITLE.format(model=controls.model_title(model))
    numbers = PartNumbers(title, source(model), [each(asked, lambda claim: claim.value)])
    return replace(part, pictures=claims_pictures(model, claims), numbers=numbers, table=lambda: _table(claims))


def _table(claims: Sequence[Claim]) -> DataTable:
    ends = [{"value": one.value, "least": one.least, "most": one.most, "margin": one.margin} for one in claims]
    finite = [{name: number if math.isfinite(number) else None for name, number in row.items()} for row in ends]
    return table_of([one._asdict() | {"verdict": one.verdict} | row for one, row in zip(claims, finite, strict=True)])
