"""What the built-in model can be asked before it is loaded: one run, equal to its own; it waits with all else."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support.serving import ROOT
from tx_core.engine import catalogue, first_view
from tx_core.engine.engine import with_special_tokens
from tx_core.engine.first_view import FIRST_RUN, AwaitedEngine, awaited_engine
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import Trace

SHAPE = (3, 2, 5, 5)


@pytest.fixture(autouse=True)
def read_anew():
    awaited_engine.cache_clear()
    yield
    awaited_engine.cache_clear()


@pytest.fixture
def marked() -> AwaitedEngine:
    """The built-in model, awaited, with figures that no model computes: what shows them was stored."""
    engine = awaited_engine()
    return AwaitedEngine(engine.name, engine.title, engine.info, engine.tokenizer, "My own.", np.zeros(SHAPE, np.float32))


def test_the_stored_run_is_the_one_that_the_model_computes():
    """To 1e-5, as our BERT against transformers': processors round differently, each by up to 1e-6."""
    awaited, model = awaited_engine(), catalogue.load(catalogue.DEFAULT)
    stored, computed = awaited.trace(awaited.text), model.trace(awaited.text)
    np.testing.assert_allclose(stored.attention.weights, computed.attention.weights, rtol=0, atol=1e-5)
    assert stored.attention.query_tokens == stored.attention.key_tokens == computed.attention.key_tokens
    assert [stack.kind for stack in stored.stacks] == [stack.kind for stack in computed.stacks]
    assert (stored.model, stored.interventions, stored.notice) == (computed.model, (), "")
    assert (awaited.name, awaited.title, awaited.info) == (model.name, model.title, model.info)


def test_it_is_read_without_torch():
    script = (
        "import sys\nfrom tx_core.engine.first_view import awaited_engine\n"
        "engine = awaited_engine()\nprint(engine.trace(engine.text).attention.weights.shape[:2], 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=240)
    info = awaited_engine().info
    assert done.stdout.strip() == f"{(info.num_layers, info.num_heads)} False", done.stderr


def test_the_stored_run_is_given_for_its_sentence_alone(marked: AwaitedEngine):
    def is_stored(trace: Trace) -> bool:
        return trace.attention.weights.shape == SHAPE

    off = Intervention("off", layer=0, head=0)
    assert is_stored(marked.trace("My own.")) and is_stored(marked.trace("My own.", "", keep=["weights"]))
    assert marked.device == ""
    asked = (
        marked.trace("My own"),
        marked.trace("My own.", "Another."),
        marked.trace("My own.", keep=("weights", "hidden")),
        marked.trace("My own.", interventions=[off]),
        with_special_tokens(marked, False).trace("My own."),
    )
    assert not any(is_stored(trace) for trace in asked)
    assert marked.device == catalogue.load(catalogue.DEFAULT).device
    assert asked[-1].attention.key_tokens.tokens == ("my", "own", ".")
    assert marked.embed([5]).shape == (1, marked.info.hidden_size)


def other_checkpoint(file: Path) -> None:
    np.savez(file, **(dict(np.load(FIRST_RUN)) | {"checkpoint": "0" * 64}))


@pytest.mark.parametrize(
    "change",
    [
        other_checkpoint,
        lambda file: np.savez(file, text="My own."),
        lambda file: np.savez(file, **(dict(np.load(FIRST_RUN)) | {"weights": np.array([{}], object)})),
        lambda file: file.write_bytes(FIRST_RUN.read_bytes()[:-100]),
        lambda file: file,
    ],
    ids=["another checkpoint", "no weights", "pickled", "cut short", "missing"],
)
def test_a_run_of_another_checkpoint_or_a_damaged_one_is_left_alone(change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    change(tmp_path / "run.npz")
    monkeypatch.setattr(first_view, "FIRST_RUN", tmp_path / "run.npz")
    assert awaited_engine() is None


def test_the_command_writes_the_first_example_for_the_checkpoint_as_it_is(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.setattr(first_view, "FIRST_RUN", tmp_path / "run.npz")
    assert first_view.main(["anything"]) == 2 and not (tmp_path / "run.npz").exists()
    assert first_view.main([]) == 0 and "run.npz" in capsys.readouterr().out
    written, shipped = np.load(tmp_path / "run.npz"), np.load(FIRST_RUN)
    assert (str(written["text"]), str(written["checkpoint"])) == (str(shipped["text"]), str(shipped["checkpoint"]))
    np.testing.assert_allclose(written["weights"], shipped["weights"], rtol=0, atol=1e-5)
    assert str(shipped["text"]) == json.loads(first_view.FIRST_EXAMPLES.read_text("utf-8"))[0]["text"]
