"""Hand what a run of a page sends to the event loop, in order, as much at a time as has come.

Streamlit wakes the loop for every message of a run, and then once more to have it sent: some 80 times for a new sentence, each
time with a system call, and with a struggle for the interpreter between the loop and the script. No option changes that. Hence
two private functions of Streamlit's are replaced, whose version is pinned; a browser gets the same messages in the same order.
"""

from collections import deque
from collections.abc import Callable
from threading import Lock
from weakref import WeakKeyDictionary

from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession

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


def hand_over_many_at_a_time() -> None:
    """Let every session hand over its events so."""
    AppSession._on_scriptrunner_event = hand_over
    Runtime._enqueued_some_message = send_soon
