"""A computation runs as it is written."""

from itertools import islice

import numpy as np

from pages.ui.export.computation import after, call, each, evaluate, load_call, named, python


def test_it_runs_as_it_is_written():
    table = named("table", call(np.arange, 12).reshape(3, 4), "rows and columns")
    rest = table[1:, [0, 2]] - (table[0, 1] + 1)
    sums = named("sums", each(table, lambda row: (row[:2].sum(), row[~call(np.isin, row, [1, 2])].tolist())))
    shown = [named("rest", rest).max(), sums, call(dict, sums)]
    code = python(shown)
    assert code.splitlines() == [
        "import numpy as np",
        "",
        "table = np.arange(12).reshape(3, 4)  # rows and columns",
        "rest = table[1:, [0, 2]] - (table[0, 1] + 1)",
        "sums = [(row[:2].sum(), row[~np.isin(row, [1, 2])].tolist()) for row in table]",
        "",
        "print(rest.max(), *sums, dict(sums), sep='\\n')",
    ]
    left = {}
    exec(code, left)  # noqa: S102
    assert evaluate(shown) == [left["rest"].max(), left["sums"], dict(left["sums"])]


def test_what_is_known_is_not_made_again_and_what_changes_another_is_made_before_it():
    engine = load_call("embedded")
    assert evaluate(engine.info.num_layers, engine=type("Engine", (), {"info": type("Info", (), {"num_layers": 7})})) == 7
    numbers = named("numbers", call(iter, [1, 2, 3, 4]))
    taken = named("taken", call(list, call(islice, numbers, 3)))
    rest = named("rest", call(list, after(taken, numbers)))
    assert evaluate(rest) == [4]
    assert python([rest]).splitlines()[3:5] == ["taken = list(islice(numbers, 3))", "rest = list(numbers)"]
