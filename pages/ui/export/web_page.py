"""A view as one HTML file that works by itself: the page's own drawing and the data within, nothing fetched from anywhere."""

import base64
import hashlib
from functools import cache
from html import escape

import streamlit as st

from pages.ui.canvas.modules import read_style, single_script
from pages.ui.export.exhibit import Alone, Exhibit
from pages.ui.shell.address import widget_key
from pages.ui.shell.plain_names import one_line

MAX_TABLE_ROWS = 2000
START = "web_page/page.js"


def web_page(page: str, exhibit: Exhibit) -> None:
    """Offer the file; it is written only when it is asked for."""
    colours = "in the colours of this page" if exhibit.alone.document else "in the light and in the dark"
    st.markdown(
        f"One file that opens in any browser, also without a network: {exhibit.alone.told}. "
        f"It holds what is shown now, {colours}."
    )
    st.download_button(
        "Save as HTML",
        lambda: stand_alone(exhibit),
        f"{exhibit.file_name}.html",
        "text/html",
        key=widget_key(page, "web_page"),
        on_click="ignore",
        icon=":material/download:",
    )


def stand_alone(exhibit: Exhibit) -> str:
    """Write the file. Tokens travel as base64 and texts are escaped, so that neither is ever markup or script.

    Its own content policy lets nothing run but its one script, and nothing be fetched.
    """
    alone = exhibit.alone
    if alone.document:
        return alone.document()
    script = f"\n{single_script(alone.module, START)}"
    policy = f"default-src 'none'; script-src '{_digest(script)}'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(one_line(exhibit.title))}</title>",
            f"<style>{_style(alone.styles)}</style>",
            "</head>",
            "<body>",
            "<main>",
            f"<h1>{escape(one_line(exhibit.title))}</h1>",
            f"<p><bdi>{escape(one_line(exhibit.caption))}</bdi></p>",
            '<div class="attention-view mask-grid" id="view"></div>',
            *_table(alone),
            f'<div id="data" hidden>{base64.b64encode(alone.data()).decode("ascii")}</div>',
            "</main>",
            f"<script>{script}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _table(alone: Alone) -> list[str]:
    """Write the numbers below what cannot be pointed at; of very many the first, and say so."""
    if not alone.columns:
        return []
    rows = alone.rows()
    left = [f"<p>The first {MAX_TABLE_ROWS:,} of {len(rows):,} rows; all of them are in the files of numbers.</p>"]
    return [
        '<div class="table" tabindex="0" role="region" aria-label="The numbers">',
        "<table>",
        _row(alone.columns, '<th scope="col">', "</th>"),
        *(_row(row, "<td>", "</td>") for row in rows[:MAX_TABLE_ROWS]),
        "</table>",
        "</div>",
        *(left if len(rows) > MAX_TABLE_ROWS else []),
    ]


def _row(cells: tuple, opening: str, closing: str) -> str:
    return f"<tr>{''.join(f'{opening}<bdi>{escape(_cell(cell))}</bdi>{closing}' for cell in cells)}</tr>"


def _cell(value: str | float | int | None) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


@cache
def _style(styles: tuple[str, ...]) -> str:
    return "\n".join(map(read_style, ("web_page/page.css", *styles)))


def _digest(script: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"
