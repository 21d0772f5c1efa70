"""How numbers are written on the screen."""

import pytest

from pages.ui.shell.numbers import (
    NEARLY_UNCHANGED,
    UNCHANGED,
    change_verdict,
    large_number,
    percent,
    points,
    small_number,
    whole_percent,
)


@pytest.mark.parametrize(
    ("share", "written"),
    [
        (1.0, "100\u00a0%"),
        (0.99949, "99.9\u00a0%"),
        (0.09995, "10.0\u00a0%"),
        (0.0999, "9.99\u00a0%"),
        (0.0001, "0.01\u00a0%"),
        (0.0, "0\u00a0%"),
        (0.00008, "1 in 12,500"),
        (4.9e-31, "1 in 2 × 10³⁰"),
        (5e-324, "1 in 2 × 10³²³"),
    ],
)
def test_a_share_has_three_significant_digits_and_a_tiny_one_is_written_as_odds(share, written):
    assert percent(share) == written


@pytest.mark.parametrize(
    ("number", "written"),
    [(1, "1"), (2.345, "2.3"), (9.97, "10"), (108.4, "108"), (91_633, "91,600"), (29_506_248, "3 × 10⁷"), (1e6, "10⁶")],
)
def test_a_ratio_has_no_more_digits_than_it_is_worth(number: float, written: str):
    assert large_number(number) == written


def test_a_rough_share_has_no_decimals():
    assert [whole_percent(share) for share in (0.829, 0.0, 1.0)] == ["83\u00a0%", "0\u00a0%", "100\u00a0%"]


@pytest.mark.parametrize(
    ("number", "written"), [(0.0, "0"), (0.3579, "0.358"), (0.001, "0.001"), (0.00099, "9.9 × 10⁻⁴"), (-1.2e-6, "-1.2 × 10⁻⁶")]
)
def test_a_small_difference_shows_its_size(number, written):
    assert small_number(number) == written


@pytest.mark.parametrize(("change", "verdict"), [(0.0, UNCHANGED), (1e-6, NEARLY_UNCHANGED), (0.01, "moved")])
def test_a_change_above_rounding_is_distinguished_from_one_below(change, verdict):
    assert change_verdict(change, "moved") == verdict


@pytest.mark.parametrize(
    ("difference", "written"),
    [(0.554, "+55.4"), (-0.0045, "−0.45"), (0.05, "+5.00"), (-1, "−100"), (0, "0"), (1e-6, "0"), (-1e-6, "0")],
)
def test_a_difference_of_shares_is_written_in_percentage_points_with_its_sign(difference: float, written: str):
    assert points(difference) == written
