"""The wall of heads over many sentences: what kind each is and how surely, or how widely and how far it looks."""

from typing import TYPE_CHECKING

import streamlit as st

from pages.ui import head_kinds
from pages.ui.address import held, key
from pages.ui.attention_view import Head
from pages.ui.controls import head_name
from pages.ui.head_table import HeadCell, LegendEntry, chosen_head, head_table

if TYPE_CHECKING:  # the core imports torch: the title is painted without it
    from tx_core.head_statistics import HeadReport

COLOURS = {"pattern": "Kind of head", "agreement": "In how many sentences", "spread": "How widely it looks",
           "distance": "How far it looks"}  # fmt: skip


def wall(page: str, report: "HeadReport", chosen: Head) -> tuple[str, list[list[HeadCell]], list[LegendEntry], Head]:
    """Show all heads; a click chooses one. Give what is shown: by what it is coloured, in words, cells, legend, choice."""
    st.segmented_control("Colour by", list(COLOURS), format_func=COLOURS.get, required=True, **held(key(page, "colour")))
    colour, name = st.session_state[key(page, "colour")], key(page, "wall")
    layers, heads = report.entropy.shape

    def take() -> None:
        if (head := chosen_head(name, layers, heads)) is not None:
            st.session_state[key(page, "heads")] = [head]

    cells, legend = _by_kind(report) if colour in ("pattern", "agreement") else _by_number(report, colour)
    if colour == "agreement":
        cells = _by_agreement(report)
    rows = [cells[start : start + heads] for start in range(0, len(cells), heads)]
    head_table(rows, legend, chosen, label=f"{COLOURS[colour]}: a row for each layer, a column for each head", key=name,
               on_choose=take)  # fmt: skip
    return COLOURS[colour], rows, legend, chosen


def _by_kind(report: "HeadReport") -> tuple[list[HeadCell], list[LegendEntry]]:
    looks = head_kinds.looks(report.example)
    cells = [
        HeadCell(look.word, look.letter, f"{head.confidence:.2f}", look.colour, head.confidence,
                 f"{head_name((head.layer, head.head))}: {look.word}, confidence {head.confidence:.2f}, "
                 f"in {head.agreement:.0%} of the sentences")
        for head in report.patterns
        for look in [looks[head.kind]]
    ]  # fmt: skip
    kinds = [kind for kind in looks if any(head.kind == kind for head in report.patterns)]
    return cells, [LegendEntry(looks[kind].aim, looks[kind].letter, looks[kind].colour) for kind in kinds]


def _by_agreement(report: "HeadReport") -> list[HeadCell]:
    """The same words and hues; depth of colour and the number tell in what part of the sentences the word is right."""
    looks = head_kinds.looks(report.example)
    return [
        HeadCell(look.word, look.letter, f"{head.agreement:.0%}", look.colour, head.agreement,
                 f"{head_name((head.layer, head.head))}: {look.word} in {head.agreement:.0%} of the sentences")
        for head in report.patterns
        for look in [looks[head.kind]]
    ]  # fmt: skip


def _by_number(report: "HeadReport", colour: str) -> tuple[list[HeadCell], list[LegendEntry]]:
    spread = colour == "spread"
    numbers = report.spread if spread else report.distance
    most = 1.0 if spread else max(float(numbers.max()), 1e-9)
    unit, digits = ("of the widest look", 2) if spread else ("tokens", 1)
    cells = [
        HeadCell(f"{number:.{digits}f}", f"{number:.1f}", "", head_kinds.ONE_COLOUR, number / most,
                 f"{head_name((head.layer, head.head))}: {number:.{digits}f} {unit}")
        for head, number in zip(report.patterns, numbers.ravel().tolist(), strict=True)
    ]  # fmt: skip
    if spread:
        ends = "each token looks at one other", "at all alike"
    else:
        ends = "each token looks at itself", f"{most:.1f} tokens away"
    return cells, [LegendEntry(ends[0], "", head_kinds.ONE_COLOUR, 0.0), LegendEntry(ends[1], "", head_kinds.ONE_COLOUR)]
