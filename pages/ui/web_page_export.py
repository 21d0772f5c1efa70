"""The map as one HTML file that works by itself: the page's own drawing and the data within, nothing fetched from anywhere."""

import base64
import hashlib
import re
from functools import cache
from html import escape

import streamlit as st

from pages.ui.address import key
from pages.ui.attention_view import ASSETS, MAP_MODULES, joined
from pages.ui.before_after import MODULES as BEFORE_AFTER_MODULES
from pages.ui.carried import Carried


def web_page(page: str, carried: Carried) -> None:
    """Offer the file; it is written only when it is asked for."""
    st.markdown(
        "One file that opens in any browser, also without a network: point at cells, choose tokens, zoom. "
        "It holds what is shown now, in the light and in the dark."
    )
    st.download_button(
        "Save as HTML", lambda: stand_alone(carried), f"{carried.file_name}.html", "text/html",
        key=key(page, "web_page"), on_click="ignore", icon=":material/download:",
    )  # fmt: skip


def stand_alone(carried: Carried) -> str:
    """Write the file. Tokens travel as base64 and texts are escaped, so that neither is ever markup or script.

    Its own content policy lets nothing run but its one script, and nothing be fetched.
    """
    script = _script(carried.shown.before is not None)
    policy = f"default-src 'none'; script-src '{_digest(script)}'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    return "\n".join([
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(carried.title)}</title>",
        f"<style>{_style()}</style>",
        "</head>",
        "<body>",
        "<main>",
        f"<h1>{escape(carried.title)}</h1>",
        f"<p><bdi>{escape(carried.caption)}</bdi></p>",
        '<div class="attention-view" id="view"></div>',
        f'<div id="data" hidden>{base64.b64encode(carried.packed()).decode("ascii")}</div>',
        "</main>",
        f"<script>{script}</script>",
        "</body>",
        "</html>",
        "",
    ])  # fmt: skip


@cache
def _script(compared: bool) -> str:
    """Join the modules of the map, or of before and after, and what starts them, as one script without exports."""
    modules = (*(BEFORE_AFTER_MODULES if compared else MAP_MODULES), "../web_page/page.js")
    named = re.sub(r"export default function \w+", "function mountView", joined(modules))
    return f"\n{named}"


@cache
def _style() -> str:
    return "\n".join((ASSETS / name).read_text("utf-8") for name in ("../web_page/page.css", "view.css"))


def _digest(script: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"
