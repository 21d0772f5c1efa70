"""Limits by kind of device: sizes and length of trainings, and the amount of text read. It imports no torch."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class DeviceLimits:
    """The upper limits that a page offers on a kind of device; sizes by their names in the settings of a training.

    operations_a_second: about how many additions and multiplications of a run a card makes, or one core, while nobody else
    computes there.
    """

    encoder_decoder: Mapping[str, int]
    classifier: Mapping[str, int]
    imdb_train: int
    imdb_test: int
    multiply_adds: float
    sentences: int
    operations_a_second: float


CPU_LIMITS = DeviceLimits(
    encoder_decoder={"hidden_size": 128, "num_layers": 2, "intermediate_size": 512},
    classifier={"batch_size": 128, "hidden_size": 64, "num_layers": 2, "intermediate_size": 256, "most_words": 10_000},
    imdb_train=1000,
    imdb_test=1000,
    multiply_adds=5e11,
    sentences=20_000,
    operations_a_second=5e10,
)
CARD_LIMITS = DeviceLimits(
    encoder_decoder={"hidden_size": 512, "num_layers": 6, "intermediate_size": 2048},
    classifier={"batch_size": 256, "hidden_size": 128, "num_layers": 4, "intermediate_size": 512, "most_words": 50_000},
    imdb_train=22_500,
    imdb_test=2_500,
    multiply_adds=5e13,
    sentences=100_000,
    operations_a_second=5e12,
)


def device_limits(device: str) -> DeviceLimits:
    """Return the limits on a device such as "cuda:1"; on MPS those of the CPU."""
    return CARD_LIMITS if device.startswith("cuda") else CPU_LIMITS


def exceeds(settings: object, sizes: Mapping[str, int]) -> bool:
    """Return whether any size of a training exceeds its limit in `sizes`."""
    return any(getattr(settings, name) > most for name, most in sizes.items())
