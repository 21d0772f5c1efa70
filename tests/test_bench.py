"""The load test of tests/bench with a few visitors for a moment: what is measured rarely must not break unnoticed."""

import pytest

from tests.bench.visitors import come_and_go, many_visitors, run_cost, server_process
from tests.support.apart import run_apart

pytestmark = pytest.mark.ci


def test_visitors_come_type_and_go_and_are_measured(server: str):
    process = server_process(server)
    run_apart(come_and_go(server, 0, 3))
    load = run_apart(many_visitors(server, 2, [process], seconds=1.5))
    assert load.errors == 0 and len(load.seconds) >= 2
    cost = run_apart(run_cost(server, "attention", process, 900, runs=5))
    assert cost.processor > 0 and 2 < cost.messages < 100 and 0 < cost.kilobytes < 1000
