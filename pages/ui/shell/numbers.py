"""Write numbers the same way on every page: shares, small differences, and how far two results are the same."""

import math
from decimal import Decimal

SIGN = "\N{NO-BREAK SPACE}%"
"""The percent sign behind a number: it never begins a line."""
MIN_DECIMAL = 0.001
"""The smallest difference written as a decimal fraction; smaller ones get an exponent."""
ROUNDING = 0.001
"""The largest change of a last-layer vector component (about 1 in size) that single precision alone may cause."""
UNCHANGED, NEARLY_UNCHANGED = "exactly the same", "the same to within 0.001"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def percent(share: float) -> str:
    """Write a share of 0 to 1 with at most three significant digits: 83.4 %, 4.20 %, or 1 in 150,000 below 0.01 %."""
    if share >= 0.0001 or share == 0:
        value = 100 * share
        decimals = 0 if value >= 99.95 or value == 0 else 1 if value >= 9.995 else 2
        return f"{value:.{decimals}f}{SIGN}"
    odds = 1 / Decimal(share)  # beyond the range of a float for the smallest shares
    return f"1 in {odds:,.0f}" if odds < 1_000_000 else f"1 in {_power_of_ten(odds)}"


def weight(share: float) -> str:
    """Write an attention weight of 0 to 1 as the list beside a map does: 0.952."""
    return f"{share:.3f}"


def points(difference: float) -> str:
    """Write a difference of two shares in percentage points with its sign: +55.4, −0.45, or 0 where it rounds to nothing."""
    value = abs(100 * difference)
    decimals = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    written = f"{value:.{decimals}f}"
    return f"{'+' if difference > 0 else '−'}{written}" if float(written) else "0"


def whole_percent(share: float) -> str:
    """Write a share of 0 to 1 without decimals: 83 %."""
    return f"{100 * share:.0f}{SIGN}"


def small_number(number: float) -> str:
    """Write a difference so that its size is visible: 0.358, 1.2 × 10⁻⁶, 0."""
    if number == 0 or abs(number) >= MIN_DECIMAL:
        return f"{number:.3f}" if number else "0"
    digits, exponent = f"{number:.1e}".split("e")
    return f"{digits} × 10{str(int(exponent)).translate(SUPERSCRIPTS)}"


def change_verdict(change: float, moved: str) -> str:
    """Return `moved` if a change of a model's vectors is more than rounding may cause, else how small it is: not why."""
    if change > ROUNDING:
        return moved
    return NEARLY_UNCHANGED if change else UNCHANGED


def plural(count: int, pair: tuple[str, str]) -> str:
    """Choose the template for a count."""
    return pair[0] if count == 1 else pair[1]


def signed(number: float, decimals: int = 2) -> str:
    """Write a number that may be below zero, with a true minus sign and never as −0: 0.36, −1.20."""
    return f"{round(float(number), decimals) + 0.0:.{decimals}f}".replace("-", "−")


def large_number(number: float) -> str:
    """Write a number of 1 or more with at most three significant digits: 2.3, 108, 91,600, 3 × 10⁷ from a million on."""
    if number < 1_000_000:
        return f"{float(f'{number:.3g}'):,.0f}" if number >= 10 else f"{number:.2g}"
    return _power_of_ten(Decimal(number))


def _power_of_ten(number: Decimal) -> str:
    digits, exponent = f"{number:.0e}".split("e")
    power = f"10{str(int(exponent)).translate(SUPERSCRIPTS)}"
    return power if digits == "1" else f"{digits} × {power}"


def duration(seconds: float) -> str:
    """Write how long something may take: about 20 seconds, about 3 minutes."""
    if seconds < 95:
        return f"about {max(1, round(seconds / 10)) * 10} seconds"
    return f"about {math.ceil(seconds / 60)} minutes"
