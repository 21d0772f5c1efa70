"""What the page before Streamlit's scripts tells its script."""

import json
import re


def read_told(page: str) -> dict:
    """Read what early.js is told in the HTML of a page; raise AttributeError for a page that has no picture of its own."""
    return json.loads(re.search('<script type="application/json" id="early-told">(.*?)</script>', page)[1])
