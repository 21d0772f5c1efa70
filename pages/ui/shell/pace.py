"""How often a visitor may ask: what comes faster is held back, within bounds, and of what is held back the newest counts.

Begin with `PacedMessages`. No heavy package is imported here: app.py imports this module before it serves anything.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable

from google.protobuf.message import DecodeError
from starlette.types import Message, Receive
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState

from pages.ui.shell import texts
from tx_core.settings import host_settings

BURST_SECONDS = 4.0
"""A visitor who was quiet may ask for the runs of so many seconds at once: a page that opens, a slider that is dragged."""
MAX_HELD_MESSAGES, MAX_HELD_BYTES = 32, 250_000
"""What is held back of one visitor, and one message more; the rest stays in the connection, unread."""
SLOWED_SECONDS = 3.0
"""After so long without a pause, a visitor is told that runs are left out."""
PRESSED = ("trigger_value", "chat_input_value")
"""How Streamlit's names of values end that a browser sends once: a button that was pressed."""

NO_CODE = 1005
"""The code of a connection that ended without one (RFC 6455): it broke."""


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

    Attributes:
        ended_with: The code with which the connection ended; None before, and where the server ended it.
    """

    def __init__(self, receive: Receive, notices: set[str], pace: Pace):
        self._receive, self._notices, self._pace = receive, notices, pace
        self._held: deque[Message] = deque()
        self._arriving: asyncio.Future[Message] | None = None
        self._behind_since: float | None = None
        self._end: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self.ended_with: int | None = None

    async def receive(self) -> Message:
        """Return the next message as soon as it may pass; the end of the connection as soon as it is read.

        While as much is held back as may be, nothing is read: a browser's end then waits until there is room.
        """
        if not self._held:
            self._held.append(await self._next(None))
            self._behind_since = self._behind_since if self._pace.seconds_to_wait() else None
        while is_from_visitor(self._held[-1]) and (seconds := self._pace.seconds_to_wait()):
            self._note_delay()
            if full := self._is_full():
                self._notices.add(texts.HELD_UP)
            if (arrived := await self._next(seconds, reads=not full)) is not None:
                self._hold(arrived)
        if not is_from_visitor(self._held[-1]):
            end = self._held.pop()
            self._held.clear()
            self.ended_with = end.get("code")
            return end
        self._pace.take()
        return self._held.popleft()

    def end(self) -> None:
        """End the connection as if it had broken: its browser has another one."""
        if not self._end.done():
            self._end.set_result({"type": "websocket.disconnect", "code": NO_CODE})

    def close(self) -> None:
        """Stop listening for a further message."""
        if self._arriving is not None:
            self._arriving.cancel()

    async def _next(self, seconds: float | None, *, reads: bool = True) -> Message | None:
        """Return the next message of the browser, or the end; None where neither comes for so many seconds."""
        if reads:
            self._arriving = self._arriving or asyncio.ensure_future(self._receive())
        sources = [self._arriving, self._end] if reads else [self._end]
        done, _ = await asyncio.wait(sources, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if self._end in done:
            return self._end.result()
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
            self._notices.add(texts.SLOWED_DOWN.format(limit=host_settings().max_runs_a_second))
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
