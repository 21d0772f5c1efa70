"""What the components of a page were sent, and what the page says: for tests that look at a page without a browser."""

import json

import numpy as np
from streamlit.testing.v1 import AppTest

from pages.ui.shell.frame import HEADINGS
from tx_core.engine import catalogue

OURS = "attention_explorer_"
"""How the names of our own components begin."""
BIRD = {"text": "a small bird sings", "text_b": "a bird sings loudly", "head": "2-3"}


def unpacked(message: bytes) -> tuple[dict, bytes]:
    """Return the header of a message to a component, and the cells behind it."""
    end = 4 + int.from_bytes(message[:4], "little")
    return json.loads(message[4:end]), message[end:]


def sent_to(app: AppTest, component: str) -> list[tuple[dict, bytes]]:
    """Return header and cells of every component of a kind, from the first to the last."""
    return [unpacked(one.proto.bytes) for one in app.get("bidi_component") if one.proto.component_name == OURS + component]


def says(app: AppTest) -> str:
    """Return all that the page says: its title, plain text, notes, warnings and errors."""
    kinds = (app.title, app.text, app.caption, app.info, app.warning, app.error, app.markdown)
    return "\n".join(element.value for kind in kinds for element in kind)


def problems(app: AppTest) -> list[str]:
    """Return the headings of what the page says it cannot show."""
    return [heading for heading in HEADINGS.values() if heading in says(app)]


def weights_of(text: str, pair: str | None = None, model: str = catalogue.DEFAULT) -> np.ndarray:
    """Return the weights of a run outside any page."""
    return catalogue.load(model).trace(text, pair).attention.weights
