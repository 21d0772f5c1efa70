"""What the components of a page were sent, and what the page says: for tests that look at a page without a browser."""

import json

import numpy as np
from streamlit.testing.v1 import AppTest

from tx_core import models

Sent = tuple[dict, np.ndarray]


def walls(app: AppTest) -> list[Sent]:
    """Give header and cells of every wall of heads."""
    return _sent(app).get("head_wall", [])


def drawn(app: AppTest) -> dict[str, Sent]:
    """Give header and cells of what was sent to the first wall, the first map and the first comparison of a change."""
    return {name: sent[0] for name, sent in _sent(app).items()}


def _sent(app: AppTest) -> dict[str, list[Sent]]:
    sent: dict[str, list[Sent]] = {}
    for element in app.get("bidi_component"):
        if not (message := element.proto.bytes):
            continue  # the navigation and charts of bars are components, too, and are sent no bytes
        end = 4 + int.from_bytes(message[:4], "little")
        header = json.loads(message[4:end])
        header.pop("heard", None)  # a moment
        cells = np.frombuffer(message[end:], "<u2" if header["bits"] == 16 else "u1")
        sent.setdefault(element.proto.component_name.removeprefix("attention_explorer_"), []).append((header, cells))
    return sent


def shown_weights(app: AppTest) -> np.ndarray:
    """Give the weights that the map shows."""
    header, cells = drawn(app)["attention_map"]
    return ((cells / 65535) ** 2).reshape(len(header["queries"]), len(header["keys"]))


def says(app: AppTest) -> str:
    """Give all that the page says in plain text, notes and warnings."""
    return "\n".join(element.value for kind in (app.text, app.caption, app.info, app.warning, app.markdown) for element in kind)


def weights_of(text: str, pair: str | None = None, model: str = models.DEFAULT) -> np.ndarray:
    """Give the weights of a run outside any page."""
    return models.load(model).trace(text, pair).attention.weights
