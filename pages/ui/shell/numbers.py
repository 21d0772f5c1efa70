"""How numbers are written on every page: shares, small differences, and when a difference is only rounding."""

from decimal import Decimal

SMALLEST_DECIMAL = 0.001
"""Smaller differences are written with an exponent."""
ROUNDING = 0.001
"""A change in the last layer's vectors, whose numbers are about 1, that single precision alone may bring."""


def percent(share: float) -> str:
    """Write a share of 0 to 1 as a reader takes it in: 21.98 %, or 1 in 150,000 where it is below 0.01 %."""
    if share >= 0.0001 or share == 0:
        return f"{share:.2%}".replace("%", " %")
    odds = 1 / Decimal(share)  # of the smallest shares, beyond what a float can hold
    return f"1 in {odds:,.0f}" if odds < 1_000_000 else f"1 in {_power(odds)}"


def _power(number: Decimal) -> str:
    digits, exponent = f"{number:.0e}".split("e")
    ten = "10" + str(int(exponent)).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return ten if digits == "1" else f"{digits} × {ten}"


def short(number: float) -> str:
    """Write a difference so that its size is seen: 0.358, 1.2 × 10⁻⁶, 0."""
    if number == 0 or abs(number) >= SMALLEST_DECIMAL:
        return f"{number:.3f}" if number else "0"
    digits, exponent = f"{number:.1e}".split("e")
    return f"{digits} × 10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def verdict(change: float, moved: str) -> str:
    """Say what a change in the vectors of a model amounts to: `moved` where it is more than rounding."""
    if change > ROUNDING:
        return moved
    return "the same but for rounding" if change else "exactly the same"
