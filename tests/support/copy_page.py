"""The page of the encoder-decoder as tests use it: a small training, its buttons, and what it says."""

from collections.abc import Callable
from dataclasses import replace

from streamlit.testing.v1 import AppTest

from tests.support import classifier_page
from tests.support.staged import staged
from tx_core.training.copy_task import QUICK

Open = Callable[..., AppTest]
KIND = "sequences"
press, says = classifier_page.press, classifier_page.training_says
"""As on the page of the classifier: what a button does, and all that page and stage say."""
SMALL = {
    "vocab": "12",
    "length": "6",
    "batch": "16",
    "batches": "10",
    "width": "16",
    "heads": "2",
    "feed": "24",
    "seed": "3",
    "numbers": "7 3 11 2 5",
}
SETTINGS = replace(
    QUICK, vocab_size=12, length=6, batch_size=16, batches=10, hidden_size=16, num_heads=2, intermediate_size=24, seed=3
)


def moments(app: AppTest) -> list[dict]:
    """What the stage was sent of each moment of the training."""
    sent = staged(app)
    for stack in [stack for moment in sent["moments"] for stack in moment["stacks"]]:
        stack |= {name: sent["axes"][stack[name]] for name in ("queries", "keys")}
    return sent["moments"]


def row(app: AppTest, name: str, moment: int = -1) -> list[str]:
    """Return the numbers of a row of the answer, by its name, at a moment of the training."""
    rows = moments(app)[moment]["drawn"]["rows"]
    return rows["cells"][rows["names"].index(name)]
