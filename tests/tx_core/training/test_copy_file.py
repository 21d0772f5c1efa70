"""A trained run as a file: it comes back as it was, and nothing else is let in."""

import json
import re
from dataclasses import asdict, replace

import pytest
import safetensors.torch
import torch

from tx_core.errors import CheckpointProblem
from tx_core.training import copy_file as messages
from tx_core.training.copy_file import FORMAT, from_file, to_file
from tx_core.training.copy_task import answer_sequence, start_copy_training, train_copy
from tx_core.training.synthetic import QUICK

SIZES = replace(QUICK, vocab_size=12, length=6, hidden_size=16, num_heads=2, intermediate_size=24, batches=8)


def half_trained():
    training = start_copy_training(SIZES)
    progress = train_copy(training)
    losses = [next(progress).loss for _ in range(4)]
    progress.close()
    return training, losses


def altered(data: bytes, *, settings=None, losses=None, rename=None, tensor=None) -> bytes:
    """Write the file again with one thing changed."""
    tensors = safetensors.torch.load(data)
    if rename:
        tensors[rename[1]] = tensors.pop(rename[0])
    if tensor:
        tensors[tensor[0]] = tensor[1]
    about = {
        "format": FORMAT,
        "settings": settings or json.dumps(asdict(SIZES)),
        "losses": losses or json.dumps([2.0]),
    }
    return safetensors.torch.save(tensors, about)


def test_a_run_comes_back_as_it_was_saved():
    training, losses = half_trained()
    again = from_file(to_file(training))
    assert again.settings == SIZES
    assert again.losses == losses
    assert answer_sequence(again, (3, 4, 5)).written == answer_sequence(training, (3, 4, 5)).written
    for name, value in training.model.state_dict().items():
        assert torch.equal(again.model.state_dict()[name], value)


def test_a_file_of_an_earlier_version_that_called_the_projections_widen_and_narrow_can_be_read():
    training, _ = half_trained()
    data = to_file(training, resumable=True)
    former = safetensors.torch.load(data)
    for name in [name for name in former if ".feed_forward." in name]:
        former[name.replace(".up.", ".widen.").replace(".down.", ".narrow.")] = former.pop(name)
    about = {"format": FORMAT, "settings": json.dumps(asdict(SIZES)), "losses": json.dumps(training.losses)}
    again = from_file(safetensors.torch.save(former, about))
    assert sum(".widen." in name for name in former) == 2 * 3 * (training.settings.num_layers * 2)
    assert [record.loss for record in train_copy(again)] == [record.loss for record in train_copy(training)]


def test_a_resumable_file_goes_on_as_if_never_stopped():
    training, _ = half_trained()
    data = to_file(training, resumable=True)
    rest = [record.loss for record in train_copy(training)]
    assert len(rest) == 4
    assert [record.loss for record in train_copy(from_file(data))] == rest


@pytest.mark.parametrize(
    "data",
    [b"", b"PK\x03\x04" * 50, b"\x02" + bytes(7) + b"{}", (10).to_bytes(8, "little") + b"[[[[[[[[[["],
)
def test_what_is_no_result_is_refused(data):
    with pytest.raises(CheckpointProblem, match=re.escape(messages.NOT_OURS)):
        from_file(data)


def test_a_safetensors_file_of_something_else_is_refused():
    with pytest.raises(CheckpointProblem, match=re.escape(messages.NOT_OURS)):
        from_file(safetensors.torch.save({"x": torch.zeros(2)}, {"format": "pt"}))


def test_a_file_cut_short_is_refused():
    data = to_file(start_copy_training(SIZES))
    with pytest.raises(CheckpointProblem):
        from_file(data[:-20])


def test_every_alteration_is_refused_and_named():
    data = to_file(start_copy_training(SIZES))
    name = "model.vocabulary.weight"
    wrong_settings, unreadable = messages.WRONG_SETTINGS.partition("{")[0], messages.UNREADABLE_PART.format(part="settings")
    wrong_shape = messages.WRONG_SHAPE.format(name=name, expected=(12, 16), dtype="float16", shape=(12, 16))
    unmatched = messages.WRONG_TENSORS.format(name="first.vocabulary.weight").partition("first")[0]
    cases = [
        ({"settings": json.dumps(asdict(SIZES) | {"num_layers": 900})}, "num_layers must be a whole number from 1 to 6"),
        ({"settings": json.dumps({"task": "copy"})}, wrong_settings),
        ({"settings": json.dumps(asdict(SIZES) | {"norm_first": "no"})}, wrong_settings),
        ({"settings": json.dumps(asdict(SIZES) | {"batches": True})}, wrong_settings),
        ({"settings": "{"}, unreadable),
        ({"settings": "[" * 100_000}, unreadable),
        (
            {"settings": json.dumps(asdict(SIZES) | {"hidden_size": 32})},
            messages.WRONG_SHAPE.partition("{name}")[2].partition("{")[0],
        ),
        ({"losses": "[NaN]"}, messages.WRONG_LOSSES.format(most=8)),
        ({"losses": json.dumps([1.0] * 9)}, messages.WRONG_LOSSES.format(most=8)),
        ({"rename": (name, "model.other")}, unmatched),
        ({"tensor": (name, torch.zeros(12, 16, dtype=torch.float16))}, wrong_shape),
        ({"tensor": (name, torch.full((12, 16), torch.nan))}, messages.NOT_FINITE_FILE.format(name=name)),
        ({"tensor": ("first.vocabulary.weight", torch.zeros(12, 16))}, unmatched),
    ]
    assert from_file(altered(data)).losses == [2.0]
    for change, message in cases:
        with pytest.raises(CheckpointProblem, match=re.escape(message)):
            from_file(altered(data, **change))
