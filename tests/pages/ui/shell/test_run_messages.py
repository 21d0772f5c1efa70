"""What a run of a page sends reaches the event loop and the browser whole, in order, and as much together as has come."""

import asyncio
from collections.abc import Callable, Iterator
from threading import Thread
from types import SimpleNamespace

import pytest
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient

from pages.ui.shell import run_messages
from pages.ui.shell.run_messages import MOST_TOGETHER


class Session:
    """A session whose loop keeps what it is asked to call, and which notes the events that it handles."""

    def __init__(self) -> None:
        self.asked: list[Callable[[], None]] = []
        self.handled: list[object] = []
        self._call_soon_on_event_loop = self.asked.append

    def turn(self) -> None:
        """Let the loop call what it was asked to call by now."""
        calls, self.asked[:] = [*self.asked], []
        for call in calls:
            call()


def handle(session: Session, event: object, **details: object) -> None:
    """Note an event; one of them fails, and one brings another event along."""
    session.handled.append((event, details) if details else event)
    if event == "brings another":
        run_messages.hand_over(session, "another")
    if event == "fails":
        raise ValueError(event)


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setattr(run_messages, "_handle", handle)
    yield Session()
    assert not run_messages._waiting


def test_many_events_are_handled_in_order_and_wake_the_loop_once(session):
    for number in range(50):
        run_messages.hand_over(session, number)
    run_messages.hand_over(session, "last", forward_msg="a message")
    assert (len(session.asked), session.handled) == (1, [])
    session.turn()
    assert session.handled == [*range(50), ("last", {"forward_msg": "a message"})]
    run_messages.hand_over(session, "later")
    assert len(session.asked) == 1
    session.turn()
    assert session.handled[-1] == "later"


def test_an_event_that_comes_while_others_are_handled_follows_them(session):
    for event in ("brings another", "second"):
        run_messages.hand_over(session, event)
    session.turn()
    assert session.handled == ["brings another", "second"]
    session.turn()
    assert session.handled == ["brings another", "second", "another"]


def test_what_stands_behind_an_event_that_fails_is_handled_all_the_same(session):
    for event in ("first", "fails", "third", "fourth"):
        run_messages.hand_over(session, event)
    with pytest.raises(ValueError, match="fails"):
        session.turn()
    session.turn()
    assert session.handled == ["first", "fails", "third", "fourth"]


def test_nothing_of_several_threads_is_lost_and_each_keeps_its_order(session):
    threads = [
        Thread(target=lambda name=name: [run_messages.hand_over(session, (name, number)) for number in range(500)])
        for name in "abc"
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads) or session.asked:
        session.turn()
    for thread in threads:
        thread.join()
    session.turn()
    for name in "abc":
        assert [number for one, number in session.handled if one == name] == [*range(500)]


def test_sessions_wait_for_themselves_only(session):
    other = Session()
    run_messages.hand_over(session, "mine")
    run_messages.hand_over(other, "theirs")
    other.turn()
    assert (session.handled, other.handled) == ([], ["theirs"])
    session.turn()
    assert session.handled == ["mine"]


async def send(wake_ups: list[object]) -> None:
    """Ask three times to send, before the loop has looked and after it has."""
    loop, event = asyncio.get_running_loop(), asyncio.Event()
    wake = SimpleNamespace(call_soon_threadsafe=lambda call: wake_ups.append(loop.call_soon_threadsafe(call)))
    runtime = SimpleNamespace(_get_async_objs=lambda: SimpleNamespace(eventloop=wake, need_send_data=event))
    run_messages.send_soon(runtime)
    await asyncio.wait_for(event.wait(), 5)
    run_messages.send_soon(runtime)
    assert len(wake_ups) == 1
    event.clear()
    run_messages.send_soon(runtime)
    await asyncio.wait_for(event.wait(), 5)


def test_a_loop_that_is_about_to_send_is_not_woken_again():
    wake_ups: list[object] = []
    thread = Thread(target=lambda: asyncio.run(send(wake_ups)))  # apart from a browser's loop
    thread.start()
    thread.join()
    assert len(wake_ups) == 2


async def taken_by_turn(puts: list[list[bytes]]) -> list[list[bytes]]:
    """Put messages into a queue, some at each turn of the loop, as one takes them out; return those taken at each turn."""
    queue, turns = run_messages.TogetherQueue(500), [[]]

    async def take() -> None:
        while True:
            message = await queue.get()
            turns[-1].append(message)

    taker = asyncio.create_task(take())
    for messages in [*puts, *[[]] * 5]:
        for message in messages:
            queue.put_nowait(message)
        await asyncio.sleep(0)
        turns.append([])
    taker.cancel()
    return [messages for messages in turns if messages]


@pytest.mark.parametrize(
    ("puts", "expected"),
    [
        ([[b"1"], [b"2"], [b"3"], [b"4"]], [[b"1", b"2", b"3", b"4"]]),
        ([[b"1", b"2"], [], [], [], [], [b"3"], [b"4"]], [[b"1", b"2"], [b"3", b"4"]]),
        ([[b"1"]], [[b"1"]]),
        ([[b"x"]] * (MOST_TOGETHER + 30), [[b"x"] * (MOST_TOGETHER + 1), [b"x"] * 29]),
    ],
)
def test_messages_of_successive_turns_of_the_loop_leave_at_one_turn_and_in_order(puts, expected):
    taken: list[list[bytes]] = []
    thread = Thread(target=lambda: taken.extend(asyncio.run(taken_by_turn(puts))))
    thread.start()
    thread.join()
    assert taken == expected


def test_streamlit_has_what_is_replaced(monkeypatch: pytest.MonkeyPatch):
    replaced = ((AppSession, "_on_scriptrunner_event"), (Runtime, "_enqueued_some_message"), (StarletteSessionClient, "__init__"))
    for owner, name in replaced:
        monkeypatch.setattr(owner, name, getattr(owner, name))
    run_messages.hand_on_together()
    assert AppSession._on_scriptrunner_event is run_messages.hand_over
    assert Runtime._enqueued_some_message is run_messages.send_soon
    assert StarletteSessionClient.__init__ is run_messages.open_client
