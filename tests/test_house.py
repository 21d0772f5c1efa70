"""The shape of the project is itself a fact: who imports whom, what is pinned, how large it may be."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from serving import ROOT

from pages.ui.contents import PAGES

HOMES = {
    "transformers": ("tx_core/hub.py", "tx_core/training/"),
    "plotly": ("pages/ui/curve_figures.py", "pages/ui/summary_figures.py"),
    "bertviz": ("pages/ui/bertviz_views.py",),
    "torch": ("tx_core/", "pages/ui/bertviz_views.py"),  # bertviz takes tensors
    "streamlit": ("app.py", "pages/"),
}
"""The only places that import a package; a folder ends with a slash."""

FORBIDDEN = (
    "unsafe_allow_html", "components.v1", "use_container_width", "innerHTML", "except:",
    'type="primary"',
)
"""What no file that runs contains: markup from text, deprecated calls, silence, a button too pale in the dark."""


def project_files(*patterns: str) -> list[Path]:
    """The project's own files that match, without hidden folders and caches."""
    found = {path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()}
    return sorted(path for path in found if not is_by_product(path))


def is_by_product(path: Path) -> bool:
    """Whether a file lies in a cache, in an environment or in another hidden folder that git does not keep."""
    parents = path.relative_to(ROOT).parts[:-1]
    return any(part == "__pycache__" or (part.startswith(".") and part not in {".ci", ".streamlit"}) for part in parents)


def name_of(path: Path) -> str:
    """A file's path as the rules write it."""
    return path.relative_to(ROOT).as_posix()


CODE = project_files("app.py", "pages/**/*.py", "tx_core/**/*.py")
CORE = [path for path in CODE if name_of(path).startswith("tx_core/")]
PARTS_OF_PAGES = [path for path in CODE if name_of(path).startswith("pages/ui/")]
SHOWN = [*CODE, *project_files("assets/**/*.js", "assets/**/*.css", "assets/**/*.html")]
ALL_CODE = [*SHOWN, *project_files("tests/**/*.py")]


def imported(path: Path) -> Iterator[str]:
    """Every module that a file imports, at the top or within a function, by its full name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def each(files: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", files, ids=name_of)


@each(CODE)
def test_a_package_is_imported_in_its_home_only(path):
    strangers = [
        module
        for module in imported(path)
        if (homes := HOMES.get(module.split(".")[0])) and not name_of(path).startswith(homes)
    ]
    assert strangers == []


@each(CORE)
def test_the_core_knows_no_screen(path):
    assert [module for module in imported(path) if module.split(".")[0] in {"pages", "app", "streamlit"}] == []


@each(PARTS_OF_PAGES)
def test_what_pages_share_knows_no_page(path):
    assert [module for module in imported(path) if re.match(r"app\b|pages\.(?!ui\b)", module)] == []


@each([path for path in CODE if path.parent == ROOT / "pages"])
def test_a_page_knows_no_other_page(path):
    assert [module for module in imported(path) if re.match(r"app\b|pages\.(?!ui\b)", module)] == []


def test_imports_within_the_core_run_one_way():
    names = {name_of(path).removesuffix(".py").replace("/", "."): path for path in CORE}
    graph = {
        name: {other for module in imported(path) for other in names if other != name and is_within(module, other)}
        for name, path in names.items()
    }
    assert len(list(TopologicalSorter(graph).static_order())) == len(names)


def is_within(module: str, other: str) -> bool:
    """Whether an imported name is a module or something in it."""
    return module == other or module.rpartition(".")[0] == other


def test_every_page_is_in_the_navigation_and_every_entry_has_its_page():
    files = {path.stem for path in ROOT.glob("pages/*.py")} - {"main", "__init__"}
    assert [page.key for page in PAGES] == list(dict.fromkeys(page.key for page in PAGES))
    assert files == {page.key for page in PAGES}


def test_the_pages_of_a_section_stand_together():
    sections = [page.section for page in PAGES]
    changes = [section for before, section in zip([None, *sections], sections, strict=False) if section != before]
    assert len(changes) == len(set(changes))


def test_the_linter_finds_nothing():
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format", "concise", "."],
        cwd=ROOT, capture_output=True, text=True, timeout=60,
    )
    assert done.returncode == 0, done.stdout


def test_the_project_is_smaller_than_40_megabytes():
    size = sum(path.stat().st_size for path in project_files("*", "*/**/*"))
    assert size < 40_000_000


@each(ALL_CODE)
def test_no_file_of_code_is_longer_than_400_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


@each(SHOWN)
def test_no_file_contains_what_the_style_forbids(path):
    text = path.read_text(encoding="utf-8")
    assert [words for words in FORBIDDEN if words in text] == []


@each(project_files("assets/**/*.js", "assets/**/*.css", "assets/**/*.html"))
def test_what_a_browser_loads_names_no_other_server(path):
    text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert re.findall(r"(?:https?:)?//[\w-]+(?:\.[\w-]+)+", text) == []


def requirements(name: str) -> list[str]:
    """The lines of a requirements file that name a package."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith(("#", "-r "))]


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_every_dependency_is_pinned_to_one_version(name):
    assert [line for line in requirements(name) if not re.fullmatch(r"[\w-]+(\[[\w,]+\])?==\d+(\.\d+)*", line)] == []


def test_the_core_names_each_of_its_files_in_reading_order():
    import tx_core

    names = {path.stem for path in (ROOT / "tx_core").glob("*.py")} - {"__init__"}
    assert names - set(re.findall(r"\w+", tx_core.__doc__)) == set()
