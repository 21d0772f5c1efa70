"""What a page offers below its picture: numbers as tables, and the menu of data and code; the stage makes figures."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

import streamlit as st

from pages.ui.export import texts
from pages.ui.export.records import DataTable, Export, Exports, PartNumbers, drawings_export, drawings_table
from pages.ui.shell.address import is_offered, set_values, view_link, widget_binding, widget_key
from pages.ui.shell.controls import download_button
from pages.ui.shell.frame import explain
from pages.ui.shell.level import is_hidden
from pages.ui.stage.charts import Drawing
from pages.ui.stage.sources import file_stem, one_line
from tx_core.analysis.table_file import MOST
from tx_core.errors import ExplorerError

MOST_SHOWN = 5000
"""Rows of a table on the page: the files hold all."""


def offer_tables(
    page: str, make: Callable[[], Sequence[DataTable]], title: str = texts.NUMBERS_TABLE, *, name: str = "table"
) -> None:
    """Offer numbers as tables, which are made only when their box is opened. name: tells several boxes of a page apart."""
    if not is_offered("tables"):
        return
    folded = st.expander(title, key=widget_key(page, name), on_change="rerun")
    if not folded.open:
        return
    with folded:
        for table in make():
            if table.note:
                st.caption(table.note)
            rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows[:MOST_SHOWN]]
            numbers = {name for row in rows for name, value in row.items() if isinstance(value, float)}
            shown = {name: st.column_config.NumberColumn(format="%.4g") for name in numbers}
            st.dataframe(rows, hide_index=True, column_config=shown)
            if len(table.rows) > MOST_SHOWN:
                st.caption(texts.TABLE_CUT.format(shown=MOST_SHOWN, all=len(table.rows)))


def offer_drawings(
    page: str,
    numbers: Callable[[], PartNumbers],
    draw: Callable[[], Sequence[Drawing]],
    place: str = "",
    more: Exports = MappingProxyType({}),
) -> None:
    """Offer drawings as a table and for export; they are made once one of both is opened.

    place: tells several such parts of a page apart. more: other views of the same menu.
    """
    name = f"{page}_{place}" if place else page
    offer_tables(name, lambda: [drawings_table(draw())], name="export_table")
    exports = {texts.THIS_PART: lambda: drawings_export(numbers(), draw()), **more}
    export_menu(page, exports, texts.TITLE_WITHOUT_STAGE if place else texts.TITLE, place=place)


def export_menu(page: str, exports: Exports, title: str = texts.TITLE, *, place: str = "") -> None:
    """Offer data and code of the views of a page; nothing is made before the menu is opened.

    Call it where the views were drawn, so that it follows every click. place: tells several menus of a page apart.
    """
    if not is_offered("export") or is_hidden("forms"):
        return
    name = f"{page}_{place}" if place else page
    menu = st.expander(title, key=widget_key(name, "export"), on_change="rerun")
    if menu.open:
        with menu:
            try:
                _show(name, exports, view_link(page))
            except ExplorerError as problem:  # a run that left the cache may fail when it is repeated
                explain(problem)


def _show(page: str, exports: Exports, link: str) -> None:
    name = _choose(page, "export_view", texts.ASK_VIEW, list(exports)) if len(exports) > 1 else next(iter(exports))
    export = replace(exports[name](), link=link)
    forms = {texts.DATA: show_data, texts.CODE: show_code}
    form = _choose(page, "export_form", texts.ASK_FORM, list(forms))
    forms[form](page, export)


def _choose(page: str, name: str, label: str, options: list[str]) -> str:
    """Ask for one of the options; a choice that this view lacks is replaced by the first."""
    key = widget_key(page, name)
    if st.session_state.get(key) not in options:
        set_values(page, {name: options[0]})
    return st.segmented_control(label, options, required=True, label_visibility="collapsed", **widget_binding(key))


def show_data(page: str, export: Export) -> None:
    """Offer the files; a view with several sets of numbers lets the reader choose one."""
    several = len(export.tables) > 1
    name = _choose(page, "data_scope", texts.ASK_DATA, list(export.tables)) if several else next(iter(export.tables))
    data, stem = export.tables[name], f"{export.file_name}-{file_stem(name.lower())}" if several else export.file_name
    st.caption(f"{texts.ROWS.format(count=data.rows)} {texts.EVERY_FILE}")
    with st.container(horizontal=True):
        for form, write in data.files.items():
            download_button(
                texts.SAVE_AS.format(form=form.upper()),
                partial(write, export.source) if write else b"",
                f"{stem}.{form}",
                key=widget_key(page, f"data_{form}"),
                disabled=write is None,
            )
    if None in data.files.values():
        st.info(texts.TOO_LARGE.format(**MOST))


def show_code(page: str, export: Export) -> None:
    """Show the code, ready to be copied; every kind ends with the numbers on the screen."""
    kinds = [texts.PROJECT_CODE, *([texts.TRANSFORMERS_CODE] if export.transformers else [])]
    kind = _choose(page, "code_kind", texts.ASK_CODE, kinds) if kinds[1:] else texts.PROJECT_CODE
    # Streamlit's colours for Python are too pale in the light theme.
    st.code(written(export, kind), language=None, wrap_lines=True)
    if kind == texts.PROJECT_CODE:
        st.caption(texts.NEEDS_PROJECT)
    save, key = partial(notebook, export, kind), widget_key(page, "notebook")
    download_button(texts.SAVE_NOTEBOOK, save, f"{export.file_name}.ipynb", key=key)


def written(export: Export, kind: str) -> str:
    """Return the code of a view below comments on what it computes and needs. kind: `texts.PROJECT_CODE`, or the other one."""
    body, needs = (export.project(), export.needs) if kind == texts.PROJECT_CODE else (export.transformers, [])
    title = texts.CODE_TITLES[kind].format(title=one_line(export.numbers.title))
    return "\n".join([*(f"# {line}" for line in (title, one_line(export.origin), *needs)), body])


def notebook(export: Export, kind: str) -> str:
    """Return the code of a view as a Jupyter notebook, below what it needs and the link of the view. kind: as of `written`."""
    code = written(export, kind).strip()
    parts = code.split("\n\n")  # imports, variables, numbers: none holds an empty line
    told = [texts.NOTEBOOK_NEEDS[kind], *([texts.NOTEBOOK_LINK.format(link=export.link)] if export.link else [])]
    cells = [{"cell_type": "markdown", "source": "\n\n".join(told)}]
    cells += [{"cell_type": "code", "source": part, "execution_count": None, "outputs": []} for part in parts]
    numbered = [{"id": f"cell-{number}", "metadata": {}, **cell} for number, cell in enumerate(cells)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"cells": numbered, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}, ensure_ascii=False, indent=1)
