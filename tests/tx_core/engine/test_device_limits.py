"""What each kind of device allows, and what a host sets in place of it."""

import re

import pytest

from tx_core.engine.device_limits import CARD_LIMITS, CPU_LIMITS, device_limits, exceeds
from tx_core.errors import TextProblem
from tx_core.training.classifier_model import CLASSIFIER_LIMITS
from tx_core.training.synthetic import COPY_LIMITS, NOTEBOOK_COPY, QUICK, TOO_MUCH_WORK, check_copy_work


def test_limits_follow_the_kind_of_the_device_and_what_a_host_sets(host):
    assert [device_limits(device) for device in ("mps", "cuda:3")] == [CPU_LIMITS, CARD_LIMITS]
    host(max_training_multiply_adds=123, max_sentences=45)
    assert (device_limits("cuda").multiply_adds, device_limits("cuda").sentences) == (123, 45)
    with pytest.raises(TextProblem):
        check_copy_work(QUICK, "cuda")


def test_a_card_allows_the_full_size_and_the_cpu_does_not():
    assert check_copy_work(NOTEBOOK_COPY, "cuda") is NOTEBOOK_COPY
    assert not exceeds(NOTEBOOK_COPY, CARD_LIMITS.encoder_decoder)
    with pytest.raises(TextProblem, match=re.escape(TOO_MUCH_WORK.partition("{")[0])):
        check_copy_work(NOTEBOOK_COPY, "cpu")
    assert exceeds(NOTEBOOK_COPY, CPU_LIMITS.encoder_decoder)


def test_no_device_allows_more_than_a_run_may_have():
    for limits in (CPU_LIMITS, CARD_LIMITS):
        for sizes, most in ((limits.encoder_decoder, COPY_LIMITS), (limits.classifier, CLASSIFIER_LIMITS)):
            assert all(size <= most[name][1] for name, size in sizes.items())
