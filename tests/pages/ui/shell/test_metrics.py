"""What a host can watch, at a server of its own and in one process."""

import asyncio
import io
import json
import logging
import re
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit import error_util

from pages.ui.shell import metrics
from tests.support.apart import run_apart
from tests.support.serving import ROOT, fetch, free_port, running, streamlit_command
from tests.support.stream_client import visit
from tx_core.errors import TextProblem

TOKEN = "a-token-of-16-characters-or-more"
SECRET = "Xylophones"
DASHBOARD = json.loads((ROOT / "assets" / "hosting" / "grafana.json").read_text(encoding="utf-8"))


@pytest.fixture
def read(host):
    """Return the metrics of this process as numbers: read()["tx_problems_total", (("kind", "Busy"),)]."""
    host(metrics_token=TOKEN)
    client = TestClient(Starlette(routes=[metrics.ROUTE]))

    def numbers() -> dict[tuple[str, tuple], float]:
        answer = client.get("/api/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 200
        samples = [sample for family in text_string_to_metric_families(answer.text) for sample in family.samples]
        return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in samples}

    return numbers


def test_a_run_is_timed_and_a_problem_is_counted(read):
    count, kind = ("tx_page_seconds_count", (("page", "compare"),)), (("kind", "TextProblem"),)
    with metrics.page_run("compare"):
        metrics.count_problem(TextProblem(SECRET))
    before, idle = read(), metrics.runs_now()
    with metrics.page_run("compare"):
        metrics.count_problem(TextProblem(SECRET))
        assert (metrics.runs_now(), read()[count]) == (idle + 1, before[count])
    assert (metrics.runs_now(), read()[count]) == (idle, before[count] + 1)
    assert read()["tx_problems_total", kind] == before["tx_problems_total", kind] + 1


def test_an_unexpected_error_is_counted_and_logged_without_what_was_typed(read, caplog: pytest.LogCaptureFixture):
    metrics.count_failure(ZeroDivisionError(SECRET))
    assert read()["tx_failures_total", (("kind", "ZeroDivisionError"), ("page", "start"))] == 1
    assert [json.loads(record.message) for record in caplog.records if record.name == metrics.__name__] == [
        {"event": "page failed", "page": "start", "kind": "ZeroDivisionError"}
    ]
    assert SECRET not in caplog.text


def test_streamlits_own_traceback_has_the_place_and_the_kind_but_no_message(capsys: pytest.CaptureFixture):
    written = io.StringIO()
    handler, logger, error_filter = (
        logging.StreamHandler(written),
        logging.getLogger(error_util.__name__),
        metrics.WithoutMessage(),
    )
    logger.addFilter(error_filter)
    logger.addHandler(handler)
    try:
        raise ZeroDivisionError(SECRET)
    except ZeroDivisionError as error:
        error_util._log_uncaught_app_exception(error)
    finally:
        logger.removeFilter(error_filter)
        logger.removeHandler(handler)
    assert Path(__file__).name in written.getvalue() and "ZeroDivisionError" in written.getvalue()
    assert SECRET not in written.getvalue() + capsys.readouterr().err


@pytest.mark.parametrize("header", [None, TOKEN, f"Bearer {TOKEN}x", "Bearer ä"])
def test_nobody_else_gets_them(host, header: str | None):
    host(metrics_token=TOKEN)
    headers = {} if header is None else {"Authorization": header.encode()}
    own = Route("/base/_stcore/metrics", lambda _request: PlainTextResponse("Streamlit's"))
    client = TestClient(Starlette(routes=[metrics.ROUTE, own], middleware=[Middleware(metrics.StreamlitMetrics)]))
    for path in ("/api/metrics", own.path, f"{own.path}/"):
        answer = client.get(path, headers=headers)
        assert (answer.status_code, answer.content) == (401, b"")
    assert client.get(own.path, headers={"Authorization": f"Bearer {TOKEN}"}).text == "Streamlit's"


def test_without_a_token_there_are_none(server: str):
    for path in ("api/metrics", "_stcore/metrics", "_stcore//metrics", "_stcore/%6detrics"):
        assert b"memory" not in fetch(f"{server}/{path}")[2], path
    assert fetch(f"{server}/api/metrics")[0] == fetch(f"{server}/_stcore/metrics")[0] == 404


@pytest.mark.ci
def test_a_server_counts_its_visitors_and_writes_nothing_that_they_typed(tmp_path: Path):
    port = free_port()
    url, log = f"http://127.0.0.1:{port}", tmp_path / "log.txt"

    def ask() -> str:
        return fetch(f"{url}/api/metrics", Authorization=f"Bearer {TOKEN}")[2].decode()

    async def look() -> str:
        async with visit(url, "attention", f"text={SECRET}") as reader, visit(url, "classifier", "model=own") as trainer:
            await reader.run()
            await trainer.run()
            return await asyncio.to_thread(ask)

    with running(streamlit_command(port), f"{url}/api/ready", log, TX_METRICS_TOKEN=TOKEN):
        shown = run_apart(look())
    assert re.search(r"^tx_visitors 2.0$", shown, re.MULTILINE)
    assert re.search(r'^tx_page_seconds_count{page="attention"} [1-9]', shown, re.MULTILINE)
    assert SECRET not in shown and SECRET not in log.read_text(encoding="utf-8") and TOKEN not in log.read_text(encoding="utf-8")
    expressions = " ".join(one["expr"] for panel in DASHBOARD["panels"] for one in panel["targets"])
    used = {re.sub(r"_(bucket|count)$", "", name) for name in re.findall(r"(?:tx|process)_\w+", expressions)}
    assert used and used <= set(re.findall(r"^# TYPE (\w+) ", shown, re.MULTILINE))
