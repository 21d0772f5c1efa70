"""A graphics card, simulated in a process of its own: everything runs there and gives the numbers of the CPU."""

import os
import subprocess
import sys

import pytest

from tests.support.serving import ROOT


@pytest.mark.ci
def test_all_that_is_computed_runs_on_a_card_too():
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--tb=short", "tests/support/on_card.py"]
    one_core = os.environ | {"OMP_NUM_THREADS": "1"}  # of such small tensors, a second one only waits
    done = subprocess.run(command, cwd=ROOT, env=one_core, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout[-20_000:]
