"""What each kind of device allows, and what a host sets in place of it."""

import pytest

from tx_core.engine.device_limits import CARD_LIMITS, CPU_LIMITS, device_limits
from tx_core.errors import TextProblem
from tx_core.settings import Settings
from tx_core.training.copy_task import QUICK
from tx_core.training.loop import check_work


def test_limits_follow_the_kind_of_the_device_and_what_a_host_sets(host):
    assert [device_limits(device) for device in ("mps", "cuda:3")] == [CPU_LIMITS, CARD_LIMITS]
    host(max_training_multiply_adds=123, max_sentences=45)
    assert (device_limits("cuda").multiply_adds, device_limits("cuda").sentences) == (123, 45)
    with pytest.raises(TextProblem):
        check_work(QUICK.work, "cuda")


def test_the_table_of_settings_tells_these_limits():
    told = {name: field.json_schema_extra["default"] for name, field in Settings.model_fields.items() if field.json_schema_extra}
    assert told["max_sentences"] == f"{CPU_LIMITS.sentences:,}; on a CUDA card {CARD_LIMITS.sentences:,}"
    work = f"{CPU_LIMITS.multiply_adds:g}; on a CUDA card {CARD_LIMITS.multiply_adds:g}"
    assert told["max_training_multiply_adds"] == work.replace("+", "")
