"""Arrays and labels in, a plotly figure out: the only home of plotly.

Plotly reads tags and entities in its texts, so every label from a text or a vocabulary goes through `plain`.
"""

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

ONE_COLOUR = "#3f83cf"
"""At least 3:1 on the white and on the dark background."""
INK = {False: "#0f1720", True: "#e8edf2"}
"""What is written, on a light and on a dark background."""
BAR_HEIGHT = 27
QUIET = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False, "responsive": True}
"""What `st.plotly_chart(config=…)` takes so that a chart leaves scrolling and touching to the page."""


def probability_bars(
    labels: Sequence[str], shares: Sequence[float], hover: Sequence[str], *, limit: float = 1.0, dark: bool = False
) -> go.Figure:
    """Draw a horizontal bar for each label, the first on top, with its share in words at its end.

    shares: 0 to 1. hover: what is told of each. limit: where the axis ends, the same for all charts that are compared.
    dark: the page's background is.
    Raises ValueError when there are not as many labels and texts as shares.
    """
    if not len(labels) == len(shares) == len(hover):
        raise ValueError(f"every share needs a label and a text, got {len(shares)}, {len(labels)} and {len(hover)}")
    rows = list(range(len(labels)))
    bars = {
        "type": "bar", "orientation": "h", "x": [min(share, limit) for share in shares], "y": rows,
        "marker": {"color": ONE_COLOUR, "line": {"width": 0}},
        "text": [percent(share) for share in shares], "textposition": "outside", "cliponaxis": False,
        "textfont": {"size": 14, "color": INK[dark]},
        "customdata": [plain(text) for text in hover], "hovertemplate": "%{customdata}<extra></extra>",
    }  # fmt: skip
    names = {
        "tickvals": rows, "ticktext": [plain(label) + "  " for label in labels], "range": [len(rows) - 0.5, -0.5],
        "tickfont": {"size": 15, "color": INK[dark]}, "automargin": True, "fixedrange": True,
        "showgrid": False, "zeroline": False,
    }  # fmt: skip
    ends = {
        "range": [0, limit * 1.16], "tickvals": [0, limit / 2, limit], "tickformat": ".0%",
        "tickfont": {"size": 13, "color": INK[dark]}, "fixedrange": True, "zeroline": False,
    }  # fmt: skip
    layout = {
        "xaxis": ends, "yaxis": names, "height": BAR_HEIGHT * len(rows) + 34, "bargap": 0.32,
        "margin": {"l": 0, "r": 8, "t": 4, "b": 26, "pad": 0}, "dragmode": False, "showlegend": False,
        "hoverlabel": {"align": "left"},
    }  # fmt: skip
    return go.Figure([bars], layout)  # eight times faster than building it up by plotly's update methods


def shifted_bars(
    labels: Sequence[str], before: Sequence[float], after: Sequence[float], notes: Sequence[str], hover: Sequence[str],
    *, limit: float = 1.0, dark: bool = False,
) -> go.Figure:  # fmt: skip
    """Draw two horizontal bars for each label, before in outline and after filled, under both shares and a note in words.

    Shares, limit and dark are as for `probability_bars`.
    """
    rows = list(range(len(labels)))
    common = {"type": "bar", "orientation": "h", "y": rows, "customdata": [plain(text) for text in hover],
              "hovertemplate": "%{customdata}<extra></extra>", "cliponaxis": False}  # fmt: skip
    outline = {"color": "rgba(0,0,0,0)", "line": {"width": 1.5, "color": ONE_COLOUR}}
    told = [f"{percent(one)} → {percent(other)}  {note}" for one, other, note in zip(before, after, notes, strict=True)]
    bars = [
        {**common, "name": "before", "x": [min(share, limit) for share in before], "marker": outline},
        {**common, "name": "after", "x": [min(share, limit) for share in after], "marker": {"color": ONE_COLOUR}},
    ]
    names = {"range": [len(rows) - 0.5, -0.75], "showticklabels": False, "fixedrange": True, "showgrid": False, "zeroline": False}
    headings = [
        {"x": 0, "xref": "paper", "xanchor": "left", "y": row, "yanchor": "bottom", "yshift": 13, "showarrow": False,
         "text": f"<b>{plain(label)}</b>   {plain(text)}", "font": {"size": 14, "color": INK[dark]}}
        for row, label, text in zip(rows, labels, told, strict=True)
    ]  # fmt: skip
    ends = {
        "range": [0, limit * 1.02], "tickvals": [0, limit / 2, limit], "tickformat": ".0%",
        "tickfont": {"size": 13, "color": INK[dark]}, "fixedrange": True, "zeroline": False,
    }  # fmt: skip
    layout = {
        "xaxis": ends, "yaxis": names, "height": 56 * len(rows) + 76, "bargap": 0.55, "barmode": "group", "annotations": headings,
        "margin": {"l": 12, "r": 16, "t": 30, "b": 26, "pad": 0}, "dragmode": False, "hoverlabel": {"align": "left"},
        "legend": {"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0, "font": {"color": INK[dark]},
                   "itemclick": False, "itemdoubleclick": False},
    }  # fmt: skip
    return go.Figure(bars, layout)


def bars_in_words(title: str, labels: Sequence[str], shares: Sequence[float]) -> str:
    """Say what a chart of bars shows, for those who cannot see it."""
    told = ", ".join(f"{label} {percent(share)}" for label, share in zip(labels, shares, strict=True))
    return f"{title}: {told}."


def percent(share: float) -> str:
    """Write a share of 0 to 1 as a reader takes it in: 21.98 %, or 1 in 150,000 where it is below 0.01 %."""
    if share >= 0.0001 or share == 0:
        return f"{share:.2%}".replace("%", " %")
    odds = 1 / share
    return f"1 in {odds:,.0f}" if odds < 1e6 else f"1 in {_power(odds)}"


def _power(number: float) -> str:
    digits, exponent = f"{number:.0e}".split("e")
    ten = "10" + str(int(exponent)).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return ten if digits == "1" else f"{digits} × {ten}"


def plain(text: str) -> str:
    """Let plotly write a text as it stands, tags and entities included, and nothing that cannot be seen."""
    return escape("".join(character if character.isprintable() else "�" for character in text))
