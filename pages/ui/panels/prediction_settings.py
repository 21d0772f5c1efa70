"""How the lists of predictions are shown: how long, how sharp, and where the bars end. Nothing here changes the model."""

from dataclasses import dataclass

import streamlit as st

from pages.ui.shell.address import Field, choice_field, number_field, widget_key

MAX_PREDICTIONS_LISTED = 30
TEMPERATURES = ("1", "0.25", "0.5", "0.75", "1.5", "2", "3")
TOP_SHARES = ("1", "0.95", "0.9", "0.75", "0.5", "0.25")
LIMITS = {"100": "100 %", "50": "50 %", "20": "20 %", "5": "5 %"}
FIELDS: tuple[Field, ...] = (
    number_field("listed", 8, 1, MAX_PREDICTIONS_LISTED),
    choice_field("limit", tuple(LIMITS)),
    choice_field("temperature", TEMPERATURES),
    choice_field("top_p", TOP_SHARES),
)


@dataclass(frozen=True)
class Settings:
    """The reader's choice; limit is the share at which every bar ends."""

    listed: int
    temperature: float
    top_p: float
    limit: float


def settings(page: str) -> Settings:
    """Read the choice from the page's session."""
    held = {field.name: st.session_state[widget_key(page, field.name)] for field in FIELDS}
    return Settings(held["listed"], float(held["temperature"]), float(held["top_p"]), int(held["limit"]) / 100)


def ask_settings(page: str) -> None:
    """Let the reader choose, in a popover."""
    for field in FIELDS:  # a popover draws its widgets when it opens, and knows only what the latest run told them
        st.session_state[widget_key(page, field.name)] = st.session_state[widget_key(page, field.name)]
    with st.popover("Options", icon=":material/tune:"):
        st.slider("Words in each list", 1, MAX_PREDICTIONS_LISTED, key=widget_key(page, "listed"))
        st.segmented_control(
            "Bars end at",
            list(LIMITS),
            key=widget_key(page, "limit"),
            format_func=LIMITS.get,
            required=True,
            help="The same for all charts, so that they can be compared. A longer bar is torn off there, its number is true.",
        )
        st.select_slider(
            "Temperature",
            sorted(TEMPERATURES, key=float),
            key=widget_key(page, "temperature"),
            help="The model's scores are divided by this before they become probabilities: above 1 flattens the lists, "
            "below 1 sharpens them. At 1 they are the model's own.",
        )
        st.select_slider(
            "Keep the top share (top-p)",
            sorted(TOP_SHARES, key=float),
            key=widget_key(page, "top_p"),
            help="Only the fewest words that reach this share together are kept, and they divide 100 % among themselves. "
            "At 1 nothing is left out.",
        )
        st.caption("Temperature and top-p change the lists only, not the words that you name and not the joint fillings.")


def unusual(chosen: Settings) -> str:
    """Say what makes the lists other than the model's own, without a full stop; or nothing."""
    notes = [
        f"temperature {chosen.temperature:g}" if chosen.temperature != 1 else "",
        f"only the top {chosen.top_p:.0%}" if chosen.top_p != 1 else "",
    ]
    told = " and ".join(note for note in notes if note)
    return f"The lists are not the model's own probabilities: {told}" if told else ""
