"""The export menu of a page: its views as a figure, data, a web page, or code.

A web page is one HTML file with its own drawing and data; it loads nothing from any server.
"""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from html import escape

import streamlit as st

from pages.ui.canvas.component import read_style, single_script
from pages.ui.export import texts
from pages.ui.export.data import show_data
from pages.ui.export.figure import show_figure
from pages.ui.export.records import Export, Exports, WebPage, one_line
from pages.ui.shell.address import is_offered, view_link, widget_binding, widget_key
from pages.ui.shell.controls import download_button
from pages.ui.shell.frame import explain
from pages.ui.shell.level import is_hidden
from tx_core.errors import ExplorerError

CODE_KINDS = {"project": texts.PROJECT_CODE, "transformers": texts.TRANSFORMERS_CODE}


def export_menu(page: str, exports: Exports, title: str = texts.TITLE, *, place: str = "") -> None:
    """Offer the views of a page in every form; nothing is made before the menu is opened.

    Call it where the views were drawn, so that it follows every click. place: tells several menus of a page apart.
    """
    if not is_offered("export"):
        return
    name = f"{page}_{place}" if place else page
    title = texts.PICTURE_TITLE if is_hidden("forms") else title
    menu = st.expander(title, key=widget_key(name, "export"), on_change="rerun")
    if menu.open:
        with menu:
            try:
                _show(name, exports, view_link(page))
            except ExplorerError as problem:  # a run that left the cache may fail when it is repeated
                explain(problem)


def _show(page: str, exports: Exports, link: str) -> None:
    name = next(iter(exports))
    if len(exports) > 1:
        name = _choose(page, "export_view", texts.ASK_VIEW, list(exports))
    export = replace(exports[name](), link=link)
    forms = {texts.FIGURE: show_figure, texts.DATA: show_data, texts.WEB_PAGE: show_web_page, texts.CODE: show_code}
    if export.figure is None:
        del forms[texts.FIGURE]
    if export.web_page is None:
        del forms[texts.WEB_PAGE]
    if is_hidden("forms") and export.figure is not None:
        show_figure(page, export)
        return
    form = _choose(page, "export_form", texts.ASK_FORM, list(forms))
    forms[form](page, export)


def _choose(page: str, name: str, label: str, options: list[str]) -> str:
    """Ask for one of the options; a choice that this view lacks is replaced by the first."""
    if st.session_state.get(widget_key(page, name)) not in options:
        st.session_state[widget_key(page, name)] = options[0]
    return st.segmented_control(
        label, options, required=True, label_visibility="collapsed", **widget_binding(widget_key(page, name))
    )


def show_code(page: str, export: Export) -> None:
    """Show the code, ready to be copied; every kind ends with the numbers on the screen."""
    kind, code = "project", export.code
    if code.transformers:
        kind = st.segmented_control(
            texts.ASK_CODE,
            list(CODE_KINDS),
            format_func=CODE_KINDS.get,
            default="project",
            required=True,
            key=widget_key(page, "code_kind"),
            label_visibility="collapsed",
        )
    # Streamlit's colours for Python are too pale in the light theme.
    st.code(written(export, kind), language=None, wrap_lines=True)
    note = texts.NEEDS_PROJECT if kind == "project" else code.omitted
    st.caption(f"{note} {code.result}".strip())


def written(export: Export, kind: str) -> str:
    """Return the code of a view below comments on what it computes and needs. kind: of `CODE_KINDS`."""
    body = export.code.transformers() if kind == "transformers" else export.code.project()
    title = texts.CODE_TITLES[kind].format(title=one_line(export.title))
    return "\n".join([*(f"# {line}" for line in (title, one_line(export.origin), *export.needs(kind))), body])


MAX_TABLE_ROWS = 2000
START = "web_page/page.js"
POLICY = "default-src 'none'; script-src '{digest}'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def show_web_page(page: str, export: Export) -> None:
    """Offer the file; it is written only when the reader downloads it."""
    about = texts.WEB_PAGE_FILE_ONE_THEME if export.web_page.document else texts.WEB_PAGE_FILE
    st.markdown(f"{about} {export.web_page.description}")
    download_button(
        texts.SAVE_WEB_PAGE, lambda: stand_alone(export), f"{export.file_name}.html", key=widget_key(page, "web_page")
    )


def stand_alone(export: Export) -> str:
    """Return the stand-alone HTML file.

    Tokens travel as base64 and texts are escaped, so neither can become markup or script.
    """
    web_page = export.web_page
    if web_page.document:
        return web_page.document(export.full_caption)
    body = [
        f"<p><bdi>{escape(one_line(export.full_caption))}</bdi></p>",
        '<div class="attention-view mask-grid" id="view"></div>',
        *_table(web_page),
        f'<div id="data" hidden>{base64.b64encode(web_page.data()).decode("ascii")}</div>',
    ]
    return _document(one_line(export.title), _style(web_page.styles), body, single_script(web_page.module, START))


def _document(title: str, style: str, body: Sequence[str], script: str) -> str:
    """Write a whole HTML page. Its content security policy allows its one script, named by its hash, and no request.

    title: text, which is escaped; also the heading. body: markup below it.
    """
    script = f"\n{script}"
    digest = f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY.format(digest=digest))}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            f"<style>{style}</style>",
            "</head>",
            "<body>",
            "<main>",
            f"<h1>{escape(title)}</h1>",
            *body,
            "</main>",
            f"<script>{script}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _table(web_page: WebPage) -> list[str]:
    """Return the HTML table, cut at MAX_TABLE_ROWS with a note."""
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
