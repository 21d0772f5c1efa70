"""The server around the pages: what it imports, what it answers, what it tells when the model is missing."""

import ast
import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from pages import contents
from pages.contents import PAGES
from pages.ui.shell import texts
from pages.ui.shell.readiness import Status, Warmup
from pages.ui.stage import first_picture
from tests.support.early import read_told
from tests.support.serving import ROOT, fetch, free_port, running, streamlit_command, wait_until
from tx_core.errors import CheckpointProblem

HEAVY = ("torch", "transformers", "plotly", "bertviz", "sqlalchemy", "psycopg")
LIGHT_MODULES = [
    "pages.contents",
    *(f"pages.ui.shell.{name}" for name in ("address", "frame", "numbers", "readiness")),
    "pages.bertviz_page.framed",
    "pages.classroom.events",
    "tx_core",
    "tx_core.errors",
    "tx_core.settings",
]
TITLE_FIRST = [page.key for page in PAGES]
SAY = f"""
def say(name):
    print(f"{{name}}:", *(heavy for heavy in {HEAVY} if heavy in set(sys.modules) - before))
"""
"""Source that prints a name, and after it what is heavy and imported by now."""


def imports_before_title(path: Path) -> str:
    """The import statements that a script runs before it calls open_page, as source; all where it never does."""
    before = takewhile(lambda node: not calls_open_page(node), ast.parse(path.read_text(encoding="utf-8")).body)
    return "\n".join(ast.unparse(node) for node in before if isinstance(node, ast.Import | ast.ImportFrom))


def calls_open_page(statement: ast.stmt) -> bool:
    """Return whether a statement at the top of a script calls open_page."""
    calls = (node.func for node in ast.walk(statement) if isinstance(node, ast.Call))
    return any(isinstance(called, ast.Name) and called.id == "open_page" for called in calls)


APP = """
import app, asyncio, json, os, sys
from streamlit.runtime.scriptrunner.exec_code import modified_sys_path
from starlette.requests import ClientDisconnect
found = {"torch": "torch" in sys.modules, "programs": os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"]}
found |= {"headers": app.HEADERS, "routes": [route.path for route in app.ROUTES]}
before = list(sys.path)
with modified_sys_path(str(app.MAIN)):
    found["folders"] = str(app.MAIN.parent) in before and sys.path == before
found["folders after"] = sys.path == before
async def break_off(scope, receive, send):
    raise ClientDisconnect
asyncio.run(app.SecurityHeaders(break_off)({"type": "http"}, None, None))
print(json.dumps(found))
"""
"""Source that imports the app, as its server does, and prints what it then has."""


@cache
def imported_app() -> tuple[dict[str, Any], list[str]]:
    """What a process has that has imported the app, and the lines of its log."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ONEDNN")}
    done = subprocess.run([sys.executable, "-c", APP], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1]), done.stderr.splitlines()


def test_how_many_programs_torch_keeps_is_said_before_torch_is_there():
    found, _ = imported_app()
    assert (found["torch"], found["programs"]) == (False, "64")


def test_a_run_leaves_the_list_of_folders_alone_in_which_other_threads_look_for_modules():
    found, _ = imported_app()
    assert found["folders"] and found["folders after"]


def test_an_upload_that_is_broken_off_leaves_one_line_in_the_log():
    _, log = imported_app()
    assert [line for line in log if "upload" in line or "Traceback" in line] == ["an upload was broken off"]


def test_nothing_heavy_is_imported_before_the_title_of_a_page():
    # Streamlit itself imports plotly where it is installed; test_house.py holds where ours does.
    imports = {
        "app": "import app",
        "pages.main": imports_before_title(ROOT / "pages" / "main.py"),
        **{name: f"import {name}" for name in LIGHT_MODULES},
        **{name: imports_before_title(ROOT / "pages" / name / "page.py") for name in TITLE_FIRST},
    }
    steps = [f"{statements}\nsay({name!r})" for name, statements in imports.items()]
    report = "\n".join(["import streamlit, sys", "before = set(sys.modules)", SAY, *steps])
    done = subprocess.run([sys.executable, "-c", report], cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{name}:" for name in imports]


SERVER_THAT_SAYS_WHAT_IT_IMPORTED = """
import sys, threading
from streamlit.web.cli import main
from pages.ui.shell import readiness
readiness.load_default = readiness.default_engine.load = lambda: pause.wait()
def say():
    while not pause.wait(0.1):
        print("imported", *sorted({"pandas", "torch"} & set(sys.modules)), flush=True)
pause = threading.Event()
threading.Thread(target=say, daemon=True).start()
main()
"""
"""Its model is being loaded for ever."""


def test_the_first_pictures_are_sent_without_torch_and_pandas(tmp_path: Path):
    port, log = free_port(), tmp_path / "log.txt"
    _, _, _, *command = streamlit_command(port)
    server = [sys.executable, "-c", SERVER_THAT_SAYS_WHAT_IT_IMPORTED, *command]
    with running(server, f"http://127.0.0.1:{port}/_stcore/health", log):
        for page in first_picture.BOXES:
            looks = "?heads=1-1" if page == "attention" else ""
            written = fetch(f"http://127.0.0.1:{port}/{contents.page_address(contents.page(page))}{looks}")[2].decode()
            told = read_told(written)
            assert told["header"]["page"] == page and told["waits"] == texts.STILL_LOADING
        assert fetch(f"http://127.0.0.1:{port}/api/ready")[0] == 503
        said = wait_until(
            lambda: re.findall(r"^imported.*$", log.read_text("utf-8"), re.MULTILINE), 60, "a word of what is imported"
        )
        assert {line.strip() for line in said} == {"imported"}


def test_no_message_is_sent_as_a_word_for_one_that_the_browser_may_have_forgotten():
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert settings["global"]["minCachedMessageSize"] > 1e6 * settings["server"]["maxMessageSize"]


def test_ready_names_the_model_and_the_device_once_the_model_answers(server):
    status, headers, body = fetch(f"{server}/api/ready")
    answer = json.loads(body)
    assert status == 200
    assert headers["cache-control"] == "no-store"
    assert answer["state"] == "ready"
    assert answer["model"]
    assert answer["device"].split(":")[0] in {"cpu", "cuda", "mps"}


@pytest.mark.parametrize("path", ["/", "/api/ready", "/_stcore/health"])
def test_every_answer_carries_the_security_headers(server, path):
    headers = fetch(server + path)[1]
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "object-src 'none'" in policy
    assert "script-src 'self' blob: 'sha256-" in policy
    assert "unsafe-eval" not in policy
    assert "form-action 'self'; frame-ancestors 'self'" in policy
    assert "x-frame-options" not in headers  # it cannot name a site, and browsers that read the policy ignore it
    assert "http" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert "camera=()" in headers["permissions-policy"]


@pytest.mark.parametrize("path", ["/attention", "/no-such-page"])
def test_the_policy_allows_the_inline_scripts_that_a_start_page_has(server, path):
    _, headers, body = fetch(f"{server}{path}")
    scripts = re.findall("<script>(.*?)</script>", body.decode(), re.DOTALL)
    assert len(scripts) == 2
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in headers["content-security-policy"]


def test_a_problem_that_can_be_explained_is_explained_in_its_own_words():
    def load() -> Status:
        raise CheckpointProblem("The weights are cut short: fetch them again.")

    warmup = Warmup(load)
    warmup.start().join(120)
    assert warmup.status == Status("failed", reason="The weights are cut short: fetch them again.")


def test_a_problem_that_nobody_foresaw_goes_to_the_log_and_not_to_visitors(caplog: pytest.LogCaptureFixture):
    def load() -> Status:
        raise RuntimeError("/secret/path")

    warmup = Warmup(load)
    warmup.start().join(120)
    assert warmup.status.state == "failed"
    assert "/secret/path" not in warmup.status.reason
    (record,) = caplog.records
    assert record.exc_info[0] is RuntimeError


@pytest.mark.ci
def test_the_first_heatmap_waits_for_no_compiler_and_no_tables_and_models_of_the_library_not_for_what_a_probe_needs():
    script = (
        "import sys, app\nfrom pages.ui.shell.readiness import load_default\nload_default()\n"
        "import pages.ui.export.attention, tx_core.corpus.vectors\n"
        "print(*{'torch._dynamo', 'sympy', 'transformers', 'pandas', 'ray', 'scipy'} & set(sys.modules))\n"
        "import tx_core.engine.hub.load, transformers.modeling_utils\nprint('scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert (done.returncode, done.stdout) == (0, "\nFalse\n"), done.stderr
