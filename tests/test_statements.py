"""Every statement with a claim in it is put to the model or to the formula: the list names texts and tests that exist."""

import ast
import json
import re

import pytest

from tests.support.serving import ROOT

ROWS = re.findall(
    r"^\| ([^|\s]+\.\w+): ([^|]+) \| ([^|]+) \| ([^|\s]+\.py): (test_\w+) \|$",
    (ROOT / "tests" / "statements.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)
"""File and name of the text, what it claims, file and name of the test."""


def names_in(path: str) -> set[str]:
    """Give what a file names: a module's assignments, functions and classes, or the titles of a file of examples."""
    source = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".json"):
        return {entry["title"] for entry in json.loads(source)}
    if not path.endswith(".py"):
        return set(source.splitlines())
    nodes = list(ast.walk(ast.parse(source)))
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return defined | {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def test_every_line_of_the_list_can_be_read():
    table = (ROOT / "tests" / "statements.md").read_text(encoding="utf-8")
    assert len(ROWS) == sum(line.startswith("| ") for line in table.splitlines()) - 1


@pytest.mark.parametrize(("file", "name", "claim", "test_file", "test"), ROWS)
def test_the_text_and_its_test_exist(file: str, name: str, claim: str, test_file: str, test: str):
    assert name.strip() in names_in(file)
    assert test in names_in(test_file)
