"""A view as a figure for a paper: previewed, and saved as SVG or PNG by the same drawing that the page runs on."""

import streamlit as st

from pages.ui.canvas.component import component
from pages.ui.export.exhibit import Exhibit
from pages.ui.shell.address import widget_key

MODULE, STYLE = "figure/panel.js", "figure/figure.css"
STILL = "figure/still.js"
"""Draws any view without reacting to its reader."""
WIDTHS = {"mm": (40.0, 174.0, 400.0), "px": (200.0, 1200.0, 4000.0)}
"""The least, the usual and the greatest width. 174 mm is the width of a journal's page, 84 mm that of a column."""
COLOURS = {
    "Light": {"--st-background-color": "#ffffff", "--st-text-color": "#0f1720"},
    "Dark": {"--st-background-color": "#10151b", "--st-text-color": "#e8edf2"},
}


def picture(page: str, exhibit: Exhibit) -> None:
    """Let the reader choose a width, look at the figure, and save it."""
    sizes, colours, words = st.columns([4, 3, 3], vertical_alignment="bottom")
    with sizes, st.container(horizontal=True, vertical_alignment="bottom"):
        unit = st.segmented_control("Unit", list(WIDTHS), default="mm", required=True, key=widget_key(page, "picture_unit"))
        least, usual, most = WIDTHS[unit]
        width = st.number_input(
            f"Width in {unit}",
            least,
            most,
            usual,
            step=1.0,
            format="%.0f",
            key=widget_key(page, f"picture_width_{unit}"),
            help="A column of a journal is some 84 mm wide, its page 174 mm.",
        )
    with colours:
        ground = st.segmented_control(
            "Background", list(COLOURS), default="Light", required=True, key=widget_key(page, "picture_ground")
        )
    with words:
        captioned = st.toggle("Caption below", value=True, key=widget_key(page, "picture_captioned"))
    packed = exhibit.picture(
        width=min(max(float(width or usual), least), most),
        unit=unit,
        colours=COLOURS[ground],
        captioned=captioned,
        caption=exhibit.caption,
        title=exhibit.title,
        file=exhibit.file_name,
    )
    component("picture", "picture-view", MODULE, STYLE)(key=widget_key(page, "picture"), data=packed)
