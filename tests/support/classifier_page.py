"""The page of the classifier as tests use it: a small training, a file of one's own, and the page's buttons."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from tests.support.drawings import says
from tests.support.staged import ask_stage, staged

Open = Callable[..., AppTest]
KIND = "labels"
SMALL = {"data": "opinions", "epochs": "1", "batch": "128", "width": "8", "feed": "16", "tokens": "12", "seed": "5"}
OWN = "text,label\n" + "".join(f"{word} day number {place},{word}\n" for place in range(12) for word in ("sunny", "<b>rainy</b>"))


def press(app: AppTest, name: str) -> AppTest:
    """Press a button of the training in the stage."""
    return ask_stage(app, "settings", {"training": name})


def upload(app: AppTest, text: str | bytes) -> AppTest:
    """Hand the page a file of texts and labels."""
    data = text.encode() if isinstance(text, str) else text
    return app.file_uploader(key="classifier_csv").set_value(("mine.csv", data, "text/csv")).run()


def moments(app: AppTest) -> list[dict]:
    """What the stage was sent of each moment of the training."""
    return staged(app)["moments"]


def training_says(app: AppTest) -> str:
    """What page and stage say: of the training, and of the model as it is now."""
    sent = staged(app)
    training = sent["training"] or {"said": "", "problem": "", "other": ""}
    last = sent["moments"][-1] if sent.get("moments") else {"title": "", "said": "", "drawn": {"notes": []}}
    told = [training["said"], training["problem"], training["other"], last["title"], last["said"], *last["drawn"]["notes"]]
    return "\n".join([says(app), *told])
