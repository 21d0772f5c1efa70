"""Shares as horizontal bars: a chart as words and numbers, for the page and for exported figures; and its component.

What a chart holds is drawn twice: by assets/canvas/bars on the page, by assets/canvas/figure in a figure.
"""

from collections.abc import Sequence

from pages.ui.canvas import drawings, texts
from pages.ui.canvas.component import component
from pages.ui.canvas.drawings import Chart
from pages.ui.canvas.figures import ONE_COLOUR
from pages.ui.shell.numbers import percent, points

MODULE = "bars/chart.js"


def probability_chart(title: str, labels: Sequence[str], shares: Sequence[float], *, limit: float, note: str = "") -> Chart:
    """Make a horizontal bar of each label, the first on top, with its share in words at its end.

    shares: 0 to 1. limit: where the axis ends, the same for all charts that are compared. Raises ValueError when there
    are not as many labels as shares.
    """
    if len(labels) != len(shares):
        raise ValueError(f"every share needs a label, got {len(shares)} and {len(labels)}")
    return {
        "kind": "bars",
        "title": title,
        "labels": list(labels),
        "values": [min(share, limit) for share in shares],
        "shares": list(shares),
        "ends": [percent(share) for share in shares],
        "colours": [ONE_COLOUR],
        "names": True,
        "from": 0,
        "to": limit,
        "ticks": _shares_of(limit),
        "cut": [share > limit for share in shares],
        "note": note,
    }


def moved_chart(
    title: str,
    labels: Sequence[str],
    before: Sequence[float],
    after: Sequence[float],
    *,
    limit: float,
    sides: tuple[str, str] = (texts.BEFORE, texts.AFTER),
) -> Chart:
    """Make a row of each label: its share before in outline, after filled, an arrow between, both numbers and the difference.

    Shares and limit are as for `probability_chart`. sides: what the two shares are of, where they are not before and after.
    """
    pairs = list(zip(before, after, strict=True))
    return {
        "kind": "moved",
        "title": title,
        "labels": list(labels),
        "ends": [_both(*pair) for pair in pairs],
        "deltas": [points(other - one) for one, other in pairs],
        "delta": texts.DELTA,
        "sides": list(sides),
        "colour": ONE_COLOUR,
        "to": limit,
        "before": [min(one, limit) for one, _ in pairs],
        "after": [min(other, limit) for _, other in pairs],
        "ticks": _shares_of(limit),
        "cut": [[share > limit for share in pair] for pair in pairs],
    }


def _both(before: float, after: float) -> str:
    """Write two shares, with one percent sign where both have one."""
    one, other = percent(before), percent(after)
    return f"{one.removesuffix(' %') if other.endswith(' %') else one} → {other}"


def bars_in_words(title: str, labels: Sequence[str], shares: Sequence[float]) -> str:
    """Say what a chart of bars shows, for those who cannot see it."""
    bars = ", ".join(f"{label} {percent(share)}" for label, share in zip(labels, shares, strict=True))
    return f"{title}: {bars}."


def show_bars(chart: Chart, details: Sequence[str] | None = None, *, key: str) -> None:
    """Draw a chart on the page; whoever points at a bar, or comes to it by keyboard, reads its detail, if it has one.

    A change of its numbers moves its bars; what stands at their ends is theirs at once.
    Raises ValueError when there are not as many texts as bars.
    """
    if details is not None and len(details) != len(chart["labels"]):
        raise ValueError(f"every bar needs a text, got {len(chart['labels'])} and {len(details)}")
    drawings.note(lambda: [drawings.bars_drawing(chart)])
    component("bars", "bars-view", MODULE, "bars/bars.css", height=262)(key=key, data=chart | {"details": list(details or ())})


def _shares_of(limit: float) -> list[dict[str, object]]:
    return [{"at": share, "text": f"{100 * share:.3g} %"} for share in (0, limit / 2, limit)]
