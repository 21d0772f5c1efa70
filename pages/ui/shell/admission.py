"""Who may come in, and how often each may ask: bounds on visitors, on pages open from one address, and on a visitor's runs.

Streamlit opens a websocket for each page that is open in a browser. `VisitorLimits` admits it, lets it wait for room, or refuses
it; what an admitted visitor asks for faster than the host allows is held back, and of what is held back the newest counts.
No heavy package is imported here: app.py imports this module before it serves anything.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv6Network, ip_address
from secrets import token_urlsafe
from threading import Lock

import streamlit as st
from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState

from pages.ui.shell import metrics, texts
from pages.ui.shell.draining import drain
from tx_core.settings import host_settings

STREAM = "/_stcore/stream"
HEADER = b"tx-connection"
"""Header by which the script of a page finds its connection; what a browser sends under this name is dropped."""
TRY_AGAIN_LATER = 1013
"""The code with which a websocket is refused (RFC 6455, registry of close codes)."""
MAX_WAITING, MAX_WAITING_AN_ADDRESS = 200, 20
"""Visitors who wait for room; more are refused at the start page."""
BURST_SECONDS = 4.0
"""A visitor who was quiet may ask for the runs of so many seconds at once: a page that opens, a slider that is dragged."""
MAX_HELD_MESSAGES, MAX_HELD_BYTES = 32, 250_000
"""What is held back of one visitor, and one message more; the rest stays in the connection, unread."""
SLOWED_SECONDS = 3.0
"""After so long without a pause, a visitor is told that runs are left out."""
WAITING_POLL_SECONDS = 3.0
PRESSED = ("trigger_value", "chat_input_value")
"""How Streamlit's names of values end that a browser sends once: a button that was pressed."""


@dataclass(eq=False)
class Connection:
    """A page that is open in a browser.

    Attributes:
        address: The visitor's address, which a school or a company may share.
        admitted: Whether it may run pages; it waits for room otherwise.
        notices: Sentences that it has not been told yet.
    """

    address: str
    admitted: bool
    notices: set[str] = field(default_factory=set)


class Connections:
    """The connections of this process by their tokens, in the order in which they came."""

    def __init__(self) -> None:
        self._by_token: dict[str, Connection] = {}
        self._lock = Lock()

    def open(self, address: str) -> str | None:
        """Take in a connection and return its token; None where there is no room even to wait, and while the server ends."""
        with self._lock:
            if drain.begun or (self._obstacle(address) and not self._may_wait(address)):
                return None
            token = token_urlsafe(16)
            self._by_token[token] = Connection(address, admitted=not self._obstacle(address))
            return token

    def close(self, token: str) -> None:
        """Forget a connection, and admit those that waited longest for its place."""
        with self._lock:
            self._by_token.pop(token, None)
            for waiting in (one for one in self._by_token.values() if not one.admitted):
                waiting.admitted = not self._obstacle(waiting.address)

    def find(self, token: str) -> Connection | None:
        """Return a connection by its token, None where it is closed."""
        with self._lock:
            return self._by_token.get(token)

    def obstacle(self, address: str) -> str:
        """Say in a sentence why a further visitor from an address has to wait; "" where there is room."""
        with self._lock:
            return self._obstacle(address)

    def refuses(self, address: str) -> str:
        """Say in a sentence why a further visitor from an address could not even wait; "" where one could."""
        if drain.begun:
            return texts.SERVER_ENDS
        with self._lock:
            return "" if self._may_wait(address) else self._obstacle(address)

    def waiting(self) -> int:
        """Count the visitors who wait for room."""
        with self._lock:
            return sum(not one.admitted for one in self._by_token.values())

    def _obstacle(self, address: str) -> str:
        admitted = Counter(one.address for one in self._by_token.values() if one.admitted)
        limits = host_settings()
        if admitted[address] >= limits.max_visitors_an_address:
            return texts.ADDRESS_FULL.format(limit=limits.max_visitors_an_address)
        return texts.SERVER_FULL.format(limit=limits.max_visitors) if admitted.total() >= limits.max_visitors else ""

    def _may_wait(self, address: str) -> bool:
        waiting = Counter(one.address for one in self._by_token.values() if not one.admitted)
        return waiting.total() < MAX_WAITING and waiting[address] < MAX_WAITING_AN_ADDRESS


connections = Connections()
metrics.watch_number("tx_visitors_waiting", "Browsers that wait for room", connections.waiting)


class VisitorLimits:
    """Admit each websocket, let it wait or refuse it, and pace what it asks for; plain ASGI."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket" or not scope["path"].endswith(STREAM):
            await self.app(scope, receive, send)
            return
        token = connections.open(client_address(scope))
        if token is None:
            await receive()
            await send({"type": "websocket.close", "code": TRY_AGAIN_LATER})
            return
        headers = [pair for pair in scope["headers"] if pair[0] != HEADER]
        paced = PacedMessages(receive, connections.find(token), Pace(host_settings().max_runs_a_second))
        try:
            await self.app(scope | {"headers": [*headers, (HEADER, token.encode())]}, paced.receive, send)
        finally:
            paced.close()
            connections.close(token)


def client_address(scope: Scope) -> str:
    """Return what a visitor is counted by: the address that a trusted proxy names (FORWARDED_ALLOW_IPS), else the socket's."""
    client = scope.get("client")
    return counted_address(client[0]) if client else ""


def counted_address(address: str) -> str:
    """Return what visitors from an address are counted by: an IPv4 address, also where it is written as IPv6, else its /64.

    Whoever has one IPv6 address has all those of its /64 network (RFC 6177): counted one by one, they are without number.
    """
    try:
        found = ip_address(address)
    except ValueError:  # a socket without an address
        return address
    if found.version == 4 or found.ipv4_mapped:
        return str(found if found.version == 4 else found.ipv4_mapped)
    return str(IPv6Network((int(found), 64), strict=False))


class Pace:
    """How soon the next message of one visitor may pass: `rate` a second, after a pause those of BURST_SECONDS at once."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic):
        self.clock, self._interval = clock, 1 / rate
        self._slack = max(0.0, BURST_SECONDS - self._interval)
        self._due = clock()

    def seconds_to_wait(self) -> float:
        """Return how long the next message has to wait."""
        return max(0.0, self._due - self._slack - self.clock())

    def take(self) -> None:
        """Count a message that passes."""
        self._due = max(self._due, self.clock()) + self._interval


class PacedMessages:
    """The messages of one websocket, at the pace of its visitor.

    While messages are held back, a newer one takes the place of the last if it asks for the same part of the same page: it holds
    the newest state of all controls. A button that was pressed is never left out.
    """

    def __init__(self, receive: Receive, connection: Connection, pace: Pace):
        self._receive, self._connection, self._pace = receive, connection, pace
        self._held: deque[Message] = deque()
        self._arriving: asyncio.Future[Message] | None = None
        self._behind_since: float | None = None

    async def receive(self) -> Message:
        """Return the next message as soon as it may pass; the end of the connection at once."""
        if not self._held:
            self._held.append(await self._next(None))
            self._behind_since = self._behind_since if self._pace.seconds_to_wait() else None
        while is_from_visitor(self._held[-1]) and (seconds := self._pace.seconds_to_wait()):
            self._note_delay()
            if self._is_full():
                self._connection.notices.add(texts.HELD_UP)
                await asyncio.sleep(seconds)
            elif (arrived := await self._next(seconds)) is not None:
                self._hold(arrived)
        if not is_from_visitor(self._held[-1]):
            end = self._held.pop()
            self._held.clear()
            return end
        self._pace.take()
        return self._held.popleft()

    def close(self) -> None:
        """Stop listening for a further message."""
        if self._arriving is not None:
            self._arriving.cancel()

    async def _next(self, seconds: float | None) -> Message | None:
        """Return the next message of the browser, None where it sends none for so many seconds."""
        self._arriving = self._arriving or asyncio.ensure_future(self._receive())
        done, _ = await asyncio.wait([self._arriving], timeout=seconds)
        if not done:
            return None
        arrived, self._arriving = self._arriving.result(), None
        return arrived

    def _is_full(self) -> bool:
        return len(self._held) >= MAX_HELD_MESSAGES or sum(map(size_of, self._held)) >= MAX_HELD_BYTES

    def _hold(self, message: Message) -> None:
        if is_from_visitor(message) and is_superseded(self._held[-1], message):
            self._held.pop()
        self._held.append(message)

    def _note_delay(self) -> None:
        now = self._pace.clock()
        self._behind_since = now if self._behind_since is None else self._behind_since
        if now - self._behind_since > SLOWED_SECONDS:
            self._connection.notices.add(texts.SLOWED_DOWN.format(limit=host_settings().max_runs_a_second))
            self._behind_since = now


def is_from_visitor(message: Message) -> bool:
    """Tell whether a message is one that a browser sent, not the beginning or the end of its connection."""
    return message["type"] == "websocket.receive"


def size_of(message: Message) -> int:
    """Count the bytes of a message."""
    return len(message.get("bytes") or message.get("text") or b"")


def is_superseded(earlier: Message, later: Message) -> bool:
    """Tell whether a later message asks for all that an earlier one asks for."""
    asked, newest = rerun_asked(earlier), rerun_asked(later)
    if asked is None or newest is None or asked.is_history_navigation:
        return False
    values = [one.WhichOneof("value") or "" for one in asked.widget_states.widgets]
    return part_of(asked) == part_of(newest) and not any(value.endswith(PRESSED) for value in values)


def part_of(asked: ClientState) -> tuple[str, str, str]:
    """Return which part of which page is to run."""
    return asked.page_script_hash, asked.page_name, asked.fragment_id


def rerun_asked(message: Message) -> ClientState | None:
    """Return what a message of a browser says of the page that it asks to run again; None for any other message."""
    try:
        asked = BackMsg.FromString(message.get("bytes") or b"")
    except DecodeError:
        return None
    return asked.rerun_script if asked.WhichOneof("type") == "rerun_script" else None


def own_connection() -> Connection | None:
    """Return the connection of the visitor whose page runs; None in a test without a server, and once it is closed."""
    return connections.find(st.context.headers.get(HEADER.decode()) or "")


def is_admitted() -> bool:
    """Tell whether the visitor whose page runs may see it."""
    connection = own_connection()
    return connection is None or connection.admitted


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
