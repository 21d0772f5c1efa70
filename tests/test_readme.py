"""The README promises nothing that the project lacks."""

import re

import pytest

from tests.support.serving import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
ENVIRONMENT = "python3 -m venv .venv && .venv/bin/pip install -r "
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def pinned(name: str) -> list[str]:
    """The packages that a requirements file names."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [re.split(r"[\[=]", line)[0] for line in lines if line and not line.startswith(("#", "-r "))]


@pytest.mark.parametrize("package", [*pinned("requirements.txt"), *pinned("requirements-dev.txt")])
def test_the_readme_names_every_dependency(package):
    assert re.search(rf"(?<![\w-]){re.escape(package)}(?![\w-])", README)


@pytest.mark.parametrize(
    "command",
    [
        f"{ENVIRONMENT}requirements.txt && .venv/bin/streamlit run app.py",
        f"{ENVIRONMENT}requirements-dev.txt && .venv/bin/pytest",
    ],
)
def test_the_readme_gives_the_two_commands(command):
    assert command in README.splitlines()


def test_continuous_integration_runs_what_the_readme_tells_a_person_to_run():
    assert re.search(r'bin/pip" install .*-r requirements-dev\.txt', CI)
    assert re.search(r'bin/pytest"', CI)


def test_the_readme_is_short_enough_to_be_read():
    assert len(README.splitlines()) <= 150


def test_every_file_that_the_readme_links_to_is_there():
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", README)
    assert [link for link in links if not (ROOT / link).exists()] == []
