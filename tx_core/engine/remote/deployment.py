"""A Ray Serve application whose replicas hold the models, and compute what `client` asks for.

`serve run assets/hosting/ray.yaml` starts it; that file says how many replicas there are and what each of them takes.
The only home of Ray in the engine: nothing else here imports this module.
"""

import asyncio
import json
import logging
import os
import traceback
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ray import serve
from ray.serve.config import BackpressureConfig
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from tx_core.engine import catalogue
from tx_core.engine.remote import messages
from tx_core.engine.threads import slot_timeout, use_background_slots
from tx_core.errors import Attempt, ExplorerError, memory_checked
from tx_core.settings import host_settings, variable

PAGE_THREADS, BACKGROUND_THREADS = 32, 8
"""Requests that a replica takes: most wait for one of its compute slots, which sends them back when they wait too long."""
WARMUP_TEXT = "The cat sat on the mat."


@serve.deployment(
    max_ongoing_requests=PAGE_THREADS + BACKGROUND_THREADS,
    max_queued_requests=2 * PAGE_THREADS,
    backpressure_config=BackpressureConfig(status_code=messages.BACKPRESSURE),
)
class Models:
    """A replica: the models of the catalogue, each loaded when it is first asked for."""

    def __init__(self) -> None:
        os.environ[variable("engine")] = "process"  # a replica never asks another one, whatever its machine is set to
        host_settings.cache_clear()
        self._pages = ThreadPoolExecutor(PAGE_THREADS, "pages")
        self._background = ThreadPoolExecutor(BACKGROUND_THREADS, "background", use_background_slots)
        catalogue.load(catalogue.DEFAULT).trace(WARMUP_TEXT)

    async def __call__(self, http: HttpRequest) -> Response:
        """Answer one request of a `RemoteEngine`."""
        try:
            request = messages.read_message(await http.body())
        except ValueError:
            return _failed("ValueError", 400)
        if not isinstance(request, messages.Request):
            return _failed("TypeError", 400)
        threads = self._background if request.background else self._pages
        return await asyncio.get_running_loop().run_in_executor(threads, answer_to, request)


def answer_to(request: messages.Request) -> Response:
    """Return what is asked for, or the error that a page explains.

    Of any other error the log has the kind and the places in the code: its words may hold what a visitor typed, and Ray would
    log them.
    """
    attempt = Attempt()
    with attempt:
        try:
            with memory_checked(), slot_timeout(request.seconds):
                result = _compute(request)
        except (ExplorerError, ValueError) as problem:
            result = problem
        return Response(messages.write_message(result), media_type="application/octet-stream")
    kind = type(attempt.problem).__name__
    places = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(attempt.problem.__traceback__)]
    logging.getLogger(__name__).error(json.dumps({"kind": kind, "places": places}))
    return _failed(kind, 500)


def _compute(request: messages.Request) -> Any:
    if request.method == "missing":
        catalogue.hub_reach.check()
        return tuple(catalogue.hub_reach.missing)
    engine = catalogue.load_named(request.model, special_tokens=request.special_tokens)
    if request.method == "describe":
        return {name: getattr(engine, name) for name in messages.DESCRIPTION} | {"tokenizer": engine.tokenizer.to_json()}
    if request.method not in messages.METHODS:
        raise ValueError(f"method must be one of {', '.join(messages.METHODS)}, got {request.method}")
    return getattr(engine, request.method)(**request.arguments)


def _failed(kind: str, status: int) -> Response:
    return Response(status_code=status, headers={messages.FAILURE_HEADER: kind})


models = Models.bind()
"""What `serve run` and ray.yaml name."""
