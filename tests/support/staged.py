"""What the stage of a page was sent, for tests that look at a page without a browser."""

import numpy as np
from streamlit.testing.v1 import AppTest

from tests.support.drawings import OURS, unpacked

STAGE = f"{OURS}stage_"


def staged(app: AppTest) -> dict:
    """The header of the message to the page's stage."""
    return _message(app)[0]


def is_staged(app: AppTest) -> bool:
    """Whether the stage of the page has a run to show."""
    return staged(app)["run"] is not None


def axes(app: AppTest, stack: int = 0) -> tuple[list[str], list[str]]:
    """The tokens of both axes of a stack: those that look, and those that are looked at."""
    sent = staged(app)["stacks"][stack]
    return sent["queries"]["tokens"], sent["keys"]["tokens"]


def sent_weights(app: AppTest, head: tuple[int, int], *, run: str = "run", stack: int = 0) -> np.ndarray:
    """The weights of a head, counted from 0, as they were sent. run: or "before"."""
    header, body = _message(app)
    start = 0
    for name in ("run", "before"):
        for number, layer in (header[name] or {}).get("included", ()):
            sizes = header["stacks"][number]
            shape = (sizes["heads"], len(sizes["queries"]["tokens"]), len(sizes["keys"]["tokens"]))
            end = start + 2 * int(np.prod(shape))
            if (name, number, layer) == (run, stack, head[0]):
                return ((np.frombuffer(body[start:end], "<u2") / 65535) ** 2).reshape(shape)[head[1]]
            start = end
    raise AssertionError(f"layer {head[0]} of {run} was not sent")


def made_changes(app: AppTest) -> list[str]:
    """The changes that the stage lists, as links write them."""
    return [change["link"] for change in staged(app)["changes"]]


def _message(app: AppTest) -> tuple[dict, bytes]:
    (sent,) = [one.proto.bytes for one in app.get("bidi_component") if one.proto.component_name.startswith(STAGE)]
    return unpacked(sent)
