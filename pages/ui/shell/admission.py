"""Bounds on visitors: how many there are, and how often a page may run. Limits on request rates are the proxy's.

No heavy package is imported here: app.py imports this module before it serves anything.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from ipaddress import IPv6Network, ip_address
from secrets import token_urlsafe
from threading import Lock

import streamlit as st
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.ui.shell import texts
from tx_core.settings import host_settings

STREAM = "/_stcore/stream"
HEADER = b"tx-connection"
"""Header by which a script finds its own page; what a browser sends under this name is dropped."""
TRY_AGAIN_LATER, NO_TEXTS = 1013, 1003
"""The codes with which a websocket is refused (RFC 6455, registry of close codes)."""
MAX_WAITING = 200
"""Visitors who wait for a place; more are refused, and their browsers try again."""
BURST = 20
"""Runs that a page may ask for at once after a rest."""
PACE = "pace"
"""Session entry of the pace of a page."""


_pages: dict[str, bool] = {}
"""The open pages of this process by their tokens: whether each was let in."""
_lock = Lock()


class VisitorLimit:
    """Count each websocket of a page, and refuse it where too many wait already; plain ASGI."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket" or not scope["path"].endswith(STREAM):
            await self.app(scope, receive, send)
            return
        if len(_pages) >= host_settings().max_visitors + MAX_WAITING:
            await receive()
            await send({"type": "websocket.close", "code": TRY_AGAIN_LATER})
            return
        token = token_urlsafe(16)
        with _lock:
            _pages[token] = False
        headers = [pair for pair in scope["headers"] if pair[0] != HEADER]

        async def receive_bytes() -> Message:
            """Receive what a page sends, which is bytes; whoever sends a text is no page, and is sent away."""
            message = await receive()
            if message["type"] != "websocket.receive" or message.get("bytes") is not None:
                return message
            await send({"type": "websocket.close", "code": NO_TEXTS})
            return {"type": "websocket.disconnect", "code": NO_TEXTS}

        try:
            await self.app(scope | {"headers": [*headers, (HEADER, token.encode())]}, receive_bytes, send)
        finally:
            with _lock:
                del _pages[token]


def is_admitted() -> bool:
    """Return whether the visitor whose page runs may see it, admitting a waiting one where there is a place by now."""
    token = st.context.headers.get(HEADER.decode()) or ""
    with _lock:
        if token not in _pages:  # in a test without a server, and once the browser has left
            return True
        _pages[token] |= sum(_pages.values()) < host_settings().max_visitors
        return _pages[token]


def connected() -> int:
    """Count the pages that are open in browsers."""
    return len(_pages)


def waiting() -> int:
    """Count the visitors who wait for a place."""
    with _lock:
        return len(_pages) - sum(_pages.values())


def explain_waiting() -> None:
    """Explain that the server is full; the browser asks again until there is a place."""
    limit = host_settings().max_visitors
    st.title(texts.PLEASE_WAIT, anchor=False)
    st.text(texts.SERVER_FULL_OF_ONE if limit == 1 else texts.SERVER_FULL.format(limit=limit))
    st.caption(f":material/hourglass_top: {texts.WAITING_FOR_PLACE}")


class Pace:
    """How soon the next run of one page may begin: `rate` a second, after a rest BURST of them at once."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic):
        self._interval, self._clock, self._due = 1 / rate, clock, clock()

    def count_run(self) -> float:
        """Count a run, and return how many seconds it has to wait."""
        now = self._clock()
        wait = max(0.0, self._due - now - (BURST - 1) * self._interval)
        self._due = max(self._due, now) + self._interval
        return wait


def pause_before_run() -> None:
    """Hold the script of a page that asks for runs too fast: of what it asks for meanwhile, Streamlit runs the newest only.

    Call it before the first element of a run: Streamlit breaks a run off at its next element when another one is asked for.
    """
    pace = st.session_state.setdefault(PACE, Pace(host_settings().max_runs_a_second))
    time.sleep(pace.count_run())


class Turns:
    """Slots of work for requests: next is one of the visitor who has the fewest. Few of one visitor wait; the others are refused.

    slots: how many requests work at once. patience: the seconds that one waits; no thread does.
    """

    def __init__(self, slots: int, most_waiting: int, patience: float):
        self._free, self._most_waiting, self._patience = slots, most_waiting, patience
        self._at_work: Counter[str] = Counter()
        self._waiting: dict[asyncio.Future[None], str] = {}

    @asynccontextmanager
    async def turn(self, visitor: str) -> AsyncIterator[bool]:
        """Wait for a slot and hold it; yield whether there was one."""
        if self._free:
            self._free -= 1
            self._at_work[visitor] += 1
        elif not await self._wait(visitor):
            yield False
            return
        try:
            yield True
        finally:
            self._hand_on(visitor)

    async def _wait(self, visitor: str) -> bool:
        if list(self._waiting.values()).count(visitor) >= self._most_waiting:
            return False
        called, has_come = asyncio.get_running_loop().create_future(), False
        self._waiting[called] = visitor
        try:
            async with asyncio.timeout(self._patience):
                await called
            has_come = True
        except TimeoutError:
            pass
        finally:
            if self._waiting.pop(called, None) is None and not has_come:  # called when it was leaving
                self._hand_on(visitor)
        return has_come

    def _hand_on(self, visitor: str) -> None:
        self._at_work -= Counter({visitor: 1})
        if not self._waiting:
            self._free += 1
            return
        called = min(self._waiting, key=lambda one: self._at_work[self._waiting[one]])
        self._at_work[self._waiting.pop(called)] += 1
        if not called.done():  # else whoever waited is leaving, and hands it on
            called.set_result(None)


def own_address() -> str:
    """Return the address by which the visitor of this run is counted; "local" on the server's own machine."""
    return counted_address(str(st.context.ip_address or "local"))


def counted_address(address: str) -> str:
    """Return the key by which an address is counted: an IPv4 address, also where it is written as IPv6, else its /64.

    A host with one IPv6 address usually has its whole /64 network: counted singly, its addresses would evade any limit.
    """
    try:
        found = ip_address(address)
    except ValueError:  # a socket without an address
        return address
    if found.version == 4 or found.ipv4_mapped:
        return str(found if found.version == 4 else found.ipv4_mapped)
    return str(IPv6Network((int(found), 64), strict=False))
