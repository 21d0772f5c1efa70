"""How often each method ranks the word that tells A from B first, over many pairs: read in the background."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st

from pages.explanations import texts
from pages.explanations.inputs import PAGE, ExplanationInputs
from pages.ui.shell.address import widget_key
from pages.ui.shell.controls import model_title
from pages.ui.shell.numbers import whole_percent
from pages.ui.stage.background_runs import NO_RUN, OfferedRun, offer_run
from pages.ui.stage.charts import bars_drawing, listing_drawing, matrix_drawing
from pages.ui.stage.pictures import Picture, pictures_beside
from pages.ui.stage.tokens import escape_markdown
from tx_core.causal.deciding_words import (
    KINDS,
    TEMPLATES,
    PairReading,
    RankedPair,
    Share,
    chance_first,
    shares_first,
    stored_pairs,
)
from tx_core.causal.explain import READS_ATTENTION
from tx_core.engine.engine import Engine

KIND = "pairs"
READ_PAIRS = 60
"""Pairs that a model reads which has none stored: those of the embedded model take minutes, a BERT base's would take hours."""
TABLE_HEIGHT = 420
WIDEST_NAME = 160
"""Pixels of the name of a method beside the shares by template."""


class Recovery(NamedTuple):
    """Pairs that a model has read, and the reading of them.

    pairs, drawn: those that were kept, and how many were drawn; none and 0 where it has not read any. run: the visitor's
    reading; none is offered where the pairs are stored.
    """

    model: str
    pairs: Sequence[RankedPair]
    drawn: int
    run: OfferedRun


def find_recovery(inputs: ExplanationInputs, engine: Engine) -> Recovery:
    """Return the pairs of a model: those that are stored, or those of the visitor's reading."""
    if not inputs.bare and (stored := stored_pairs(inputs.model)):
        return Recovery(inputs.model, *stored, NO_RUN)
    start = texts.RUN.format(count=READ_PAIRS), texts.RUN_HELP
    asked = inputs.model, inputs.bare
    run = offer_run(PAGE, KIND, asked, partial(PairReading, engine, READ_PAIRS), texts.PROGRESS, start)
    if not run.last or run.last.asked != asked:
        return Recovery(inputs.model, (), 0, run)
    return Recovery(inputs.model, run.last.work.pairs, run.last.work.drawn, run)


def show_recovery(found: Recovery) -> None:
    """Show the table of all methods, with what it shows and what it does not; nothing while pairs are read."""
    if found.run.running:
        return
    if not found.pairs:
        said = texts.NONE_DECIDED if found.drawn else texts.NOT_READ
        st.caption(said.format(model=model_title(found.model), drawn=found.drawn))
        return
    shares = shares_first(found.pairs)
    names = [texts.METHODS[method] for method in shares]
    all_pairs = [row["all"] for row in shares.values()]
    bars = bars_drawing(texts.TABLE.format(count=len(found.pairs)), names, [one.share for one in all_pairs], limit=1.0)
    bars.chart["ends"] = list(map(_in_words, all_pairs))
    columns = [name for name in (*KINDS, "alone") if all(row[name].pairs for row in shares.values())]
    head = [texts.METHOD, *(texts.COLUMNS[name].format(count=next(iter(shares.values()))[name].pairs) for name in columns)]
    rows = [
        [name, *(_by_template(row[column], column) for column in columns)]
        for name, row in zip(names, shares.values(), strict=True)
    ]
    numbers = np.array([[row[column].share for column in columns] for row in shares.values()])
    listing = listing_drawing(texts.BY_KIND, head, rows, numbers)
    about = {"kept": len(found.pairs), "drawn": found.drawn, "model": model_title(found.model)}
    about["templates"] = len({pair.template for pair in found.pairs})
    said = texts.TABLE_NOTE.format(**about, chance=whole_percent(chance_first(found.pairs)))
    pictures_beside(PAGE, "recovery", [Picture(bars, said, share=2), Picture(listing, share=3)], TABLE_HEIGHT)
    _show_templates(found.pairs, {name: row["all"] for name, row in shares.items()})
    if found.run is NO_RUN:
        for paragraph in texts.FOUND:
            st.markdown(paragraph.format(chance=whole_percent(chance_first(found.pairs)), **_summary(shares)))


def _show_templates(pairs: Sequence[RankedPair], shares: Mapping[str, Share]) -> None:
    """Show each method's share in each template that has pairs, with their number; folded away until it is opened."""
    folded = st.expander(texts.TEMPLATES_TITLE, icon=":material/grid_on:", key=widget_key(PAGE, "templates"), on_change="rerun")
    if not folded.open:
        return
    counts = Counter(pair.template for pair in pairs)
    places = sorted(counts, key=lambda place: (list(KINDS).index(TEMPLATES[place].kind), place))
    numbers = np.array([[one.templates[place] for place in places] for one in shares.values()])
    names, columns = [texts.METHODS[name] for name in shares], [f"{place + 1}" for place in places]
    cells = [
        texts.OF_TEMPLATE.format(share=whole_percent(number), count=counts[place])
        for row in numbers
        for place, number in zip(places, row, strict=True)
    ]
    drawing = matrix_drawing(texts.BY_TEMPLATE, "weights", numbers, names, columns, axes=texts.TEMPLATE_AXES)
    drawing.chart["widestRow"] = WIDEST_NAME
    with folded:
        pictures_beside(PAGE, "by_template", [Picture(drawing, cell=texts.TEMPLATE_CELL, details=cells)], TABLE_HEIGHT)
        lines = [(texts.COLUMNS[TEMPLATES[place].kind], place) for place in places]
        for title in dict.fromkeys(title for title, _ in lines):
            own = [place for one, place in lines if one == title]
            said = "  \n".join(
                texts.TEMPLATE.format(number=place + 1, text=escape_markdown(_blanked(place)), count=counts[place])
                for place in own
            )
            st.markdown(f"**{title.format(count=sum(counts[place] for place in own))}**  \n{said}")


def _blanked(place: int) -> str:
    """Write a template with the word that tells A from B as “…”, and what is drawn beside it in brackets."""
    return TEMPLATES[place].text.replace("{0}", "…").replace("{", "(").replace("}", ")")


def _summary(shares: Mapping[str, Mapping[str, Share]]) -> dict[str, str]:
    """Return the shares that are named in words."""
    reading = [row["all"].share for name, row in shares.items() if name in READS_ATTENTION]
    others = [row["all"].share for name, row in shares.items() if name not in READS_ATTENTION]
    ends = {"least": min(reading), "most": max(reading), "low": min(others), "high": max(others)}
    asked = {name: shares[name]["all"].share for name in ("integrated", "erasure")}
    alone = {f"{name}_alone": shares[name]["alone"].share for name in asked}
    best = {name: shares[name]["all"].share for name in ("last_layer", "rollout")}
    agreeing = {f"{name}_number": shares[name]["number"].share for name in best}
    spread = [one for name, row in shares.items() if name not in READS_ATTENTION for one in row["all"].templates.values()]
    named = ends | asked | alone | best | agreeing | {"least_template": min(spread), "most_template": max(spread)}
    return {name: whole_percent(share) for name, share in named.items()}


def explain_methods() -> None:
    """Explain what each method does, right below the picture that names them."""
    with st.expander(texts.MEANINGS_TITLE, icon=":material/help:"):
        st.markdown("\n".join(f"- **{texts.METHODS[name]}**: {meaning}" for name, meaning in texts.MEANINGS.items()))


def _by_template(share: Share, column: str) -> str:
    """Write a share with the least and the most of any template; of an answer alone, which has no word to find, the share."""
    if column == "alone":
        return whole_percent(share.share)
    ends = share.templates.values()
    return f"{whole_percent(share.share)} ({100 * min(ends):.0f}–{100 * max(ends):.0f})"


def _in_words(share: Share) -> str:
    return f"{whole_percent(share.share)} ({100 * share.low:.0f}–{100 * share.high:.0f})"
