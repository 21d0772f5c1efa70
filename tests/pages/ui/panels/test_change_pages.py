"""Changes on a page with a stage: what is linked or asked for is what is run, sent beside the run before it, and listed."""

from collections.abc import Callable

import numpy as np
from streamlit.testing.v1 import AppTest

from pages.ui.stage import texts as stage_texts
from tests.support.blanks import ask
from tests.support.drawings import says
from tests.support.staged import made_changes, sent_weights
from tx_core.engine import catalogue
from tx_core.transformer.interventions import read_interventions

Open = Callable[..., AppTest]
TEXT = "The old man saw a dog."


def weights(changes: str = "", text: str = TEXT) -> np.ndarray:
    return catalogue.load(catalogue.DEFAULT).trace(text, interventions=read_interventions(changes)).attention.weights


def test_what_the_stage_asks_for_is_made_and_taken_back(open_app: Open):
    app = ask(open_app(text=TEXT), add=["off~1-1", "hide~3"], drop=[])
    assert not app.exception
    assert made_changes(app) == ["off~1-1", "hide~3"]
    app = ask(app, add=["temperature~0.5"], drop=["off~1-1"])
    assert made_changes(app) == ["hide~3", "temperature~0.5"]
    np.testing.assert_allclose(sent_weights(app, (1, 0)), weights("hide~3_temperature~0.5")[1, 0], atol=3.1e-5)


def test_another_text_takes_changes_of_tokens_back_and_keeps_those_of_heads(open_app: Open):
    app = open_app(text=TEXT, changes="off~1-1_hide~3")
    app.text_input(key="attention_text").set_value("A woman sang.").run()
    assert made_changes(app) == ["off~1-1"]
    assert stage_texts.TOKEN_CHANGES_UNDONE in says(app)
