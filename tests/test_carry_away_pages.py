"""What each page hands over to be carried away holds what its screen shows; its Python computes the same numbers."""

import io
import json
from collections.abc import Callable

import numpy as np
from streamlit.testing.v1 import AppTest

from pages.ui.attention_view import joined
from pages.ui.exhibit import Exhibit
from pages.ui.picture_export import STILL
from pages.ui.saved_numbers import SavedNumbers, to_csv, to_json, to_npz

Open = Callable[..., AppTest]
ABOUT = {"text": "time \u202e flies"}


def opened(app: AppTest, page: str, what: str = "", form: str = "Figure") -> AppTest:
    """A page with one of its views open, in one form."""
    app.session_state[f"{page}_carry"] = True
    app.session_state[f"{page}_carry_form"] = form
    if what:
        app.session_state[f"{page}_carry_what"] = what
    app.run()
    assert not app.exception
    return app


def message_of(app: AppTest, name: str) -> tuple[dict, bytes]:
    """The header and the bytes that a component of the page was sent."""
    (message,) = [
        element.proto.bytes for element in app.get("bidi_component")
        if element.proto.component_name == f"attention_explorer_{name}"
    ]  # fmt: skip
    end = 4 + int.from_bytes(message[:4], "little")
    return json.loads(message[4:end]), message[end:]


def files(exhibit: Exhibit) -> tuple[list[list[str]], dict, dict]:
    """The rows of the CSV, the JSON and the arrays of the NPZ of a view's first numbers."""
    import csv

    made = {form: write() for form, write in exhibit.numbers[0].files.items()}
    rows = list(csv.reader(io.StringIO(made["csv"].decode("utf-8-sig"), newline="")))
    with np.load(io.BytesIO(made["npz"]), allow_pickle=False) as arrays:
        return rows, json.loads(made["json"]), dict(arrays)


def test_numbers_come_back_from_every_kind_of_file_as_they_were():
    third = np.float32(1) / np.float32(3)
    arrays = {"weights": np.array([[third, np.nan]], np.float32), "words": np.array(["a", "=b"])}
    saved = SavedNumbers(ABOUT, ("word", "weight"), [("=b", 1 / 3), ("a", None)], arrays)
    assert to_csv(saved).decode("utf-8-sig").splitlines() == ["word,weight", f"'=b,{1 / 3}", "a,"]
    entries = json.loads(to_json(saved))
    assert entries["text"] == ABOUT["text"]
    assert np.float32(entries["weights"][0][0]) == third
    assert entries["weights"][0][1] is None
    assert entries["table"][1] == {"word": "a", "weight": None}
    with np.load(io.BytesIO(to_npz(saved)), allow_pickle=False) as back:
        np.testing.assert_array_equal(back["weights"], arrays["weights"])
        assert json.loads(str(back["about"])) == ABOUT


def test_without_arrays_an_npz_file_holds_the_columns():
    saved = SavedNumbers({}, ("word", "rank"), [("=b", 3), (None, None)])
    with np.load(io.BytesIO(to_npz(saved)), allow_pickle=False) as back:
        assert back["word"].tolist() == ["=b", ""]
        np.testing.assert_array_equal(back["rank"], [3, np.nan])


def test_the_scripts_of_a_still_view_declare_no_name_twice():
    import re

    names = re.findall(r"^(?:export (?:default )?)?(?:async )?(?:function|const|let) (\w+)", joined(STILL), flags=re.MULTILINE)
    assert len(names) == len(set(names))
