"""The fields of the store of keys and values in the page's address: its rows, the query, and the cell that is looked at."""

from pages.ui.shell.address import Field
from pages.ui.stage.matrices import Cell, cell_from_link, cell_to_link
from tx_core.errors import ExplorerError
from tx_core.lessons.key_value import EXAMPLE, LARGEST, WIDTH, Store, VectorRow

QUERIES = ((0, 10, 0), (0, 0, 10), (10, 10, 0))
"""Queries offered as buttons."""
QUERY_FIELDS = ("q1", "q2", "q3")

Table = tuple[tuple[VectorRow, VectorRow], ...]
"""The rows of a store: a key, and its value."""


def read_table(written: str) -> Table:
    """Read a table as a link writes it; raise ValueError for one that cannot be used."""
    rows = [tuple(float(number) for number in row.split("_")) for row in written.split("~")]
    if any(len(row) != 2 * WIDTH for row in rows):
        raise ValueError(f"every row must hold {2 * WIDTH} numbers")
    table = tuple((row[:WIDTH], row[WIDTH:]) for row in rows)
    try:
        store_of(table)
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


def store_of(table: Table) -> Store:
    """Return the rows as a store; raise ExplorerError for one that cannot be used."""
    return Store(tuple(key for key, _ in table), tuple(value for _, value in table))


OWN = (
    Field("store", tuple(zip(EXAMPLE.keys, EXAMPLE.values, strict=True)), read_table, write_table),
    *(Field(name, float(number), read_number, "{:.10g}".format) for name, number in zip(QUERY_FIELDS, QUERIES[0], strict=True)),
)
ANSWER = Field("answer", Cell("result", 0, 0), cell_from_link, cell_to_link)
