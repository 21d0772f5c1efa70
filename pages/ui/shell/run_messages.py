"""The messages of a run of a page on their way to the browser: handed on in order, and as many together as have come.

Streamlit hands each to the event loop by itself, wakes the loop once more to have it sent, and sends it by itself: some 40
messages for a new sentence, with three system calls each, a struggle for the interpreter between the loop and the script, and as
many reads of whoever receives them. No option changes that. Hence three private functions of Streamlit's are replaced, whose
version is pinned; a browser gets the same messages in the same order.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from threading import Lock
from weakref import WeakKeyDictionary

from starlette.websockets import WebSocket
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient

MOST_TOGETHER = 100
"""Messages that wait for others: Streamlit gives up a browser for which 500 wait."""
_open = StarletteSessionClient.__init__
_handle = AppSession._handle_scriptrunner_event_on_event_loop
_waiting: WeakKeyDictionary[AppSession, deque[Callable[[], None]]] = WeakKeyDictionary()
"""By session, what its runs have sent and the loop has not seen yet."""
_guard = Lock()


def hand_over(session: AppSession, *event: object, **details: object) -> None:
    """Let the loop handle an event of a run after those before it. It is woken by the first that waits."""
    with _guard:
        events = _waiting.setdefault(session, deque())
        events.append(lambda: _handle(session, *event, **details))
        is_first = len(events) == 1
    if is_first:
        session._call_soon_on_event_loop(lambda: handle_waiting(session))


def handle_waiting(session: AppSession) -> None:
    """Handle what waits; where one fails, those behind it are handled next."""
    with _guard:
        events = _waiting.pop(session, deque())
    try:
        while events:
            events.popleft()()
    finally:
        if events:
            session._call_soon_on_event_loop(lambda: [event() for event in events])


def send_soon(runtime: Runtime) -> None:
    """Wake the loop to send what waits, unless it is awake for that already."""
    loop = runtime._get_async_objs()
    if not loop.need_send_data.is_set():
        loop.eventloop.call_soon_threadsafe(loop.need_send_data.set)


class TogetherQueue(asyncio.Queue[bytes]):
    """What waits to be sent to a browser. What is put in at successive turns of the loop is taken out, and leaves, at one."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._complete = 0
        """Messages that can be taken without waiting for others."""

    async def get(self) -> bytes:
        """Take the next message, once those that follow it closely are there."""
        message = await super().get()
        if self._complete:
            self._complete -= 1
            return message
        before = -1
        while before < self.qsize() < MOST_TOGETHER:
            before = self.qsize()
            await asyncio.sleep(0)
        self._complete = self.qsize()
        return message


def open_client(client: StarletteSessionClient, websocket: WebSocket) -> None:
    """Open the way to a browser, before anything is sent."""
    _open(client, websocket)
    client._send_queue = TogetherQueue(client._send_queue.maxsize)


def hand_on_together() -> None:
    """Let the messages of all sessions go this way."""
    AppSession._on_scriptrunner_event = hand_over
    Runtime._enqueued_some_message = send_soon
    StarletteSessionClient.__init__ = open_client
