"""What a page's charts of bars below its stage were sent."""

from streamlit.testing.v1 import AppTest

from tests.support.staged import below


def drawn_bars(app: AppTest) -> list[dict]:
    """Every chart of bars from the first to the last."""
    return [picture["chart"] for header in below(app) for picture in header["pictures"]]
