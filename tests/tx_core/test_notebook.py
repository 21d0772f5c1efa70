"""The names that a notebook needs, and the example that shows them."""

import doctest
import subprocess
import sys

import tx_core
from tests.support.serving import ROOT


def test_the_example_of_the_package_runs_as_it_is_written():
    found = doctest.testmod(tx_core)
    assert (found.attempted, found.failed) == (12, 0)


def test_importing_the_package_does_not_import_torch():
    done = subprocess.run(
        [sys.executable, "-c", "import tx_core.errors, sys; sys.exit('torch' in sys.modules)"], cwd=ROOT, timeout=240
    )
    assert done.returncode == 0
