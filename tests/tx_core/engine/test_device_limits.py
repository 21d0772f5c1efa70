"""What each kind of device allows."""

import pytest

from tx_core.engine.device_limits import CARD_LIMITS, CPU_LIMITS, device_limits
from tx_core.errors import TextProblem
from tx_core.training.loop import check_work


def test_limits_follow_the_kind_of_the_device():
    assert [device_limits(device) for device in ("mps", "cuda:3")] == [CPU_LIMITS, CARD_LIMITS]
    check_work(1.1 * CPU_LIMITS.multiply_adds, "cuda")
    with pytest.raises(TextProblem, match=r"1\.1 times"):
        check_work(1.1 * CPU_LIMITS.multiply_adds, "cpu")
