"""A view as one HTML file with its own drawing and data; it loads nothing from any server."""

import base64
import hashlib
from functools import cache
from html import escape

import streamlit as st

from pages.ui.canvas.component import read_style, single_script
from pages.ui.export import texts
from pages.ui.export.records import Export, WebPage, one_line
from pages.ui.shell.address import widget_key

MAX_TABLE_ROWS = 2000
START = "web_page/page.js"


def show_web_page(page: str, export: Export) -> None:
    """Offer the file; it is written only when the reader downloads it."""
    about = texts.WEB_PAGE_FILE_ONE_THEME if export.web_page.document else texts.WEB_PAGE_FILE
    st.markdown(f"{about} {export.web_page.description}")
    st.download_button(
        texts.SAVE_WEB_PAGE,
        lambda: stand_alone(export),
        f"{export.file_name}.html",
        "text/html",
        key=widget_key(page, "web_page"),
        on_click="ignore",
        icon=":material/download:",
    )


def stand_alone(export: Export) -> str:
    """Write the file. Its content security policy allows its one script and no request.

    Tokens travel as base64 and texts are escaped, so neither can become markup or script.
    """
    web_page = export.web_page
    if web_page.document:
        return web_page.document(export.full_caption)
    script = f"\n{single_script(web_page.module, START)}"
    digest = script_digest(script)
    policy = f"default-src 'none'; script-src '{digest}'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(one_line(export.title))}</title>",
            f"<style>{_style(web_page.styles)}</style>",
            "</head>",
            "<body>",
            "<main>",
            f"<h1>{escape(one_line(export.title))}</h1>",
            f"<p><bdi>{escape(one_line(export.full_caption))}</bdi></p>",
            '<div class="attention-view mask-grid" id="view"></div>',
            *_table(web_page),
            f'<div id="data" hidden>{base64.b64encode(web_page.data()).decode("ascii")}</div>',
            "</main>",
            f"<script>{script}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _table(web_page: WebPage) -> list[str]:
    """Write the table, cut at MAX_TABLE_ROWS with a note."""
    if not web_page.columns:
        return []
    rows = web_page.rows()
    cut = [f"<p>{texts.TABLE_CUT.format(shown=MAX_TABLE_ROWS, all=len(rows))}</p>"]
    return [
        f'<div class="table" tabindex="0" role="region" aria-label="{texts.TABLE_LABEL}">',
        "<table>",
        _row(web_page.columns, '<th scope="col">', "</th>"),
        *(_row(row, "<td>", "</td>") for row in rows[:MAX_TABLE_ROWS]),
        "</table>",
        "</div>",
        *(cut if len(rows) > MAX_TABLE_ROWS else []),
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


def script_digest(script: str) -> str:
    """Name a script by its hash, as a content security policy does."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"
