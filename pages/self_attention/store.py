"""A small store of keys and values that a reader edits and queries: attention as a soft dictionary lookup."""

import numpy as np
import streamlit as st

from pages.self_attention import texts
from pages.self_attention.one_head import count
from pages.ui.canvas.matrix_view import (
    Cell,
    Divided,
    Matrix,
    Origin,
    Product,
    Shares,
    cell_from_link,
    cell_to_link,
    chosen_cell,
    matrix_row,
)
from pages.ui.export.computation import call, named
from pages.ui.export.lessons import PartNumbers, draw_and_export
from pages.ui.shell.address import Field, widget_key
from pages.ui.shell.frame import explain
from tx_core.errors import ExplorerError
from tx_core.lessons.key_value import EXAMPLE, LARGEST, MAX_STORE_ROWS, WIDTH, LookupResult, Store, VectorRow, look_up


def store_numbers(store: Store, query: VectorRow) -> PartNumbers:
    """Return what one lookup in a store of keys and values is computed of."""
    found = named("found", call(look_up, store, tuple(query)))
    about = {"keys": [list(row) for row in store.keys], "values": [list(row) for row in store.values], "query": list(query)}
    shown = [found.matches, found.scores, found.weights, found.result]
    return PartNumbers(texts.EXPORT_STORE, about, shown, texts.EXPORT_STORE_RESULT)


QUERIES = ((0, 10, 0), (0, 0, 10), (10, 10, 0))
"""Queries offered as buttons."""
QUERY_FIELDS = ("q1", "q2", "q3")
OVER_KEYS = ("matches", "scores", "weights")
"""Matrices with a column per row of the store."""

Table = tuple[tuple[VectorRow, VectorRow], ...]
"""The rows of a store: a key, and its value."""


def read_table(written: str) -> Table:
    """Read a table as a link writes it; raise ValueError for one that cannot be used."""
    rows = [tuple(float(number) for number in row.split("_")) for row in written.split("~")]
    if any(len(row) != 2 * WIDTH for row in rows):
        raise ValueError(f"every row must hold {2 * WIDTH} numbers")
    table = tuple((row[:WIDTH], row[WIDTH:]) for row in rows)
    try:
        _store(table)
    except ExplorerError as problem:
        raise ValueError(str(problem)) from problem
    return table


def write_table(table: Table) -> str:
    """Write a table for a link."""
    return "~".join("_".join(f"{number:.10g}" for number in (*key, *value)) for key, value in table)


def read_number(written: str) -> float:
    """Read one number of the query from a link; raise ValueError for what is none, or too large."""
    number = float(written)
    if not abs(number) <= LARGEST:
        raise ValueError(f"must lie within ±{LARGEST:,.0f}")
    return number


FIELDS = (
    Field("store", tuple(zip(EXAMPLE.keys, EXAMPLE.values, strict=True)), read_table, write_table),
    Field("answer", Cell("result", 0, 0), cell_from_link, cell_to_link),
    *(Field(name, float(number), read_number, "{:.10g}".format) for name, number in zip(QUERY_FIELDS, QUERIES[0], strict=True)),
)


def show_store(page: str) -> None:
    """Draw the editor of the store and the query, and the lookup step by step."""
    left, right = st.columns([2, 1], gap="medium")
    with right:
        query = _ask_query(page)
    try:
        with left:
            store = _ask_store(page)
        draw_and_export(page, lambda: store_numbers(store, query), _show_answer, page, store, query, place="store")
    except ExplorerError as problem:
        explain(problem)


def _ask_query(page: str) -> VectorRow:
    keys = [widget_key(page, name) for name in QUERY_FIELDS]

    def choose(numbers: tuple[int, ...]) -> None:
        st.session_state.update({key: float(number) for key, number in zip(keys, numbers, strict=True)})

    st.markdown(texts.QUERY)
    with st.container(horizontal=True, gap="small"):
        for number, preset in enumerate(QUERIES):
            st.button(str(preset), key=f"{page}_preset{number}", on_click=choose, args=(preset,))
    for key in keys:  # even if unchanged: a browser that draws late then shows what is kept here, not the smallest number
        st.session_state[key] = st.session_state[key]
    limits = {"min_value": -LARGEST, "max_value": LARGEST, "step": 1.0, "format": "%g"}
    return tuple(
        column.number_input(texts.QUERY_NUMBER.format(number=number), key=key, **limits)
        for number, (column, key) in enumerate(zip(st.columns(WIDTH, gap="small"), keys, strict=True), start=1)
    )


def _ask_store(page: str) -> Store:
    """Show the editor of the store; a table that came from elsewhere than the editor starts it anew."""
    kept, edited, start = widget_key(page, "store"), f"{page}_edited", f"{page}_start"
    if st.session_state.get(edited) != st.session_state[kept] or start not in st.session_state:
        number, _ = st.session_state.get(start, (0, None))
        st.session_state[start] = (number + 1, st.session_state[kept])
    number, table = st.session_state[start]
    st.markdown(texts.STORE_TABLE.format(rows=MAX_STORE_ROWS))
    cells = [_cells(row) for row in table]
    bounded = {name: st.column_config.NumberColumn(min_value=-LARGEST, max_value=LARGEST, format="%g") for name in cells[0]}
    rows = st.data_editor(cells, num_rows="dynamic", key=f"{page}_table{number}", column_config=bounded, hide_index=True)
    table = tuple((_numbers(row, "key"), _numbers(row, "value")) for row in rows)
    store = _store(table)
    st.session_state[kept] = st.session_state[edited] = table
    return store


def _store(table: Table) -> Store:
    return Store(tuple(key for key, _ in table), tuple(value for _, value in table))


def _cells(row: tuple[VectorRow, VectorRow]) -> dict[str, float]:
    return {
        texts.STORE_COLUMNS[kind].format(number=number): float(value)
        for kind, numbers in zip(("key", "value"), row, strict=True)
        for number, value in enumerate(numbers, start=1)
    }


def _numbers(row: dict[str, float | None], kind: str) -> VectorRow:
    return tuple(row.get(texts.STORE_COLUMNS[kind].format(number=number)) for number in range(1, WIDTH + 1))


def _show_answer(page: str, store: Store, query: VectorRow) -> None:
    answer = look_up(store, query)
    numbers = ", ".join(f"{number:.2f}".rstrip("0").rstrip(".") for number in answer.result[0].tolist())
    weights = (texts.ROW_WEIGHT.format(row=row, weight=weight) for row, weight in enumerate(answer.weights[0].tolist(), start=1))
    st.markdown(texts.FOUND.format(numbers=numbers, weights=" · ".join(weights)))
    matrices = lookup_matrices(store, query, answer)
    name, chosen = f"{page}_answer_row", widget_key(page, "answer")

    def choose() -> None:
        st.session_state[chosen] = chosen_cell(name, matrices)

    matrix_row(matrices, st.session_state[chosen], names_title="", key=name, on_choose=choose, numbers=True)


def lookup_matrices(store: Store, query: VectorRow, answer: LookupResult) -> list[Matrix]:
    """Return one lookup as matrices, from the query to the result."""
    rows = tuple(texts.STORE_ROW.format(row=row) for row in range(1, len(store.keys) + 1))

    def of_query(name: str, formula: str, values: object, group: str, origin: Origin | None, lead: str = "→") -> Matrix:
        columns, kind = (rows, "key") if name in OVER_KEYS else (count(WIDTH), "number")
        cells, title = np.array(values, np.float32), texts.STORE_TITLES[name]
        return Matrix(name, title, formula, cells, (texts.STORE_QUERY,), columns, "", kind, origin, group, lead=lead)

    def of_store(name: str, formula: str, values: object, group: str, lead: str) -> Matrix:
        cells, title = np.array(values, np.float32), texts.STORE_TITLES[name]
        return Matrix(name, title, formula, cells, rows, count(WIDTH), "row", "number", None, group, lead=lead)

    return [
        of_query("query", "q", [query], "keys", None),
        of_store("key", "K", store.keys, "keys", ""),
        of_query("matches", "qKᵀ", answer.matches.numpy(), "matches", Product("query", "key", transposed=True)),
        of_query("scores", "÷ √64 = ÷ 8", answer.scores.numpy(), "matches", Divided("matches", 8.0, "8")),
        of_query("weights", "softmax", answer.weights.numpy(), "shares", Shares("scores")),
        of_store("value", "V", store.values, "values", "·"),
        of_query("result", "weights · V", answer.result.numpy(), "values", Product("weights", "value"), "="),
    ]
