"""What each kind of device allows, and what a host sets in place of it."""

import re
import subprocess
import sys

import pytest

from tests.support.serving import ROOT
from tx_core.engine.device_limits import CARD_LIMITS, CPU_LIMITS, device_limits, exceeds
from tx_core.errors import TextProblem
from tx_core.training.classifier_model import CLASSIFIER_LIMITS, NOTEBOOK_CLASSIFIER
from tx_core.training.imdb import NOTEBOOK_TEST, NOTEBOOK_TRAIN
from tx_core.training.synthetic import COPY_LIMITS, NOTEBOOK_COPY, QUICK, TOO_MUCH_WORK, check_copy_work


@pytest.mark.parametrize(
    ("device", "limits"), [("cpu", CPU_LIMITS), ("mps", CPU_LIMITS), ("cuda", CARD_LIMITS), ("cuda:3", CARD_LIMITS)]
)
def test_limits_follow_the_kind_of_the_device(device: str, limits: object):
    assert device_limits(device) == limits


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_what_a_host_sets_holds_on_every_device(host, device: str):
    host(max_training_multiply_adds=123, max_sentences=45)
    assert (device_limits(device).multiply_adds, device_limits(device).sentences) == (123, 45)
    with pytest.raises(TextProblem):
        check_copy_work(QUICK, device)


def test_a_card_allows_the_full_size_and_the_cpu_does_not():
    assert check_copy_work(NOTEBOOK_COPY, "cuda") is NOTEBOOK_COPY
    assert not exceeds(NOTEBOOK_COPY, CARD_LIMITS.encoder_decoder)
    with pytest.raises(TextProblem, match=re.escape(TOO_MUCH_WORK.partition("{")[0])):
        check_copy_work(NOTEBOOK_COPY, "cpu")
    assert exceeds(NOTEBOOK_COPY, CPU_LIMITS.encoder_decoder)


def test_a_card_allows_the_classifier_of_the_notebook_on_its_reviews():
    assert not exceeds(NOTEBOOK_CLASSIFIER, CARD_LIMITS.classifier)
    assert exceeds(NOTEBOOK_CLASSIFIER, CPU_LIMITS.classifier)
    assert (CARD_LIMITS.imdb_train, CARD_LIMITS.imdb_test) == (NOTEBOOK_TRAIN, NOTEBOOK_TEST)


def test_no_device_allows_more_than_a_run_may_have():
    for limits in (CPU_LIMITS, CARD_LIMITS):
        for sizes, most in ((limits.encoder_decoder, COPY_LIMITS), (limits.classifier, CLASSIFIER_LIMITS)):
            assert all(size <= most[name][1] for name, size in sizes.items())


def test_the_table_is_read_without_torch():
    code = "import sys, tx_core.engine.device_limits, tx_core.corpus.sentence_file; print('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
