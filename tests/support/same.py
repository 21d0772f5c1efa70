"""Two results of one computation, made in two places, held equal whatever they are made of."""

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from torch import Tensor

WHERE_AND_WHEN = {"device", "seconds", "seconds_left", "tokens_per_second", "model"}
"""Fields of results that may differ."""


def assert_same(found: Any, expected: Any, where: str = "result") -> None:
    """Hold results equal, their numbers within 1e-5, and tensors on the CPU."""
    if is_dataclass(expected) and not isinstance(expected, type):
        parts = [field.name for field in fields(expected) if field.name not in WHERE_AND_WHEN]
        found, expected = ({name: getattr(one, name) for name in parts} for one in (found, expected))
    if isinstance(expected, dict):
        assert list(found) == list(expected), where
        for name in expected:
            assert_same(found[name], expected[name], f"{where}.{name}")
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected), where
        for number, pair in enumerate(zip(found, expected, strict=True)):
            assert_same(*pair, f"{where}[{number}]")
    elif isinstance(expected, np.ndarray | Tensor | float):
        assert getattr(found, "device", "cpu") == getattr(expected, "device", "cpu"), f"{where} was left on the card"
        found, expected = (np.asarray(one.detach() if isinstance(one, Tensor) else one) for one in (found, expected))
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5, err_msg=where)
    else:
        assert found == expected, where
