"""Who may come in, and how often each may ask: bounds on visitors, on pages open from one address, on runs and on requests.

Streamlit opens a websocket for each page that is open in a browser. `VisitorLimits` admits it, lets it wait for room, or refuses
it; what it asks for faster than the host allows is held back (pace.py). `RequestLimits` bounds how often one address opens a
websocket, and what it asks for beside it.
No heavy package is imported here: app.py imports this module before it serves anything.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv6Network, ip_address
from math import inf
from secrets import token_urlsafe
from threading import Lock

import streamlit as st
from cachetools import LRUCache
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime import Runtime

from pages.ui.shell import metrics, texts
from pages.ui.shell.draining import drain, named_session, own_session
from pages.ui.shell.pace import Pace, PacedMessages, is_from_visitor, size_of
from tx_core.settings import host_settings

STREAM = "_stcore/stream"
HEADER = b"tx-connection"
"""Header by which the script of a page finds its connection; what a browser sends under this name is dropped."""
TRY_AGAIN_LATER = 1013
"""The code with which a websocket is refused (RFC 6455, registry of close codes)."""
MESSAGE_TOO_LARGE = 1009
"""The code with which a connection ends whose browser sent more at once than is taken (RFC 6455)."""
LEFT = (1000, 1001)
"""The codes with which a browser closes the connection of a page that was left or closed."""
MAX_ADDRESSES = 10_000
"""Whose requests are counted at a time; the one unseen for longest is forgotten first."""
MAX_WAITING, MAX_WAITING_AN_ADDRESS = 200, 20
"""Visitors who wait for room; more are refused at the start page."""
WAITING_POLL_SECONDS = 3.0


@dataclass(eq=False)
class Connection:
    """A page that is open in a browser, or whose connection broke a moment ago.

    Attributes:
        address: What its visitor is counted by, which a school or a company may share.
        admitted: Whether it may run pages; it waits for room otherwise.
        session: Streamlit's name of the session that runs its pages, "" before the first run.
        broken: When its connection broke, None while it is there.
        notices: Sentences that it has not been told yet.
        messages: What its browser sends.
        pace: How soon its next run may begin; a browser that connects again has no other one.
    """

    address: str
    admitted: bool
    session: str = ""
    broken: float | None = None
    notices: set[str] = field(default_factory=set)
    messages: PacedMessages | None = None
    pace: Pace = field(default_factory=lambda: Pace(host_settings().max_runs_a_second))


class Connections:
    """The connections of this process by their tokens, in the order in which they came.

    Whose connection breaks keeps the place, also in the queue, as long as Streamlit keeps the session.
    when_left: what is called each time that a visitor has left.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._by_token: dict[str, Connection] = {}
        self._lock, self._clock, self._next_end = Lock(), clock, inf
        self.when_left: list[Callable[[], None]] = []

    def open(self, address: str, session: str = "") -> str | None:
        """Take in a connection and return its token; None where there is no room even to wait, and while the server ends.

        session: the one that the browser had before its connection broke: it gets its place back. It may be the first to know.
        """
        with self._lock:
            self._advance()
            old = next((token for token, one in self._by_token.items() if session and one.session == session), None)
            if drain.begun or (old is None and self._obstacle(address) and not self._may_wait(address)):
                return None
            token = token_urlsafe(16)
            if old is None:
                self._by_token[token] = Connection(address, admitted=not self._obstacle(address))
            else:
                self._by_token = {token if name == old else name: one for name, one in self._by_token.items()}
                self._by_token[token].broken, self._by_token[token].address = None, address
                self._advance()
            return token

    def close(self, token: str, *, broken: bool = False) -> str:
        """Forget a connection, and admit those that waited longest for its place; one that only broke keeps it for a while.

        Returns the session that ends with it, "" where none does: the connection broke, or the browser has another one.
        """
        with self._lock:
            connection = self._by_token.get(token)
            if connection is not None and broken and connection.session:
                connection.broken, connection.messages = self._clock(), None
            elif connection is not None:
                del self._by_token[token]
            self._advance()
        for tidy_up in self.when_left:
            tidy_up()
        return connection.session if connection is not None and not broken else ""

    def sessions(self) -> set[str]:
        """Return the sessions of all visitors, also of those whose connection broke a moment ago."""
        with self._lock:
            self._advance()
            return {one.session for one in self._by_token.values()}

    def _advance(self) -> None:
        """Forget those who did not come back in time, and admit those that waited longest, unless their connection broke."""
        kept_since = self._clock() - kept_seconds()
        self._by_token = {token: one for token, one in self._by_token.items() if one.broken is None or one.broken > kept_since}
        admitted = self._admitted()
        for waiting in (one for one in self._by_token.values() if not one.admitted and one.broken is None):
            waiting.admitted = not obstacle(waiting.address, admitted)
            admitted[waiting.address] += waiting.admitted
        broken = [one.broken for one in self._by_token.values() if one.broken is not None]
        self._next_end = min(broken, default=inf) + kept_seconds()

    def find(self, token: str) -> Connection | None:
        """Return a connection by its token, None where it is closed."""
        with self._lock:
            if self._clock() >= self._next_end:
                self._advance()
            return self._by_token.get(token)

    def obstacle(self, address: str) -> str:
        """Say in a sentence why a further visitor from an address has to wait; "" where there is room."""
        with self._lock:
            self._advance()
            return self._obstacle(address)

    def refuses(self, address: str) -> str:
        """Say in a sentence why a further visitor from an address could not even wait; "" where one could."""
        if drain.begun:
            return texts.SERVER_ENDS
        with self._lock:
            self._advance()
            return "" if self._may_wait(address) else self._obstacle(address)

    def has_left(self, session: str) -> bool:
        """Tell whether the visitor of a session closed the page; False where the connection broke, and while it is there."""
        with self._lock:
            found = [one.messages for one in self._by_token.values() if one.messages and session and one.session == session]
            return any(messages.ended_with in LEFT for messages in found)

    def waiting(self) -> int:
        """Count the visitors who wait for room."""
        with self._lock:
            self._advance()
            return sum(not one.admitted and one.broken is None for one in self._by_token.values())

    def _obstacle(self, address: str) -> str:
        return obstacle(address, self._admitted())

    def _admitted(self) -> Counter[str]:
        return Counter(one.address for one in self._by_token.values() if one.admitted)

    def _may_wait(self, address: str) -> bool:
        waiting = Counter(one.address for one in self._by_token.values() if not one.admitted)
        return waiting.total() < MAX_WAITING and waiting[address] < MAX_WAITING_AN_ADDRESS


def obstacle(address: str, admitted: Counter[str]) -> str:
    """Say in a sentence why nobody more may come in from an address, "" where one may. admitted: how many from each are in."""
    limits = host_settings()
    if admitted[address] >= limits.max_visitors_an_address:
        full = texts.ADDRESS_FULL_OF_ONE if limits.max_visitors_an_address == 1 else texts.ADDRESS_FULL
        return full.format(limit=limits.max_visitors_an_address)
    if admitted.total() >= limits.max_visitors:
        full = texts.SERVER_FULL_OF_ONE if limits.max_visitors == 1 else texts.SERVER_FULL
        return full.format(limit=limits.max_visitors)
    return ""


connections = Connections()
metrics.watch_number("tx_visitors_waiting", "Browsers that wait for room", connections.waiting)


class MessageLimits:
    """End the connection of a browser that sends a larger message than the host allows; plain ASGI."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        most, ended = 1e6 * host_settings().max_message_megabytes, False

        async def receive_bounded() -> Message:
            nonlocal ended
            message = await receive()
            if not is_from_visitor(message) or size_of(message) <= most:
                return message
            ended = True
            await send({"type": "websocket.close", "code": MESSAGE_TOO_LARGE})
            return {"type": "websocket.disconnect", "code": MESSAGE_TOO_LARGE}

        async def send_until_ended(message: Message) -> None:
            if not ended:  # what a run still has to say goes nowhere
                await send(message)

        await self.app(scope, receive_bounded, send_until_ended)


class VisitorLimits:
    """Admit each websocket, let it wait or refuse it, and pace what it asks for; plain ASGI."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket" or not scope["path"].endswith(f"/{STREAM}"):
            await self.app(scope, receive, send)
            return
        token = connections.open(client_address(scope), named_session(Headers(scope=scope).get("sec-websocket-protocol", "")))
        if token is None:
            await refuse(receive, send)
            return
        headers = [pair for pair in scope["headers"] if pair[0] != HEADER]
        connection = connections.find(token)
        if connection.messages is not None:  # the browser knew first that its connection was broken
            connection.messages.end()
        paced = connection.messages = PacedMessages(receive, connection.notices, connection.pace)
        try:
            await self.app(scope | {"headers": [*headers, (HEADER, token.encode())]}, paced.receive, send)
        finally:
            paced.close()
            left = connections.close(token, broken=paced.ended_with not in LEFT)
            if left and Runtime.exists():  # Streamlit would keep what the session holds until many others have come and gone
                Runtime.instance().close_session(left)


async def refuse(receive: Receive, send: Send) -> None:
    """Refuse a websocket that is about to be opened; the browser tries again by itself."""
    await receive()
    await send({"type": "websocket.close", "code": TRY_AGAIN_LATER})


def kept_seconds() -> float:
    """Return how long the place of a visitor is kept whose connection broke: as long as Streamlit keeps the session."""
    return float(st.get_option("server.disconnectedSessionTTL"))


def client_address(scope: Scope) -> str:
    """Return what a visitor is counted by: the address that a trusted proxy names (FORWARDED_ALLOW_IPS), else the socket's."""
    client = scope.get("client")
    return counted_address(client[0]) if client else ""


def counted_address(address: str) -> str:
    """Return what visitors from an address are counted by: an IPv4 address, also where it is written as IPv6, else its /64.

    Whoever has one IPv6 address has at least those of its /64 network: counted one by one, they are without number.
    """
    try:
        found = ip_address(address)
    except ValueError:  # a socket without an address
        return address
    if found.version == 4 or found.ipv4_mapped:
        return str(found if found.version == 4 else found.ipv4_mapped)
    return str(IPv6Network((int(found), 64), strict=False))


class RequestLimits:
    """Refuse what an address asks for faster than the host allows: connections, maps, events, uploads; plain ASGI.

    parts: the parts of paths, below the base path, whose requests count, and whose websockets once each.
    """

    def __init__(self, app: ASGIApp, parts: Sequence[str]):
        self.app = app
        self.counted = re.compile(rf"(^|/)({'|'.join(map(re.escape, parts))})(/|$)")
        self.paces: LRUCache[str, Pace] = LRUCache(MAX_ADDRESSES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or not self.counted.search(scope["path"]):
            await self.app(scope, receive, send)
            return
        limit = host_settings().max_requests_a_second
        pace = self.paces.setdefault(client_address(scope), Pace(limit))
        if pace.seconds_to_wait():
            if scope["type"] == "websocket":
                await refuse(receive, send)
                return
            headers = {"Retry-After": "1", "Cache-Control": "no-store"}
            await PlainTextResponse(texts.TOO_MANY_REQUESTS.format(limit=limit), 429, headers)(scope, receive, send)
            return
        pace.take()
        await self.app(scope, receive, send)


def own_connection() -> Connection | None:
    """Return the connection of the visitor whose page runs; None in a test without a server, and once it is closed."""
    return connections.find(st.context.headers.get(HEADER.decode()) or "")


def own_address() -> str:
    """Return what the visitor whose page runs is counted by; "" where that is not known."""
    connection = own_connection()
    return connection.address if connection else ""


def is_admitted() -> bool:
    """Tell whether the visitor whose page runs may see it. The first run of a connection notes whose session it is."""
    connection = own_connection()
    if connection is None:
        return True
    connection.session = own_session()
    return connection.admitted


@st.fragment(run_every=WAITING_POLL_SECONDS)
def wait_for_room() -> None:
    """Say why the visitor has to wait, and show the page as soon as there is room."""
    connection = own_connection()
    if connection is None or connection.admitted:
        st.rerun()
    st.title(texts.PLEASE_WAIT, anchor=False)
    st.text(connections.obstacle(connection.address))
    st.caption(f":material/hourglass_top: {texts.WAITING_FOR_ROOM}")


def say_if_slowed() -> None:
    """Tell a visitor whose runs were held back why the page does not show each of them."""
    connection = own_connection()
    while connection is not None and connection.notices:
        st.toast(connection.notices.pop(), icon=":material/speed:")
