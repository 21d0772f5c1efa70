"""Which Pythons are taken, and what `pip install .` installs: tx_core alone, with all that it reads."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tests.support.serving import ROOT
from tests.test_house import imported
from tests.test_readme import README, python_of_the_readme

pytestmark = pytest.mark.ci

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TAKEN = ("3.11", "3.12", "3.13", "3.14")
REFUSED = ("3.10", "3.15")
PINS = [
    Requirement(line.partition("#")[0])
    for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    if re.match(r"\w", line)
]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed a copy of the project, so that building leaves nothing in this one."""
    copy = tmp_path_factory.mktemp("project")
    for name in ("pyproject.toml", "README.md", "LICENSE", "app.py"):
        shutil.copy(ROOT / name, copy)
    for name in ("pages", "tx_core", "assets"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    target = tmp_path_factory.mktemp("installed")
    options = ["-q", "--no-deps", "--no-build-isolation", "--no-index", "--no-compile", "--target", str(target)]
    done = subprocess.run([sys.executable, "-m", "pip", "install", *options, "."], cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr, done.stderr
    return target


def test_pip_installs_the_core_alone(installed: Path):
    assert [path.name for path in installed.iterdir() if path.suffix != ".dist-info"] == ["tx_core"]
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tx_core").rglob("*.*") if "__pycache__" not in path.parts}
    files = {name for name in files if (ROOT / name).is_file()}
    assert files <= {path.relative_to(installed).as_posix() for path in installed.rglob("*")}


def test_the_python_of_the_readme_runs_from_another_folder(installed: Path, tmp_path: Path):
    code = f"import sys; sys.path.insert(0, {str(installed)!r})\n{python_of_the_readme()}\n"
    code += "from tx_core.settings import app_version; import tx_core\nprint(tx_core.__file__, weights.shape, app_version())"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    expected = f"{installed / 'tx_core' / '__init__.py'} (6, 8, 7, 7) {PROJECT['project']['version']}"
    assert (done.returncode, done.stdout.strip()) == (0, expected), done.stderr


def test_the_package_needs_what_the_core_imports_no_older_than_it_was_tested():
    modules = {name.split(".")[0] for path in (ROOT / "tx_core").rglob("*.py") for name in imported(path)}
    provided = {pin.name: pin.name.lower().replace("-", "_") for pin in PINS} | {"PyYAML": "yaml", "scikit-learn": "sklearn"}
    needed = {f"{pin.name} >={version(pin)}" for pin in PINS if provided[pin.name] in modules}
    assert {f"{one.name} {one.specifier}" for one in map(Requirement, PROJECT["project"]["dependencies"])} == needed


def version(pin: Requirement) -> str:
    """Return the version that a line of requirements.txt names."""
    (specifier,) = pin.specifier
    return specifier.version


def test_package_readme_image_and_pins_take_the_same_pythons():
    taken = SpecifierSet(PROJECT["project"]["requires-python"])
    assert [python for python in (*TAKEN, *REFUSED) if f"{python}.1" in taken] == list(TAKEN)
    assert f"Python ({TAKEN[0]} to {TAKEN[-1]}" in README
    assert re.search(r"^FROM python:([\d.]+)-slim$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)[1] in TAKEN
    refusing = [pin.name for pin in PINS if f"{TAKEN[0]}.1" not in SpecifierSet(metadata(pin.name)["Requires-Python"] or "")]
    assert refusing == []


@pytest.mark.parametrize("python", [TAKEN[0], TAKEN[-1], *REFUSED])
def test_another_python_is_refused_with_a_sentence_before_anything_is_imported(python: str):
    numbers = tuple(map(int, python.split(".")))
    code = f"import sys; sys.version_info = {(*numbers, 1)}; import app"
    run = [sys.executable, "-S", "-c", code]  # without installed packages
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True)
    said = done.stderr.splitlines()
    if python in REFUSED:
        assert len(said) == 1 and f"Python {TAKEN[0]} to {TAKEN[-1]}, and this is Python {python}:" in said[0]
    else:
        assert said[-1] == "ModuleNotFoundError: No module named 'streamlit'"


def test_an_old_python_can_read_the_file_that_refuses_it():
    ast.parse((ROOT / "app.py").read_text(encoding="utf-8"), feature_version=(3, 8))
