"""A small store of keys and values that a reader edits and queries: attention as a soft dictionary lookup."""

import numpy as np
import streamlit as st

from pages.self_attention import texts
from pages.self_attention.inputs import ANSWER, PAGE, QUERIES, QUERY_FIELDS, STORE_FIELDS, Table, store_of
from pages.ui.export.computation import call, named
from pages.ui.export.menu import offer_drawings
from pages.ui.export.records import PartNumbers
from pages.ui.shell.address import value_of, widget_key
from pages.ui.shell.frame import explain
from pages.ui.shell.level import is_hidden
from pages.ui.stage.matrices import Matrix, MatrixSteps, Origin, cell_origin, numbers_from_1
from pages.ui.stage.pictures import Picture, pictures_beside
from tx_core.errors import ExplorerError
from tx_core.lessons.key_value import DIVISOR, LookupResult, look_up
from tx_core.lessons.key_value_store import LARGEST, MAX_STORE_ROWS, WIDTH, Store, VectorRow

OVER_KEYS = ("matches", "scores", "weights")
"""Matrices with a column per row of the store."""
HEIGHT = 340
"""Of the picture, in pixels."""


def show_store() -> None:
    """Offer the editor of the store and the query, and the lookup step by step; open where a link or a reader changed it."""
    if is_hidden("store"):
        return
    key = widget_key(PAGE, "store_box")
    st.session_state.setdefault(key, any(value_of(PAGE, field.name) != field.default for field in (*STORE_FIELDS, ANSWER)))
    folded = st.expander(f"**{texts.STORE}**", icon=":material/key:", key=key, on_change="rerun")
    if not folded.open:
        return
    with folded:
        st.markdown(texts.STORE_TEXT)
        left, right = st.columns([2, 1], gap="medium")
        with right:
            query = _ask_query()
        try:
            with left:
                store = _ask_store()
            _show_answer(store, query)
        except ExplorerError as problem:
            explain(problem)


def _ask_query() -> VectorRow:
    keys = [widget_key(PAGE, name) for name in QUERY_FIELDS]

    def choose(numbers: tuple[int, ...]) -> None:
        st.session_state.update({key: float(number) for key, number in zip(keys, numbers, strict=True)})

    st.markdown(texts.QUERY)
    with st.container(horizontal=True, gap="small"):
        for number, preset in enumerate(QUERIES):
            st.button(str(preset), key=f"{PAGE}_preset{number}", on_click=choose, args=(preset,))
    limits = {"min_value": -LARGEST, "max_value": LARGEST, "step": 1.0, "format": "%g"}
    return tuple(
        column.number_input(texts.QUERY_NUMBER.format(number=number), key=key, **limits)
        for number, (column, key) in enumerate(zip(st.columns(WIDTH, gap="small"), keys, strict=True), start=1)
    )


def _ask_store() -> Store:
    """Show the editor of the store; a table that came from elsewhere than the editor starts it anew."""
    kept, edited, start = widget_key(PAGE, "store"), f"{PAGE}_edited", f"{PAGE}_start"
    if st.session_state.get(edited) != st.session_state[kept] or start not in st.session_state:
        number, _ = st.session_state.get(start, (0, None))
        st.session_state[start] = (number + 1, st.session_state[kept])
        st.session_state[edited] = st.session_state[kept]
    number, table = st.session_state[start]
    cells, key = [_cells(row) for row in table], f"{PAGE}_table{number}"

    def keep() -> None:
        """Keep an edited table before the page runs: its stage, above, writes the address."""
        try:
            written = _table(_edited(cells, st.session_state[key]))
            store_of(written)
        except ExplorerError:
            return  # the page explains it below the editor
        st.session_state[kept] = st.session_state[edited] = written

    st.markdown(texts.STORE_TABLE.format(rows=MAX_STORE_ROWS))
    bounded = {name: st.column_config.NumberColumn(min_value=-LARGEST, max_value=LARGEST, format="%g") for name in cells[0]}
    rows = st.data_editor(cells, num_rows="dynamic", key=key, column_config=bounded, hide_index=True, on_change=keep)
    return store_of(_table(rows))


def _edited(rows: list[dict[str, float]], edits: dict) -> list[dict[str, float | None]]:
    """Return rows as an editor changed them."""
    changed = [row | edits["edited_rows"].get(place, {}) for place, row in enumerate(rows)]
    return [row for place, row in enumerate(changed) if place not in edits["deleted_rows"]] + edits["added_rows"]


def _table(rows: list[dict[str, float | None]]) -> Table:
    return tuple((_numbers(row, "key"), _numbers(row, "value")) for row in rows)


def _cells(row: tuple[VectorRow, VectorRow]) -> dict[str, float]:
    return {
        texts.STORE_COLUMNS[kind].format(number=number): float(value)
        for kind, numbers in zip(("key", "value"), row, strict=True)
        for number, value in enumerate(numbers, start=1)
    }


def _numbers(row: dict[str, float | None], kind: str) -> VectorRow:
    return tuple(row.get(texts.STORE_COLUMNS[kind].format(number=number)) for number in range(1, WIDTH + 1))


def _show_answer(store: Store, query: VectorRow) -> None:
    """Show one lookup, and offer its numbers."""
    answer = look_up(store, query)
    numbers = ", ".join(f"{number:.2f}".rstrip("0").rstrip(".") for number in answer.result[0].tolist())
    weights = (texts.ROW_WEIGHT.format(row=row, weight=weight) for row, weight in enumerate(answer.weights[0].tolist(), start=1))
    st.markdown(texts.FOUND.format(numbers=numbers, weights=" · ".join(weights)))
    picture = Picture(MatrixSteps(lookup_matrices(store, query, answer)))
    view = {"cell": ANSWER.write(value_of(PAGE, "answer")), "matrices": "all", "numbers": "1"}
    pictures_beside(PAGE, "lookup", [picture], HEIGHT, view, tells="answer")
    found = named("found", call(look_up, store, tuple(query)))
    about = {"keys": [list(row) for row in store.keys], "values": [list(row) for row in store.values], "query": list(query)}
    shown = [found.matches, found.scores, found.weights, found.result]
    part = PartNumbers(texts.EXPORT_STORE, about, shown)
    offer_drawings(PAGE, lambda: part, lambda: picture.drawings, place="store")


def lookup_matrices(store: Store, query: VectorRow, answer: LookupResult) -> list[Matrix]:
    """Return one lookup as matrices, from the query to the result."""
    rows = tuple(texts.STORE_ROW.format(row=row) for row in range(1, len(store.keys) + 1))

    def of_query(name: str, formula: str, values: object, group: str, origin: Origin | None, lead: str = "→") -> Matrix:
        columns, kind = (rows, "key") if name in OVER_KEYS else (numbers_from_1(WIDTH), "number")
        cells, title = np.array(values, np.float32), texts.STORE_TITLES[name]
        return Matrix(name, title, formula, cells, (texts.STORE_QUERY,), columns, "", kind, origin, group, lead=lead)

    def of_store(name: str, formula: str, values: object, group: str, lead: str) -> Matrix:
        cells, title = np.array(values, np.float32), texts.STORE_TITLES[name]
        return Matrix(name, title, formula, cells, rows, numbers_from_1(WIDTH), "row", "number", None, group, lead=lead)

    divided = cell_origin("divided", "matches", divisor=DIVISOR, written="8")
    return [
        of_query("query", "q", [query], "keys", None),
        of_store("key", "K", store.keys, "keys", ""),
        of_query("matches", "qKᵀ", answer.matches.numpy(), "matches", cell_origin("product", "query", "key", transposed=True)),
        of_query("scores", "÷ √64 = ÷ 8", answer.scores.numpy(), "matches", divided),
        of_query("weights", "softmax", answer.weights.numpy(), "shares", cell_origin("shares", "scores", how="softmax")),
        of_store("value", "V", store.values, "values", "·"),
        of_query("result", "weights · V", answer.result.numpy(), "values", cell_origin("product", "weights", "value"), "="),
    ]
