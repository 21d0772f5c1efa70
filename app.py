"""The entry of the explorer: `streamlit run app.py`.

Around the pages it puts what a script cannot do for itself: it loads the default model in the background, tells at /api/ready
whether that model answers and at /api/metrics how busy it is, sends security headers, and bounds visitors.
No heavy package is imported here, so the first page is on its way before torch is.
"""

import gc
import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

if not (3, 11) <= sys.version_info[:2] <= (3, 14):  # before an import that fails
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

gc.disable()  # what is imported stays: looking through it for garbage, again and again, takes a fourth of that time

from tx_core.errors import SettingsProblem
from tx_core.settings import host_settings

try:  # before what follows reads them: a wrong value ends the start with one line
    host_settings()
except SettingsProblem as problem:
    sys.exit(f"{problem}")

from pages.classroom import events
from pages.ui.canvas import component, framed, prefetch
from pages.ui.shell import (
    admission,
    garbage,
    glossary,
    metrics,
    readiness,
    start_page,
)

# Programs that PyTorch keeps on a processor, one for each size of an operation: by itself a thousand, which many sentences in
# bfloat16 through a model of BERT's size fill with 1.8 GB. Read at its first operation, hence set before torch is there.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")


MAIN = Path(__file__).parent / "pages" / "main.py"
# Streamlit puts the script's folder on the path for each run and takes it off again: an import or a look for a version in
# another thread, which walks along that list, then misses a folder. What stands there already it leaves alone.
sys.path.append(str(MAIN.parent))

HEADERS = {
    "Content-Security-Policy": start_page.content_policy(),
    "X-Content-Type-Options": "nosniff",
    # The visitor's sentence stands in the URL: no other site gets to see it.
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class SecurityHeaders:
    """Add HEADERS to every HTTP answer; plain ASGI, so that streams and websockets pass untouched."""

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
        except ClientDisconnect:  # nobody is there to be answered, and a server would log where it happened, at length
            logging.getLogger(__name__).warning("an upload was broken off")


async def ready(_request: Request) -> JSONResponse:
    """Answer 200 with model and device once the default model has answered; 503 with the state before, and at the end."""
    engine = readiness.state()
    return JSONResponse(engine.as_dict(), 200 if engine.state == "ready" else 503, {"Cache-Control": "no-store"})


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Load the default model while the server already serves pages, and collect garbage between their runs."""
    readiness.default_engine.start(readiness.first_visit.wait)
    readiness.end_at_sigterm(events.hub.end)
    ended = garbage.start_collecting(), events.start_sweeping()
    yield
    for thread in ended:
        thread.set()


metrics.log_without_messages()
ROUTES = (
    Route("/api/ready", ready),
    metrics.ROUTE,
    framed.ROUTE,
    component.ROUTE,
    prefetch.ROUTE,
    *events.ROUTES,
    glossary.GLOSSARY_ROUTE,
    *start_page.ROUTES,
)
COMPRESSION = 4
"""Of gzip's nine levels: Streamlit's scripts become 0.8 MB of 2.9 in 30 ms. The last saves another 4 % in twice that time."""

OPTIONS = {
    "lifespan": lifespan,
    "middleware": [
        Middleware(SecurityHeaders),
        Middleware(GZipMiddleware, compresslevel=COMPRESSION),
        Middleware(admission.VisitorLimit),
    ],
    "on_script_error": metrics.count_failure,
    "routes": [component.below_base(route) for route in ROUTES],
}
"""Of the app; the entry in assets/hosting/community_cloud makes it of the same."""

app = st.App(MAIN, **OPTIONS)
gc.freeze()
gc.enable()
