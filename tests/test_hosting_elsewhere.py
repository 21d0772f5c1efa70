"""Hosts that build or install by themselves, as HOSTING.md says: an image, a Space of Hugging Face, Streamlit Community Cloud."""

import os
import re
import shlex
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from huggingface_hub.utils import filter_repo_objects
from packaging.requirements import Requirement

from tests.support.serving import ROOT, WITHOUT_MODELS, fetch, serving

pytestmark = pytest.mark.ci

HOSTING = (ROOT / "HOSTING.md").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
HF = [shlex.split(line) for line in re.findall(r"^\.venv/bin/hf (.+)$", HOSTING, re.MULTILINE)]
CLOUD = ROOT / "assets" / "hosting" / "community_cloud"
TORCH = re.search(r"^torch==(\S+)", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)[1]


@pytest.mark.parametrize(("build", "first"), [("cpu", [f"torch=={TORCH}"]), ("cuda", [])])
def test_the_image_takes_the_build_of_torch_that_it_is_told_to(tmp_path: Path, build: str, first: list[str]):
    (step,) = re.findall(r"^RUN (if .+?[^\\])$", DOCKERFILE.replace("\\\n", ""), re.MULTILINE)
    pip = tmp_path / "pip"
    pip.write_text('#!/bin/sh\nprintf "%s\\n" "$@" "" >> calls.txt\n', encoding="utf-8")
    pip.chmod(0o755)
    (tmp_path / "requirements.txt").write_bytes((ROOT / "requirements.txt").read_bytes())
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "TORCH": build}
    subprocess.run(["sh", "-ec", step], cwd=tmp_path, env=environment, check=True)
    calls = (tmp_path / "calls.txt").read_text(encoding="utf-8").strip().split("\n\n")
    last = calls.pop().split()
    assert last[-2:] == ["-r", "requirements-lti.txt"]
    assert "\n-r requirements.txt\n" in (ROOT / "requirements-lti.txt").read_text(encoding="utf-8")
    assert [str(Requirement(call.splitlines()[-1])) for call in calls] == first
    assert all("--index-url\nhttps://download.pytorch.org/whl/cpu" in call for call in calls)


def test_the_image_takes_the_cpu_build_unless_it_is_told_otherwise():
    assert re.search(r"^FROM .+\nARG TORCH=cpu$", DOCKERFILE, re.MULTILINE)
    assert "docker build --build-arg TORCH=cuda " in HOSTING


def test_a_space_begins_with_the_readme_that_names_the_port_of_the_image():
    _, page, path = next(command for command in HF if command[0] == "upload")[1:4]
    assert path == "README.md"
    front = yaml.safe_load(re.match(r"---\n(.+?)---\n", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)[1])
    assert front["sdk"] == next(command for command in HF if command[0] == "repos")[-1] == "docker"
    assert f"EXPOSE {front['app_port']}\n" in DOCKERFILE


def test_a_space_gets_what_the_image_needs_and_neither_readme_nor_gitattributes():
    command = HF[-1]
    excluded = [value for option, value in pairwise(command) if option == "--exclude"]
    files = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if path.is_file() and ".git" not in path.parts]
    files += [".venv/bin/python", ".venv/lib/python3.11/site-packages/torch/version.py"]
    sent = set(filter_repo_objects(files, ignore_patterns=excluded))
    needed = {"Dockerfile", ".dockerignore", ".streamlit/config.toml", "app.py", "requirements.txt", "pages/main.py"}
    assert needed | {"assets/models/embedded/model.safetensors"} <= sent
    # A Space has a .gitattributes of its own, by which it finds its large files.
    assert not [name for name in sent if name in ("README.md", ".gitattributes") or name.startswith((".venv/", "tests/"))]


def test_community_cloud_installs_the_cpu_build_of_the_torch_that_is_pinned():
    lines = (CLOUD / "requirements.txt").read_text(encoding="utf-8").splitlines()
    (included,) = [line.removeprefix("-r ") for line in lines if line.startswith("-r ")]
    assert (CLOUD / included).resolve() == ROOT / "requirements.txt"
    builds = [Requirement(line) for line in lines if line.startswith("torch")]
    for minor in range(11, 15):
        (build,) = [one for one in builds if one.marker.evaluate({"python_version": f"3.{minor}"})]
        assert build.url.endswith(f"/whl/cpu/torch-{TORCH}%2Bcpu-cp3{minor}-cp3{minor}-manylinux_2_28_x86_64.whl")
    assert len(builds) == 4


def test_the_entry_of_community_cloud_is_the_app(tmp_path: Path):
    script = (CLOUD / "explorer.py").relative_to(ROOT).as_posix()
    assert f"`{script}`" in HOSTING
    with serving(ROOT, tmp_path / "log.txt", script=script, **WITHOUT_MODELS) as url:
        status, headers, body = fetch(f"{url}/attention")
        assert status == 200 and b"id='unsettled'" in body  # our start page, not Streamlit's
        assert "form-action 'self'" in headers["content-security-policy"]
        assert fetch(f"{url}/api/ready")[0] == 503
