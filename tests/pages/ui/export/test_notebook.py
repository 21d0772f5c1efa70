"""The code of a view as a notebook: it says what it needs and where the view is, and a kernel runs it to the numbers."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.export import menu, texts
from pages.ui.export.attention import attention_export
from tests.support.exports import map_of_page, opened
from tests.support.serving import ROOT

RUN = "from nbclient.cli import main; main()"
VIEWS = {
    "attention": {"text": "Mary lost her keys.", "changes": "off~2-8"},
    "fill_mask": {"text": 'The "old" man drank a cup of [MASK].', "listed": "5"},
}


@pytest.mark.ci
def test_the_notebook_of_a_view_runs_to_its_numbers(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    offered = {}
    monkeypatch.setattr(menu, "download_button", lambda label, write, name, **_: offered.update({label: write}))
    files = [tmp_path / f"{page}.ipynb" for page in VIEWS]
    for (page, view), file in zip(VIEWS.items(), files, strict=True):
        opened(open_app(page, **view), page, form=texts.CODE)
        file.write_text(offered.pop(texts.SAVE_NOTEBOOK)(), "utf-8")
    run = [sys.executable, "-c", RUN, "--inplace", *map(str, files)]
    done = subprocess.run(run, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    for file in files:
        book = nbformat.read(file, as_version=4)
        nbformat.validate(book)
        first, *code = book.cells
        assert first.source.startswith(texts.NOTEBOOK_NEEDS[texts.PROJECT_CODE])
        assert "](?" in first.source  # of a test's page, which has no host
        assert [output.name for cell in code for output in cell.outputs] == ["stdout"]
        assert any(sign.isdigit() for sign in code[-1].outputs[0].text)


@pytest.mark.parametrize("kind", [texts.PROJECT_CODE, texts.TRANSFORMERS_CODE])
def test_what_a_visitor_types_stands_in_the_code_alone(kind: str):
    text = "![](https://elsewhere.example)\n\nimport os"
    export = replace(attention_export(map_of_page("embedded", text)), link="https://here.example/attention?text=a")
    told, *code = json.loads(menu.notebook(export, kind))["cells"]
    assert "elsewhere" not in told["source"]
    assert told["source"].endswith("(https://here.example/attention?text=a)")
    if kind == texts.PROJECT_CODE:  # not the `view` of tx_core, which shows a run in a notebook
        assert "from tx_core.analysis.views import mean_of_heads, view" in code[0]["source"]
    compile("\n".join(cell["source"] for cell in code), "notebook", "exec")
    assert not any(line.startswith("import os") for cell in code for line in cell["source"].split("\n"))
