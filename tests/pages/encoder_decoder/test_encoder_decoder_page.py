"""The page of the encoder-decoder: training starts, is watched, stops and goes on, and nobody waits for another."""

from collections.abc import Iterator

import pytest

from pages.encoder_decoder import texts
from pages.encoder_decoder.model import SIZES
from pages.ui.stage import texts as stage_texts
from tests.support.copy_page import KIND, SMALL, Open, press, says
from tests.support.staged import staged
from tests.support.trainings import own_server, until_still
from tx_core.training.background import Registry
from tx_core.training.loop import TOO_LONG_RUN
from tx_core.training.synthetic import TASKS


@pytest.fixture(autouse=True)
def trainings(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Registry]:
    """A server of its own for each test, with space for two trainings, which rest as long as the test asks."""
    with own_server(monkeypatch, limit=2, pause=getattr(request, "param", 0.005)) as registry:
        yield registry


def test_a_trained_model_is_discarded_by_a_reload_and_trained_again_from_its_link_it_is_the_same(
    open_app: Open, trainings: Registry
):
    found = []
    for _ in range(2):
        app = press(open_app("encoder_decoder", **SMALL), "train")
        found.append(until_still(app, trainings, KIND))
        assert texts.DISCARDED in says(app.run())
    assert found[0].result is not found[1].result
    assert [record.values for record in found[0].records] == [record.values for record in found[1].records]


def test_a_model_of_other_settings_is_named(open_app: Open, trainings: Registry):
    app = press(open_app("encoder_decoder", **SMALL), "train")
    until_still(app, trainings, KIND)
    assert not staged(app)["training"]["other"]
    app.segmented_control(key="encoder_decoder_task").set_value("reverse").run()
    app.number_input(key="encoder_decoder_heads").set_value(4).run()
    app.toggle(key="encoder_decoder_post").set_value(True).run()
    assert not app.exception
    differences = [f"{SIZES['heads'].label} 2", TASKS["copy"].title, texts.NORMS[True]]
    assert stage_texts.OTHER_MODEL.format(differences=", ".join(differences)) in says(app)
    press(app, "show")
    assert not staged(app)["training"]["other"]
    assert app.session_state["encoder_decoder_heads"] == 2


def test_a_run_that_would_keep_the_host_too_long_is_refused(open_app: Open, trainings: Registry):
    app = press(open_app("encoder_decoder", width="128", layers="2", feed="512", batches="600", length="16"), "train")
    assert TOO_LONG_RUN.partition("}")[2] in says(app)
    assert trainings.running == 0
