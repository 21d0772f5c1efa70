"""The entry point of the explorer: `streamlit run app.py`.

The ASGI app around the pages: it loads the default model in the background, serves /api/ready (does the model answer?) and
/api/metrics (load), adds security headers, and limits the number of visitors.
No heavy package is imported here, so the first page is served before torch is imported.
"""

import gc
import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

if not (3, 11) <= sys.version_info[:2] <= (3, 14):  # before an import that fails on another version
    sys.exit(
        f"The explorer runs on Python 3.11 to 3.14, and this is Python {'.'.join(map(str, sys.version_info[:2]))}: "
        "make its environment (.venv) anew with one of these, for example by python3.13 -m venv --clear .venv"
    )

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

gc.disable()  # imports create no garbage, and collecting during them takes a fourth of the start; `gc.freeze()` below

from tx_core.errors import SettingsProblem
from tx_core.settings import host_settings

try:  # before the imports below read them: a wrong setting ends the start with one line
    host_settings()
except SettingsProblem as problem:
    sys.exit(f"{problem}")

from pages.bertviz_page import framed
from pages.classroom import events
from pages.fill_mask import progress
from pages.ui.shell import admission, garbage, glossary, metrics, readiness, start_page
from pages.ui.stage import arcs, first_picture, packing, scripts

LTI_ROUTES = ()
if host_settings().lti_file:
    try:
        from pages.classroom import lti

        lti.host_tool()
    except ModuleNotFoundError as missing:
        sys.exit(f"TX_LTI_FILE needs {missing.name}: pip install -r requirements-lti.txt")
    except SettingsProblem as problem:
        sys.exit(f"{problem}")
    LTI_ROUTES = lti.ROUTES

# oneDNN compiles and caches one CPU kernel per shape, a thousand by default: 1.8 GB after many sentences in bfloat16 through a
# model of BERT's size. It reads the variable at its first operation, hence this is set before torch is imported.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")


MAIN = Path(__file__).parent / "pages" / "main.py"
# Streamlit adds the script's folder to sys.path for each run and removes it afterwards. Another thread that iterates over
# sys.path meanwhile (an import, importlib.metadata) then skips an entry. Streamlit does not touch an entry that is there already.
sys.path.append(str(MAIN.parent))

HEADERS = {
    "Content-Security-Policy": start_page.content_policy(),
    "X-Content-Type-Options": "nosniff",
    # The URL contains the visitor's sentence, which other sites must not receive.
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class SecurityHeaders:
    """Add HEADERS to every HTTP response; plain ASGI, so that streams and websockets are not buffered."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)
        except ClientDisconnect:  # the client is gone; uncaught, the server would log a long traceback
            logging.getLogger(__name__).warning("an upload was broken off")


async def ready(_request: Request) -> JSONResponse:
    """Respond 200 with model and device once the default model has answered; 503 before that and during shutdown."""
    engine = readiness.state()
    return JSONResponse(engine.as_dict(), 200 if engine.state == "ready" else 503, {"Cache-Control": "no-store"})


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Load the default model while pages are served already; start garbage collection and the deletion of old rooms."""
    readiness.default_engine.start()
    readiness.end_at_sigterm(events.hub.end)
    ended = [garbage.start_collecting(), events.start_sweeping(), *([lti.start_sending()] if LTI_ROUTES else [])]
    yield
    for thread in ended:
        thread.set()


metrics.log_without_messages()
ROUTES = (
    Route("/api/ready", ready),
    metrics.ROUTE,
    framed.ROUTE,
    scripts.STAGE_FILES.route,
    first_picture.LATER_NUMBERS.route,
    start_page.PREVIEWS.route,
    start_page.SHELL.route,
    packing.ROUTE,
    arcs.ROUTE,
    progress.ROUTE,
    *events.ROUTES,
    *LTI_ROUTES,
    glossary.GLOSSARY_ROUTE,
    *start_page.routes(scripts.stage_files, first_picture.early_view),
)
COMPRESSION = 6
"""Gzip level: Streamlit's first scripts shrink from 2.1 to 0.5 MB in 37 ms. Level 4 leaves 5 % more, level 9 saves nothing."""


def below_base(route: Route) -> Route:
    """Move a route below the path of the whole app, if it has one (`server.baseUrlPath`)."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return Route(f"/{base}{route.path}", route.endpoint, methods=route.methods) if base else route


OPTIONS = {
    "lifespan": lifespan,
    "middleware": [
        Middleware(SecurityHeaders),
        Middleware(GZipMiddleware, compresslevel=COMPRESSION),
        Middleware(admission.VisitorLimit),
        Middleware(metrics.StreamlitMetrics),
    ],
    "on_script_error": metrics.count_failure,
    "routes": [below_base(route) for route in ROUTES],
}
"""Options of the app, shared with the entry point in assets/hosting/community_cloud."""

app = st.App(MAIN, **OPTIONS)
gc.freeze()
gc.enable()
