"""The shape of the project is itself a fact: who imports whom, what is pinned, how large it may be."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from pages.contents import PAGES
from tests.support.serving import ROOT

HOMES = {
    "transformers": ("tx_core/engine/hub/", "tx_core/training/"),
    "bertviz": ("pages/bertviz_page/",),
    "scipy": ("tx_core/analysis/rollout.py",),
    "sklearn": ("tx_core/corpus/vectors.py",),
    "anywidget": ("tx_core/notebook.py",),
    "ray": ("tx_core/engine/remote/deployment.py", "tx_core/corpus/"),
    "torch": ("tx_core/", "pages/bertviz_page/"),  # bertviz takes tensors
    "streamlit": ("app.py", "pages/"),
}
"""The only places that import a package; a folder ends with a slash."""

FOLDERS = (
    ("tx_core.errors", "tx_core.host_memory"),
    ("tx_core.settings",),
    ("tx_core.transformer",),
    ("tx_core.engine",),
    ("tx_core.analysis",),
    ("tx_core.lessons", "tx_core.corpus", "tx_core.fill_mask"),
    ("tx_core.causal",),
    ("tx_core.classroom",),
    ("tx_core.training",),
    ("pages.contents",),
    ("pages.ui.shell",),
    ("pages.ui.stage",),
    ("pages.ui.panels", "pages.ui.export"),
)
"""Who may import whom: a folder may import those of the lines above its own, and none beside it.

Every folder of a page stands on a line of its own below all of these, beside the other pages; app.py stands at the end.
"""

FORBIDDEN = (
    "unsafe_allow_html",
    "components.v1",
    "use_container_width",
    "innerHTML",
    "except:",
)
"""What no file that runs contains: markup from text, deprecated calls, silence."""


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
SHOWN = [*CODE, *project_files("assets/**/*.js", "assets/**/*.css", "assets/**/*.html")]
MODULES = {name_of(path).removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in CODE}


@cache
def imported(path: Path) -> list[str]:
    """Every module that a file imports, at the top or within a function, by its full name."""
    nodes = list(ast.walk(ast.parse(path.read_bytes())))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return names + [f"{node.module}.{alias.name}" for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names]


def own_imports(path: Path) -> set[str]:
    """The modules of this project that a file imports; of an imported name, the module that defines it."""
    found = set()
    for name in imported(path):
        while name and name not in MODULES:
            name = name.rpartition(".")[0]
        found.add(name)
    return found - {""}


def folder_of(module: str) -> tuple[int, str]:
    """The line and the folder of a module."""
    folders = [(line, folder) for line, names in enumerate(FOLDERS) for folder in names if f"{module}.".startswith(f"{folder}.")]
    if folders:
        return max(folders, key=lambda found: len(found[1]))
    folder = module if module in ("tx_core", "pages", "pages.ui") else ".".join(module.split(".")[:2])
    return (0 if module in ("tx_core", "pages", "pages.ui") else len(FOLDERS) + (module == "app"), folder)


def offences(files: Iterable[Path], find: Callable[[Path], Collection[object]]) -> dict[str, Collection[object]]:
    """What is found in files, by their names; empty where nothing is. One test for all files: thousands would take a minute."""
    return {name_of(path): found for path in files if (found := find(path))}


def test_a_package_is_imported_in_its_home_only():
    def strangers(path: Path) -> list[str]:
        homes = ((module, HOMES.get(module.split(".")[0])) for module in imported(path))
        return [module for module, places in homes if places and not name_of(path).startswith(places)]

    assert offences(CODE, strangers) == {}


def test_a_file_imports_its_own_folder_and_the_folders_below_only():
    names = {path: module for module, path in MODULES.items()}

    def not_below(path: Path) -> list[str]:
        line, folder = folder_of(names[path])
        others = {other: folder_of(other) for other in own_imports(path)}
        return [other for other, (place, theirs) in others.items() if theirs != folder and place >= line]

    assert offences(CODE, not_below) == {}


def test_no_imports_run_in_a_circle():
    graph = {name: own_imports(path) - {name} for name, path in MODULES.items() if not name_of(path).endswith("__init__.py")}
    assert len(list(TopologicalSorter(graph).static_order())) >= len(graph)


def test_every_page_is_in_the_navigation_and_every_entry_has_its_page():
    files = {path.parent.name for path in ROOT.glob("pages/*/page.py")}
    assert [page.key for page in PAGES] == list(dict.fromkeys(page.key for page in PAGES))
    assert files == {page.key for page in PAGES}


@pytest.mark.parametrize("command", [("check", "--output-format", "concise"), ("format", "--check")], ids=["linter", "formatter"])
def test_ruff_finds_nothing(command):
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *command, "--no-cache", "."],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout


def test_every_name_is_defined_but_for_axes_which_are_written_in_strings():
    command = ["check", "--no-cache", "--select", "F821", "--output-format", "json", "."]
    done = subprocess.run([sys.executable, "-m", "ruff", *command], cwd=ROOT, capture_output=True, text=True, timeout=240)
    unknown = [(Path(one["filename"]), one["location"]["row"], one["message"]) for one in json.loads(done.stdout)]
    lines = {path: path.read_text(encoding="utf-8").splitlines() for path, _, _ in unknown}
    axes = re.compile(r"""\[[^"']+, *["'][\w #]+["']\]""")
    assert unknown
    assert [one for one in unknown if not axes.search(lines[one[0]][one[1] - 1])] == []


def test_no_file_contains_what_the_style_forbids():
    def forbidden(path: Path) -> list[str]:
        text = path.read_text(encoding="utf-8")
        return [words for words in FORBIDDEN if words in text]

    assert offences(SHOWN, forbidden) == {}


def requirements(name: str) -> list[str]:
    """The lines of a requirements file that name a package."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith(("#", "-r "))]


@pytest.mark.parametrize("name", sorted(path.name for path in ROOT.glob("requirements*.txt")))
def test_every_dependency_is_pinned_to_one_version_and_gives_its_reason(name):
    assert [line for line in requirements(name) if not re.fullmatch(r"[\w-]+(\[[\w,]+\])?==\d+(\.\d+)*  # \w.+", line)] == []
