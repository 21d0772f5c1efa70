"""What a host can watch: counts and times for Prometheus at /api/metrics, once TX_METRICS_TOKEN is set; no visitor's words.

No heavy package is imported here: app.py imports this module before it serves anything.
"""

import hmac
import json
import logging
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import streamlit as st
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from pages.contents import PAGES
from pages.ui.shell import admission
from tx_core.engine import threads
from tx_core.errors import ExplorerError
from tx_core.settings import host_settings

RUN_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
"""Borders of the classes of durations."""

STREAMLIT_METRICS = "/_stcore/metrics"

_registry = CollectorRegistry()
ProcessCollector(registry=_registry)
_page_seconds = Histogram(
    "tx_page_seconds",
    "Time of runs of a page",
    ["page"],
    buckets=RUN_SECONDS,
    registry=_registry,
)
_problems = Counter("tx_problems", "Problems explained to visitors, by kind", ["kind"], registry=_registry)
_failures = Counter("tx_failures", "Runs of a page that ended in an unexpected error", ["page", "kind"], registry=_registry)
_log = logging.getLogger(__name__)
_running: set[int] = set()
"""The threads in which pages run."""


def watch_number(name: str, description: str, read: Callable[[], float]) -> None:
    """Register a number that `read` returns at every request for metrics. The name begins with tx_ and ends with its unit."""
    Gauge(name, description, registry=_registry).set_function(read)


def runs_now() -> int:
    """Count the runs of pages that go on now."""
    return len(_running)


watch_number("tx_visitors", "Browsers that are connected", admission.connected)
watch_number("tx_visitors_waiting", "Browsers that wait for a place", admission.waiting)
watch_number("tx_slots_in_use", "Computations that pages run now", threads.page_slots_in_use)
watch_number("tx_slots_waiting", "Pages that wait for a compute slot", threads.pages_waiting)


@contextmanager
def page_run(page: str) -> Iterator[None]:
    """Time a run of a page."""
    start, thread = time.perf_counter(), threading.get_ident()  # of the script: it runs one page at a time
    _running.add(thread)
    try:
        yield
    finally:
        _running.discard(thread)
        _page_seconds.labels(page).observe(time.perf_counter() - start)


def count_failure(error: Exception) -> None:
    """Count an unexpected error of a page, of a part of it or of a click, and log its kind in one line."""
    address = urlsplit(st.context.url or "").path.rsplit("/", 1)[-1]
    page = next((page.key for page in PAGES if address in (page.key, page.address)), "start")
    _failures.labels(page, type(error).__name__).inc()
    _log.error("%s", json.dumps({"event": "page failed", "page": page, "kind": type(error).__name__}))


class WithoutMessage(logging.Filter):
    """A log filter that keeps an error's kind and origin and removes its message: it may quote what a visitor typed."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and record.exc_info[0]:
            kind, _, frames = record.exc_info
            record.exc_text = "".join([*traceback.format_tb(frames), kind.__name__])
        return True


BROKEN = {
    "streamlit.web.server.starlette.starlette_websocket": "Error deserializing back message",
    "uvicorn.error": "Invalid UTF-8 sequence received from client.",
}
"""What is logged, and by whom, when a client sends what no page does."""


def without_traceback(record: logging.LogRecord) -> bool:
    """Accept a record, without a traceback where a client has sent what no page does: that is no error here."""
    if record.getMessage() == BROKEN[record.name]:
        record.exc_info = None
    return True


def log_without_messages() -> None:
    """Remove messages of unexpected errors from Streamlit's log, and tracebacks where a client has sent what no page does."""
    logging.getLogger("streamlit.error_util").addFilter(WithoutMessage())
    for name in BROKEN:
        logging.getLogger(name).addFilter(without_traceback)


def count_problem(problem: ExplorerError) -> None:
    """Count a problem that a page explains to its visitor."""
    _problems.labels(type(problem).__name__).inc()


def refusal(request: Request) -> Response | None:
    """Return what a request without the host's token (`Authorization: Bearer …`) gets: 404 where the host set none."""
    token = host_settings().metrics_token
    if not token:
        return Response(None, 404)
    if not hmac.compare_digest(request.headers.get("authorization", "").encode(), f"Bearer {token}".encode()):
        return Response(None, 401, {"WWW-Authenticate": "Bearer"})
    return None


def send_metrics(request: Request) -> Response:
    """Serve the metrics to a request with the host's token."""
    return refusal(request) or Response(generate_latest(_registry), 200, {"Cache-Control": "no-store"}, CONTENT_TYPE_LATEST)


class StreamlitMetrics:
    """Ask for the same token before Streamlit's own metrics, whose route cannot be replaced; plain ASGI."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_asked = scope["type"] == "http" and scope["path"].rstrip("/").endswith(STREAMLIT_METRICS)
        await ((is_asked and refusal(Request(scope))) or self.app)(scope, receive, send)


ROUTE = Route("/api/metrics", send_metrics)
