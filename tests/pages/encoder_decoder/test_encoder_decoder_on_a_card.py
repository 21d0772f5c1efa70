"""What a graphics card buys on the page of the encoder-decoder. Only the device's name is a card's: it is computed on the CPU."""

from collections.abc import Iterator

import pytest

from pages.encoder_decoder import model
from pages.ui.panels.texts import SIZE_TOO_LARGE, SIZES_NEED_CARD
from pages.ui.stage.texts import NO_MODEL
from tests.support.copy_page import Open, buttons, progress, says
from tests.support.staged import staged
from tests.support.trainings import own_server
from tx_core.training import copy_task
from tx_core.training.background import Registry
from tx_core.training.synthetic import NOTEBOOK_COPY, QUICK

FULL = {"width": "512", "layers": "6", "heads": "8", "feed": "2048", "rate": "0.0005"}
"""The sizes of the notebook, as a link has them."""


@pytest.fixture(autouse=True)
def trainings(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    with own_server(monkeypatch, limit=2, pause=0.005) as registry:
        yield registry


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server whose device has the name of a card."""
    start = copy_task.start_copy_training
    monkeypatch.setattr("tx_core.engine.device.best_device", lambda: "cuda")
    monkeypatch.setattr(model, "best_device", lambda: "cuda")
    monkeypatch.setattr(copy_task, "start_copy_training", lambda settings, device: start(settings, "cpu"))


def test_a_link_to_sizes_of_a_card_says_on_the_cpu_what_they_need_and_changes_nothing(open_app: Open):
    app = open_app("encoder_decoder", **FULL)
    assert not app.exception
    sizes = {name: model.offered_sizes()[name] for name in ("width", "layers", "feed")}
    told = [
        SIZE_TOO_LARGE.format(label=size.label, maximum=size.maximum, value=getattr(NOTEBOOK_COPY, size.setting))
        for size in sizes.values()
    ]
    assert SIZES_NEED_CARD.format(sizes=", ".join(told)) in says(app)
    assert staged(app)["training"] is None
    assert app.number_input(key="encoder_decoder_width").value == 512
    assert "encoder_decoder_full" not in {button.key for button in app.button}
    for name, size in sizes.items():
        app.number_input(key=f"encoder_decoder_{name}").set_value(size.maximum)
    assert buttons(app.run()) == ["train"]


def test_a_card_offers_the_full_size_by_a_click(open_app: Open, card: None):
    app = open_app("encoder_decoder").button(key="encoder_decoder_full").click().run()
    assert not app.exception
    own = staged(app)["address"]["own"]
    assert {name: own[name] for name in FULL if name != "heads"} == {k: v for k, v in FULL.items() if k != "heads"}
    chosen = {name: app.session_state[f"encoder_decoder_{name}"] for name in model.SIZES}
    assert chosen == {name: getattr(NOTEBOOK_COPY, size.setting) for name, size in model.SIZES.items()}
    assert buttons(app) == ["train"]
    assert progress(app) == NO_MODEL
    assert app.session_state["encoder_decoder_untrained"].settings == QUICK  # none of the full size was made
