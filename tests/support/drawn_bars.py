"""What a page's charts of bars were sent."""

import json

from streamlit.testing.v1 import AppTest


def drawn_bars(app: AppTest) -> list[dict]:
    """Every chart of bars from the first to the last, as its component was sent it."""
    return [json.loads(one.proto.json)[0] for one in app.get("bidi_component") if one.proto.component_name.endswith("_bars")]
