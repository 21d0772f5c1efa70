"""The page of the classifier as tests use it: a small training, a file of one's own, and the page's buttons."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

Open = Callable[..., AppTest]
KIND = "labels"
SMALL = {"epochs": "1", "batch": "128", "width": "8", "feed": "16", "tokens": "12", "seed": "5"}
OWN = "text,label\n" + "".join(f"{word} day number {place},{word}\n" for place in range(12) for word in ("sunny", "<b>rainy</b>"))


def press(app: AppTest, name: str) -> AppTest:
    """Press a button of the page, by the end of its key."""
    return app.button(key=f"classifier_{name}").click().run()


def upload(app: AppTest, text: str | bytes) -> AppTest:
    """Hand the page a file of texts and labels."""
    data = text.encode() if isinstance(text, str) else text
    return app.file_uploader(key="classifier_csv").set_value(("mine.csv", data, "text/csv")).run()
