"""What the components of a page were sent, and what the page says: for tests that look at a page without a browser."""

import json

import numpy as np
from streamlit.testing.v1 import AppTest

from pages.ui.shell.frame import HEADINGS
from tx_core.engine import catalogue

Sent = tuple[dict, np.ndarray]
OURS = "attention_explorer_"
"""How the names of our own components begin."""
BIRD = {"text": "a small bird sings", "text_b": "a bird sings loudly", "head": "2-3"}


def maps(app: AppTest) -> list[Sent]:
    """Return header and cells of every map."""
    return _sent(app).get("attention_map", [])


def drawn(app: AppTest) -> dict[str, Sent]:
    """Return header and cells of what was sent to the first wall, the first map and the first comparison of a change."""
    return {name: sent[0] for name, sent in _sent(app).items()}


def _sent(app: AppTest) -> dict[str, list[Sent]]:
    sent: dict[str, list[Sent]] = {}
    for element in app.get("bidi_component"):
        if not element.proto.bytes:
            continue  # the navigation and charts of bars are components, too, and are sent no bytes
        if element.proto.component_name.startswith(f"{OURS}stage_"):
            continue  # see tests/support/staged.py
        header, cells = unpacked(element.proto.bytes)
        header.pop("timestamp", None)  # a moment
        numbers = np.frombuffer(cells, "<u2" if header["bits"] == 16 else "u1")
        sent.setdefault(element.proto.component_name.removeprefix(OURS), []).append((header, numbers))
    return sent


def unpacked(message: bytes) -> tuple[dict, bytes]:
    """Return the header of a message to a component, and the cells behind it."""
    end = 4 + int.from_bytes(message[:4], "little")
    return json.loads(message[4:end]), message[end:]


def sent_to(app: AppTest, component: str) -> list[tuple[dict, bytes]]:
    """Return header and cells of every component of a kind, from the first to the last."""
    return [unpacked(one.proto.bytes) for one in app.get("bidi_component") if one.proto.component_name == OURS + component]


def says(app: AppTest) -> str:
    """Return all that the page says in plain text, notes and warnings."""
    return "\n".join(element.value for kind in (app.text, app.caption, app.info, app.warning, app.markdown) for element in kind)


def problems(app: AppTest) -> list[str]:
    """Return the headings of what the page says it cannot show."""
    return [heading for heading in HEADINGS.values() if heading in says(app)]


def weights_of(text: str, pair: str | None = None, model: str = catalogue.DEFAULT) -> np.ndarray:
    """Return the weights of a run outside any page."""
    return catalogue.load(model).trace(text, pair).attention.weights


def drawn_comparison(app: AppTest) -> tuple[dict, list[np.ndarray]]:
    """Return the header, and the numbers of A, of B and of B − A."""
    ((header, sent),) = sent_to(app, "comparison")
    cells = np.frombuffer(sent, "<u2").astype(float)
    sizes = [len(header[name]) for name in ("one", "other", "labels")]
    ends = np.cumsum([size**2 for size in sizes])
    one, other, difference = (part.reshape(size, size) for part, size in zip(np.split(cells, ends[:-1]), sizes, strict=True))
    root = (difference - 32768) / 32767
    return header, [(one / 65535) ** 2, (other / 65535) ** 2, np.sign(root) * root**2]
