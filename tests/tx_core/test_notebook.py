"""The names that a notebook needs, and the example that shows them."""

import doctest

import tx_core


def test_the_example_of_the_package_runs_as_it_is_written():
    found = doctest.testmod(tx_core)
    assert (found.attempted, found.failed) == (12, 0)
