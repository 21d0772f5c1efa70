"""What HOSTING.md, compose.yaml and the Dockerfile promise agrees with each other and with Caddy."""

import re
import shlex
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import kubernetes_validate
import pytest
import websockets
import yaml
from streamlit.web.cli import main_run

from pages.bertviz_page import framed
from pages.ui.shell.readiness import CLOSING_SECONDS, NOTICE_SECONDS
from tests.support.apart import run_apart
from tests.support.serving import ROOT, free_port, running
from tests.support.stream_client import Visitor
from tests.test_app import imported_app
from tx_core.settings import Settings, variable

CADDYFILE = ROOT / "assets" / "hosting" / "Caddyfile"
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
KUBERNETES = {
    part["kind"]: part for part in yaml.safe_load_all((ROOT / "assets/hosting/kubernetes.yaml").read_text(encoding="utf-8"))
}
CONTAINER = KUBERNETES["Deployment"]["spec"]["template"]["spec"]["containers"][0]
SCHEMAS = "1.32"
HOSTING = (ROOT / "HOSTING.md").read_text(encoding="utf-8")


def test_the_proxy_of_compose_gets_every_variable_of_the_caddyfile():
    used = set(re.findall(r"\{\$(TX_\w+)", CADDYFILE.read_text(encoding="utf-8")))
    assert used == set(COMPOSE["services"]["proxy"]["environment"]) == {"TX_SITE", "TX_APPS"}
    assert all(f"{name}=" in HOSTING for name in used)


def test_the_proxy_of_compose_leads_to_its_app_servers_at_the_port_of_the_image():
    port = re.search(r"^EXPOSE (\d+)$", DOCKERFILE, re.MULTILINE)[1]
    apps = [name for name, service in COMPOSE["services"].items() if service.get("build") == "."]
    assert COMPOSE["services"]["proxy"]["environment"]["TX_APPS"].split() == [f"{name}:{port}" for name in apps]
    assert f'"--server.port", "{port}"' in DOCKERFILE
    folder, inside, _ = COMPOSE["services"]["proxy"]["volumes"][0].split(":")
    assert (ROOT / folder) == CADDYFILE and inside == "/etc/caddy/Caddyfile"


def test_the_app_servers_of_compose_take_addresses_from_the_proxy_and_nobody_else_reaches_them():
    apps = [service for service in COMPOSE["services"].values() if service.get("build") == "."]
    assert apps
    for app in apps:
        assert "ports" not in app and app.get("network_mode") is None
        assert app["environment"]["FORWARDED_ALLOW_IPS"] == "*"


def test_a_server_started_as_said_takes_the_address_of_a_visitor_from_the_proxy_on_its_machine(tmp_path: Path):
    ((before, after),) = re.findall(r"streamlit run app\.py (--\S.*port) \d+ (.+)$", HOSTING, re.MULTILINE)
    script, port = tmp_path / "shows_address.py", free_port()
    script.write_text("import streamlit as st\nst.text(f'from {st.context.ip_address}')\n", "utf-8")
    options = [*before.split(), str(port), *after.split()]
    url = f"http://127.0.0.1:{port}"

    async def shown() -> str:
        headers = {"X-Forwarded-For": "203.0.113.7"}
        stream = f"{url.replace('http', 'ws')}/_stcore/stream"
        async with websockets.connect(stream, subprotocols=["streamlit"], additional_headers=headers) as socket:
            visitor = Visitor(socket)
            await visitor.run()
            return " ".join(str(element) for element in visitor.elements.values())

    command = [sys.executable, "-m", "streamlit", "run", str(script), *options]
    with running(command, f"{url}/_stcore/health", tmp_path / "log.txt"):
        assert "from 203.0.113.7" in run_apart(shown())


def test_every_setting_of_compose_is_one_of_the_app():
    environment = COMPOSE["services"]["app1"]["environment"]
    settings = {variable(name) for name in Settings.model_fields}
    assert {name for name in environment if name.startswith("TX_")} <= settings
    assert environment["STREAMLIT_SERVER_COOKIE_SECRET"].startswith("${TX_SECRET:?")


def test_the_image_starts_the_app_as_the_readme_does():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    command = re.search(r"\.venv/bin/(streamlit run app\.py)$", readme, re.MULTILINE)[1]
    run = re.search(r"^CMD \[(.+)\]$", DOCKERFILE, re.MULTILINE)[1].replace('"', "").split(", ")
    assert " ".join(run[:3]) == command
    options = run[3::2]
    known = {name for option in main_run.params for name in option.opts}
    assert options and set(options) <= known


SECRETS = ("lti.pem", "lti.toml", ".streamlit/secrets.toml")
"""What a host keeps in the folder of the app, and nobody else may have."""


def test_the_secrets_of_a_host_are_in_no_commit_no_image_and_no_space():
    command = ["git", "check-ignore", "--no-index", *SECRETS]
    ignored = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ignored.stdout.split() == list(SECRETS)
    left_out = (ROOT / ".dockerignore").read_text("utf-8").split()
    (upload,) = re.findall(r"hf upload OWNER/NAME \. \. (.*)$", HOSTING, re.MULTILINE)
    for patterns in (left_out, shlex.split(upload)):
        assert [name for name in SECRETS if not any(fnmatch(name, one.removeprefix("**/")) for one in patterns)] == []
    assert set(re.findall(r"\blti\.(?:pem|toml)", HOSTING)) == {name for name in SECRETS if name.startswith("lti")}


def test_caddy_accepts_the_caddyfile():
    if shutil.which("caddy") is None:
        pytest.skip("no Caddy found: install it as .ci/run does")
    command = ["caddy", "adapt", "--validate", "--config", str(CADDYFILE), "--adapter", "caddyfile"]
    done = subprocess.run(command, capture_output=True, text=True, env={"TX_APPS": "127.0.0.1:1 127.0.0.1:2", "TX_SITE": ":1"})
    assert done.returncode == 0, done.stderr


def test_the_models_in_ray_are_those_that_the_app_asks_and_every_command_names_what_is_there():
    ray = yaml.safe_load((ROOT / "assets" / "hosting" / "ray.yaml").read_text(encoding="utf-8"))
    (application,) = ray["applications"]
    address = Settings.model_fields["ray_address"].default
    assert address == f"http://{ray['http_options']['host']}:{ray['http_options']['port']}"
    assert f"TX_RAY_ADDRESS={address} " in HOSTING
    module, name = application["import_path"].split(":")
    source = (ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
    assert re.search(rf"^{name} = ", source, re.MULTILINE)
    assert [f"class {deployment['name']}:" in source for deployment in application["deployments"]] == [True]
    assert (ROOT / "requirements-ray.txt").exists() and "-r requirements-ray.txt" in HOSTING


@pytest.mark.parametrize("kind", KUBERNETES)
def test_kubernetes_takes_every_part_of_the_manifest(kind: str):
    assert kubernetes_validate.validate(KUBERNETES[kind], SCHEMAS, strict=True) == SCHEMAS


def test_the_parts_of_the_manifest_lead_to_each_other_and_to_the_image():
    deployment, service, ingress = (KUBERNETES[kind]["spec"] for kind in ("Deployment", "Service", "Ingress"))
    (port,) = CONTAINER["ports"]
    assert f"EXPOSE {port['containerPort']}\n" in DOCKERFILE
    assert service["selector"] == deployment["selector"]["matchLabels"] == deployment["template"]["metadata"]["labels"]
    assert service["ports"][0]["targetPort"] == port["name"]
    backend = ingress["rules"][0]["http"]["paths"][0]["backend"]["service"]
    assert (backend["name"], backend["port"]["name"]) == (KUBERNETES["Service"]["metadata"]["name"], service["ports"][0]["name"])
    probes = {CONTAINER[f"{kind}Probe"]["httpGet"]["path"] for kind in ("readiness", "startup", "liveness")}
    assert probes == {"/api/ready", "/_stcore/health"}
    assert "/api/ready" in imported_app()[0]["routes"]
    assert f"--uid {deployment['template']['spec']['securityContext']['runAsUser']} " in DOCKERFILE
    assert f"docker build -t {CONTAINER['image'].partition(':')[0]} ." in HOSTING


def test_the_manifest_sets_what_compose_sets_and_gives_a_server_time_to_end():
    environment = {entry["name"]: entry.get("value") for entry in CONTAINER["env"]}
    composed = COMPOSE["services"]["app1"]["environment"]
    assert set(environment) == set(composed)
    assert {name: value for name, value in environment.items() if value} == {
        name: value for name, value in composed.items() if "$" not in value
    }
    grace = KUBERNETES["Deployment"]["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
    assert grace >= NOTICE_SECONDS + CLOSING_SECONDS


MEBIBYTE = 1024**2 / 1e6
"""In megabytes."""
ITSELF, TRAINING, KEPT_RUN, FRAMED = 700, 1900, 35, framed.MAX_DOCUMENT_BYTES // 10**6
"""Megabytes of a server without visitors' work, of a training of the largest sizes, of one that is done, of framed pictures."""


def most_megabytes(environment: dict[str, str]) -> float:
    """Add up what a server may take by its settings, which HOSTING.md does in words."""
    names = ("compute_slots", "background_slots", "trainings", "max_background_runs", "max_record_megabytes")
    slots, background, trainings, kept, record = (int(environment[variable(name)]) for name in names)
    stores = ("max_model_megabytes", "cache_megabytes")
    stored = sum(int(environment[variable(name)]) for name in stores)
    return ITSELF + FRAMED + stored + 2 * record * (slots + background) + TRAINING * trainings + KEPT_RUN * kept


def test_the_memory_of_a_container_holds_what_its_settings_allow():
    composed = COMPOSE["services"]["app1"]
    limits = (CONTAINER["resources"]["limits"]["memory"], composed["mem_limit"])
    assert [re.fullmatch(r"(\d+)(Gi|g)", limit)[1] for limit in limits] == ["6", "6"]
    assert all(app["mem_limit"] == composed["mem_limit"] for app in COMPOSE["services"].values() if app.get("build") == ".")
    most = most_megabytes(composed["environment"])
    assert 0.8 * 6 * 1024 * MEBIBYTE < most < 6 * 1024 * MEBIBYTE
    assert most_megabytes({entry["name"]: entry.get("value") for entry in CONTAINER["env"]}) == most
    memory = HOSTING.partition("**Memory.**")[2].partition("\n")[0]
    sizes = {int(number.replace(",", "")) for number in re.findall(r"([\d,]+) MB", memory)}
    assert {ITSELF, FRAMED, TRAINING, KEPT_RUN, most, int(6 * 1024 * MEBIBYTE)} <= sizes
    named = re.findall(r"`(TX_\w+)`", memory)
    assert set(named) == {name for name in composed["environment"] if name.startswith("TX_")} - {"TX_DATABASE_URL"}


def test_every_header_and_every_setting_that_is_spoken_of_is_there():
    headers = imported_app()[0]["headers"]
    assert headers and all(f"`{name}`" in HOSTING for name in headers)
    assert "frame-ancestors 'self'" in headers["Content-Security-Policy"]
    spoken = set(re.findall(r"`(TX_\w+)[`=]", HOSTING)) - {"TX_SITE", "TX_APPS", "TX_SECRET", "TX_DATABASE_PASSWORD"}
    assert spoken <= {variable(name) for name in Settings.model_fields}
