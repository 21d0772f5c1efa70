"""What charts have in common: colours, and labels that plotly takes for nothing but text.

Plotly reads tags and entities in its texts, so every label from a text or a vocabulary goes through `plain`.
"""

from html import escape

ONE_COLOUR = "#3f83cf"
"""At least 3:1 on the white and on the dark background."""
LINE_COLOURS = ("#3f83cf", "#c7722b", "#3a9468", "#a267cf", "#c4577f", "#8c7f2c", "#5f7f8f", "#c0564a")
"""At least 3:1 on the white and on the dark background; dashes and marks tell lines apart without colour."""
DASHES = ("solid", "dash", "dot", "dashdot")
BELOW_ZERO = "#c7722b"
"""At least 3:1 on the white and on the dark background, and distinct from blue with any kind of colour vision."""
INK = {False: "#0f1720", True: "#e8edf2"}
"""Text, on a light and on a dark background; as in .streamlit/config.toml."""
BACKGROUND = {False: "#ffffff", True: "#10151b"}
"""The page, light and dark; as in .streamlit/config.toml."""
BAR_HEIGHT = 27
QUIET = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False, "responsive": True}
"""What `st.plotly_chart(config=…)` takes so that a chart leaves scrolling and touching to the page."""


def plain(text: str) -> str:
    """Escape a text for plotly, and replace characters that cannot be seen."""
    return escape("".join(character if character.isprintable() else "�" for character in text))
