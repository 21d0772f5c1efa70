"""What a host sets is read once, typed, and refused in one line where it cannot be used."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.support.serving import ROOT
from tx_core.errors import SettingsProblem
from tx_core.settings import Settings, allowed, host_settings, settings_table, state_folder, variable


def test_an_empty_variable_counts_as_not_set(host):
    host(any_model="", trainings="")
    assert host_settings().trainings == Settings.model_fields["trainings"].default


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("device", "banana"),
        ("trainings", "0"),
        ("max_model_megabytes", "2.5"),
        ("slot_timeout_seconds", "inf"),
        ("max_model_tokens", "many\nmany"),
        ("ray_address", "ray://127.0.0.1:10001"),
        ("frame_ancestors", "https://moodle.example.org; script-src *"),
        ("frame_ancestors", "*"),
    ],
)
def test_a_wrong_value_is_named_in_one_line_with_what_is_allowed(host, name: str, value: str):
    host(**{name: value})
    with pytest.raises(SettingsProblem) as problem:
        host_settings()
    assert len(str(problem.value).splitlines()) == 1
    assert all(part in str(problem.value) for part in (variable(name), repr(value), allowed(name)))


def test_a_variable_that_is_no_setting_is_warned_of(host, caplog: pytest.LogCaptureFixture):
    host(training="3", trainings="2")
    host_settings()
    assert [message.split()[0] for message in caplog.messages] == ["TX_TRAINING"]


def test_in_a_space_the_page_of_the_space_may_frame_the_app():
    script = "from tx_core.settings import host_settings; print(host_settings().frame_ancestors)"
    environment = os.environ | {"SPACE_ID": "owner/name", variable("frame_ancestors"): ""}
    framing = subprocess.check_output([sys.executable, "-c", script], cwd=ROOT, env=environment, text=True)
    assert framing.strip() == "'self' https://huggingface.co"


@pytest.mark.parametrize("server", [["streamlit", "run", "app.py", "--server.headless", "true"], ["uvicorn", "app:app"]])
def test_a_wrong_value_stops_the_start_with_one_line(server: list[str]):
    run = subprocess.run(
        [sys.executable, "-m", *server, "--server.port" if server[0] == "streamlit" else "--port", "0"],
        cwd=ROOT,
        env=os.environ | {"TX_TRAININGS": "many"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert run.returncode != 0
    assert "Traceback" not in run.stderr
    said = [line for line in run.stderr.splitlines() if "TX_TRAININGS" in line]
    assert len(said) == 1 and "'many'" in said[0] and allowed("trainings") in said[0]


def test_the_table_of_the_hosting_document_is_the_one_of_the_settings():
    _, table, _ = (ROOT / "HOSTING.md").read_text(encoding="utf-8").split("<!-- settings -->")
    assert table.strip() == settings_table()
    assert len(settings_table().splitlines()) == 2 + len(Settings.model_fields)


def test_the_password_of_a_database_is_not_written_into_the_log(host):
    host(database_url="mysql://teacher:secret-word@host/rooms")
    with pytest.raises(SettingsProblem) as problem:
        host_settings()
    assert variable("database_url") in str(problem.value)
    assert "secret-word" not in str(problem.value)


@pytest.mark.parametrize(("memory", "expected"), [(1000.0, [250, 62, 62, 1, 10]), (float("inf"), [2000, 512, 1000, 2, 50])])
def test_the_defaults_follow_the_memory_that_the_host_gives(memory: float, expected: list[int]):
    names = ("max_model_megabytes", "cache_megabytes", "max_record_megabytes", "trainings")
    script = (
        f"import os; os.sched_getaffinity = lambda _: {{0}}; from tx_core import host_memory\n"
        f"host_memory.host_megabytes = lambda: float('{memory}')\n"
        "from tx_core.settings import Settings\n"
        f"print([Settings.model_fields[name].default for name in {(*names, 'max_background_runs')}])"
    )
    assert subprocess.check_output([sys.executable, "-c", script], cwd=ROOT, text=True).strip() == str(expected)


def test_a_file_where_the_state_folder_should_be_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "attention-explorer").write_text("mine")
    assert state_folder().is_dir() and (tmp_path / "attention-explorer").read_text() == "mine"
