"""The page of many sentences as tests use it: a visitor's own file, its buttons, and what it says."""

from collections.abc import Callable

import pandas
from streamlit.testing.v1 import AppTest

from tests.support.staged import ask_stage, is_empty, staged, staged_pictures, training_buttons

Open = Callable[..., AppTest]
PAGE, KIND = "many_sentences", "sentences"
OWN_FILE = "The <b>dog</b> saw **a** man near the house.\n\nNobody was in the old house when it rained.\n" + "word " * 400 + "\n"


def says(app: AppTest) -> str:
    """Return all that the page says: texts, notes and headings, and what its stage says of the chosen head."""
    kinds = (app.text, app.caption, app.info, app.markdown, app.subheader)
    written = [element.value for kind in kinds for element in kind]
    if not is_empty(app):
        head = shown_head(app)
        written += [head["sentence"], head["chart"]["note"], *(" · ".join(row) for row in head["chart"]["rows"])]
    return "\n".join(written)


def press(app: AppTest, name: str) -> AppTest:
    """Press a button of the reading, "run" or "stop"."""
    assert name in training_buttons(app)
    return ask_stage(app, "settings", {"training": name})


def upload(app: AppTest, text: str | bytes, name: str = "mine.txt") -> AppTest:
    """Bring a visitor's own file onto the page."""
    data = text.encode() if isinstance(text, str) else text
    return app.file_uploader(key=f"{PAGE}_file").set_value((name, data, "text/plain")).run()


def numbers_of(app: AppTest) -> pandas.DataFrame:
    """Open the table of all heads and give it."""
    assert not app.dataframe
    app.session_state[f"{PAGE}_table"] = True
    return app.run().dataframe[0].value


def shown_head(app: AppTest) -> dict:
    """Return what the stage shows of the chosen head: the sentence on it, and the table of its strongest sentences."""
    (listing,) = [one for one in staged_pictures(app) if one["chart"]["kind"] == "listing"]
    return listing["variants"][staged(app)["view"]["heads"]]


def links(app: AppTest) -> list[str]:
    """Return the links to the attention page that stand at the strongest sentences."""
    return shown_head(app)["chart"]["links"]
