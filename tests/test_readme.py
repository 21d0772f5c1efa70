"""The README promises nothing that the project lacks."""

import re
from itertools import pairwise

import pytest

from pages.contents import PAGES
from tests.support.serving import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
ENVIRONMENT = "python3 -m venv .venv && .venv/bin/pip install --no-compile -r "
DOCUMENTS = [
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "assets/**/*.md", "pages/**/*.md", "tests/**/*.md", "tx_core/**/*.md")
    for path in sorted(ROOT.glob(pattern))
]
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_readme_gives_the_two_commands_and_every_one_makes_the_environment_that_it_uses():
    commands = [line.removeprefix(ENVIRONMENT) for line in README.splitlines() if line.startswith((".venv/", "python3 "))]
    assert len(commands) == 3
    assert "requirements.txt && .venv/bin/streamlit run app.py" in commands
    assert "requirements-dev.txt && .venv/bin/pytest" in commands
    torch = re.search(r"^torch==\S+", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)[0]
    assert f"{torch} --index-url https://download.pytorch.org/whl/cpu" in README


def test_continuous_integration_runs_what_the_readme_tells_a_person_to_run():
    assert re.search(r'bin/pip" install .*-r requirements-dev\.txt', CI)
    assert re.search(r'bin/pytest"', CI)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_file_that_a_document_links_to_is_there(document):
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", (ROOT / document).read_text(encoding="utf-8"))
    assert [link for link in links if not (ROOT / document).parent.joinpath(link).exists()] == []


def test_the_changelog_says_nothing_twice():
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    entries = sorted(line for line in lines if line.startswith("- "))
    assert len(entries) > 10
    assert [entry for entry, following in pairwise(entries) if following.startswith(entry)] == []


def test_the_readme_lists_every_page_with_its_question():
    assert [(page.name, page.question) for page in PAGES] == re.findall(r"^\| (.+) \| (.+\?) \|$", README, re.MULTILINE)


def python_of_the_readme() -> str:
    """Return the example of the section In Python."""
    return re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)
