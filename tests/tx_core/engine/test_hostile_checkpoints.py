"""A checkpoint that is damaged, incomplete or hostile is refused in words, or runs; and takes no memory for what it claims."""

import resource
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.support.checkpoints import change_config
from tests.support.hostile_checkpoints import HARMLESS, HOSTILE, PAIR, TEXT
from tx_core.engine import catalogue
from tx_core.errors import CheckpointProblem, ExplorerError
from tx_core.fill_mask.predictions import predict

pytestmark = pytest.mark.ci


@pytest.fixture
def copied(checkpoint, tmp_path: Path):
    return lambda family: Path(shutil.copytree(checkpoint(family), tmp_path / "outer" / family))


def open_and_read(directory: Path) -> np.ndarray:
    engine = catalogue.load(directory)
    weights = engine.trace(TEXT, PAIR).attention.weights
    predict(engine, f"{TEXT} ___")
    return weights


@pytest.mark.parametrize(("family", "name"), [(family, name) for family in HARMLESS for name in HOSTILE])
def test_a_hostile_checkpoint_is_refused_in_words_or_runs(copied, family: str, name: str):
    directory = copied(family)
    HOSTILE[name](directory)
    if name in HARMLESS[family]:
        np.testing.assert_allclose(open_and_read(directory).sum(-1), 1, atol=1e-5)
        return
    with pytest.raises(ExplorerError) as refused:
        open_and_read(directory)
    assert 20 < len(str(refused.value)) < 1000
    assert str(directory) not in str(refused.value)


@pytest.mark.parametrize("family", ["bert", "roberta"])
@pytest.mark.parametrize("size", ["vocab_size", "max_position_embeddings", "intermediate_size"])
def test_no_memory_is_taken_for_sizes_that_the_file_does_not_have(copied, family: str, size: str):
    directory = copied(family)
    change_config(directory, **{size: 20_000_000})  # with a hidden size of 24, 1.9 GB
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(CheckpointProblem):
        catalogue.load(directory)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # kilobytes
