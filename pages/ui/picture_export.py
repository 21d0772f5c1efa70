"""The map as a figure for a paper: previewed, and saved as SVG or PNG by the same drawing that the page runs on."""

from collections.abc import Callable
from functools import cache

import streamlit as st

from pages.ui.address import key
from pages.ui.attention_view import ASSETS, PICTURE, joined
from pages.ui.carried import Carried

MODULES = (*PICTURE, *(f"../picture/{name}.js" for name in ("svg_context", "legend", "three", "figure", "png", "panel")))
WIDTHS = {"mm": (40.0, 174.0, 400.0), "px": (200.0, 1200.0, 4000.0)}
"""The least, the usual and the greatest width. 174 mm is the width of a journal's page, 84 mm that of a column."""
COLOURS = {
    "Light": {"--st-background-color": "#ffffff", "--st-text-color": "#0f1720"},
    "Dark": {"--st-background-color": "#10151b", "--st-text-color": "#e8edf2"},
}


def picture(page: str, carried: Carried) -> None:
    """Let the reader choose a width, look at the figure, and save it."""
    sizes, colours, words = st.columns([4, 3, 3], vertical_alignment="bottom")
    with sizes, st.container(horizontal=True, vertical_alignment="bottom"):
        unit = st.segmented_control("Unit", list(WIDTHS), default="mm", required=True, key=key(page, "picture_unit"))
        least, usual, most = WIDTHS[unit]
        width = st.number_input(
            f"Width in {unit}", least, most, usual, step=1.0, format="%.0f", key=key(page, f"picture_width_{unit}"),
            help="A column of a journal is some 84 mm wide, its page 174 mm.",
        )  # fmt: skip
    with colours:
        ground = st.segmented_control(
            "Background", list(COLOURS), default="Light", required=True, key=key(page, "picture_ground")
        )
    with words:
        captioned = st.toggle("Caption below", value=True, key=key(page, "picture_captioned"))
    packed = carried.packed(
        width=min(max(float(width or usual), least), most), unit=unit, colours=COLOURS[ground], captioned=captioned,
        caption=carried.caption, title=carried.title, file=carried.file_name,
    )  # fmt: skip
    _component()(key=key(page, "picture"), data=packed)


@cache
def _component() -> Callable[..., object]:
    style = (ASSETS / "../picture/picture.css").read_text("utf-8")
    return st.components.v2.component(
        "attention_explorer_picture", html='<div class="picture-view"></div>', css=style, js=joined(MODULES)
    )
