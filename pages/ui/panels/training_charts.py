"""How a training goes, as curves. Lines are drawn by ECharts, which grow in place where plotly would draw itself anew."""

from collections.abc import Mapping, Sequence

import streamlit as st

Spec = dict[str, object]
COLOURS = ("#3f83cf", "#c2751c")
"""Blue and orange: 3:1 or more on the white and on the dark background, and told apart with any colour vision."""


def curves(series: Mapping[str, Sequence[tuple[float, float]]], steps: int, unit: str, *, log: bool = False) -> Spec:
    """Draw each series as a line over the steps of a training, as the option object of `st.echarts_chart`.

    series: (step, value) pairs by name. steps: where the axis ends, so that the line grows into its place.
    unit: what a step is. log: by powers of ten, for losses; otherwise the axis is for shares, from 0 to 1.
    """
    value = {"type": "log", "logBase": 10} if log else {"type": "value", "min": 0, "max": 1}
    return {
        "animation": False,
        "color": list(COLOURS),
        "grid": {"left": 4, "right": 16, "top": 34, "bottom": 26, "containLabel": True},
        "legend": {"top": 0, "left": 0, "icon": "roundRect"},
        "tooltip": {"trigger": "axis", "valueFormatter": "%.3f"},
        "xAxis": {"type": "value", "min": 0, "max": steps, "name": unit, "nameLocation": "middle", "nameGap": 24},
        "yAxis": value,
        "series": [
            {
                "type": "line",
                "name": name,
                "showSymbol": len(pairs) == 1,
                "data": [list(pair) for pair in pairs],
                "lineStyle": {"width": 2, "type": "solid" if place == 0 else "dashed"},
            }
            for place, (name, pairs) in enumerate(series.items())
        ],
    }


def draw_curves(
    key: str, series: Mapping[str, Sequence[tuple[float, float]]], steps: int, unit: str, *, log: bool = False
) -> None:
    """Put curves on the page, said in words, too."""
    st.echarts_chart(curves(series, steps, unit, log=log), height=210, key=key, alt=f"By {unit}: {in_words(series)}")


def in_words(series: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Say how each line began and where it is now, for those who cannot see it."""
    told = [
        f"{name} was {pairs[0][1]:.3f} at first and is {pairs[-1][1]:.3f} after {pairs[-1][0]:g}"
        for name, pairs in series.items()
        if pairs
    ]
    return "; ".join(told) + "." if told else "Nothing yet."
