"""The page of the encoder-decoder as tests use it: a small training, its buttons, and what it says."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from pages.encoder_decoder import texts
from tests.support.page_html import preformatted
from tx_core.training.synthetic import TASKS, CopySettings

Open = Callable[..., AppTest]
KIND = "sequences"
SMALL = {
    "vocab": "12",
    "length": "6",
    "batch": "16",
    "batches": "10",
    "width": "16",
    "layers": "1",
    "heads": "2",
    "feed": "24",
    "seed": "3",
    "numbers": "7 3 11 2 5",
}
SETTINGS = CopySettings(
    task="copy",
    vocab_size=12,
    length=6,
    batch_size=16,
    batches=10,
    hidden_size=16,
    num_layers=1,
    num_heads=2,
    intermediate_size=24,
    norm_first=True,
    learning_rate=5e-3,
    seed=3,
)


def says(app: AppTest) -> str:
    """Return all that the page says: texts, notes, and the answers."""
    written = [element.value for kind in (app.text, app.caption, app.info, app.markdown) for element in kind]
    return "\n".join([*written, *preformatted(app)])


def press(app: AppTest, name: str) -> AppTest:
    """Press a button of the page, by the end of its key."""
    return app.button(key=f"encoder_decoder_{name}").click().run()


def answered(app: AppTest) -> str:
    """Return the box that holds what was written, what the model answers and what is right."""
    (block,) = (written for written in preformatted(app) if written.startswith(texts.INPUT))
    return block


def row(app: AppTest, name: str) -> list[str]:
    """Return the numbers of a row of that box, by its name."""
    (line,) = (line for line in answered(app).splitlines() if line.startswith(name))
    return line.removeprefix(name).split()


def trained(done: int, total: int, task: str = "copy") -> str:
    """Return what the page says of a model that was trained on so many batches."""
    return texts.TRAINED.format(done=done, total=total, task=TASKS[task].title)


def bars(app: AppTest) -> str:
    """Return what stands beside the page's progress bars."""
    return "\n".join(bar.proto.text for bar in app.get("progress"))
