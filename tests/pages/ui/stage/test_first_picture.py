"""The picture of a first view that is kept beside the model: equal to what a run sends, and drawn while the model is loaded."""

from pathlib import Path

import numpy as np
import pytest

from pages.ui.shell import readiness, texts
from pages.ui.shell.level import ADVANCED, BASIC
from pages.ui.shell.readiness import Status
from pages.ui.stage import first_picture
from tests.support.staged import matrices_of, staged

STORED = first_picture.FIRST_PICTURES / "attention-advanced.bin"


@pytest.fixture(autouse=True)
def read_anew():
    first_picture.read.cache_clear()
    yield
    first_picture.read.cache_clear()


def leaves_of(header: dict) -> dict[str, object]:
    """Return the leaves of a header by where they stand, so that numbers are compared as numbers."""
    leaves = {}

    def walk(where: str, value: object) -> None:
        if isinstance(value, dict | list):
            for name, one in value.items() if isinstance(value, dict) else enumerate(value):
                walk(f"{where}/{name}", one)
        else:
            leaves[where] = value

    walk("", header)
    return leaves


@pytest.mark.parametrize("level", [BASIC, ADVANCED])
@pytest.mark.parametrize("page", first_picture.PAGES)
def test_what_is_stored_is_what_a_run_sends(page: str, level: str):
    """To one of 65,536 steps, of matrices to a thousandth: processors round differently."""
    stored = first_picture.split_message((first_picture.FIRST_PICTURES / f"{page}-{level}.bin").read_bytes())
    sent = first_picture.split_message(first_picture.run(page, level))
    assert leaves_of(stored[0]) == pytest.approx(leaves_of(sent[0]), abs=5e-3), (
        "run `python -m pages.ui.stage.first_picture` and commit what it writes"
    )
    if "pictures" in stored[0]:
        found, expected = (matrices_of(header["pictures"][0]["chart"], numbers) for header, numbers in (stored, sent))
        for name, values in expected.items():
            np.testing.assert_allclose(found[name], values, rtol=1e-3, atol=2e-3)
        return
    one, other = (np.frombuffer(numbers, "<u2").astype(int) for numbers in (stored[1], sent[1]))
    assert np.abs(one - other).max(initial=0) <= 1


@pytest.mark.parametrize("page", first_picture.PAGES)
def test_the_first_view_is_drawn_from_it_while_the_model_is_loaded_and_any_other_is_computed(open_app, page: str, monkeypatch):
    monkeypatch.setattr(readiness.default_engine, "status", Status("warming up"))
    app = open_app(page)
    assert not app.exception
    assert staged(app)["address"]["isFirst"] and staged(app)["isStored"]
    assert f":material/hourglass_top: {texts.WARMING_UP}" in [one.value for one in app.caption]
    other = open_app(page, text="A [MASK] sings.")
    assert "isStored" not in staged(other)
    monkeypatch.setattr(readiness.default_engine, "status", Status("ready", "A model", "cpu"))
    assert "isStored" not in staged(app.run())


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.write_bytes(STORED.read_bytes().replace(b'"checkpoint":"', b'"checkpoint":"0')),
        lambda file: file.write_bytes(STORED.read_bytes()[:100]),
        lambda file: file.write_bytes(b""),
        lambda file: file,
    ],
    ids=["another checkpoint", "cut short", "empty", "missing"],
)
def test_a_picture_of_another_checkpoint_or_a_damaged_one_is_left_alone(change, tmp_path: Path, monkeypatch):
    change(tmp_path / STORED.name)
    monkeypatch.setattr(first_picture, "FIRST_PICTURES", tmp_path)
    assert first_picture.read("attention", ADVANCED) is None
