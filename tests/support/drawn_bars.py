"""What a page's charts of bars were sent, and what they say."""

import json

from streamlit.testing.v1 import AppTest


def drawn_bars(app: AppTest) -> list[dict]:
    """Every chart of bars from the first to the last, as its component was sent it."""
    return [json.loads(one.proto.json)[0] for one in app.get("bidi_component") if one.proto.component_name.endswith("_bars")]


def bars_told(app: AppTest) -> dict[str, list[str]]:
    """The charts of bars by title, each as what stands at its bars: "went 74.88 %, came 6.79 %"."""
    found: dict[str, list[str]] = {}
    for chart in drawn_bars(app):
        written = zip(chart["labels"], chart["ends"], strict=True)
        found.setdefault(chart["title"], []).append(", ".join(f"{label} {end}" for label, end in written))
    return found
