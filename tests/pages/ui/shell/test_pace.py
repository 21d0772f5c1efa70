"""How often a visitor may ask: what comes faster is held back within bounds, and nothing of it is lost."""

import asyncio
from collections.abc import Sequence

import pytest
from starlette.types import Message
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from pages.ui.shell import pace, texts
from pages.ui.shell.pace import BURST_SECONDS, Pace, PacedMessages
from tests.support.apart import run_apart


def rerun(part: str = "", *, text: str = "", pressed: bool = False, page: str = "attention", back: bool = False) -> Message:
    """Write what a browser sends to run a part of a page, with the text in its box."""
    message = BackMsg()
    message.rerun_script.page_script_hash = page
    message.rerun_script.fragment_id = part
    message.rerun_script.is_history_navigation = back
    message.rerun_script.widget_states.widgets.append(WidgetState(id="text", string_value=text))
    if pressed:
        message.rerun_script.widget_states.widgets.append(WidgetState(id="button", trigger_value=True))
    return {"type": "websocket.receive", "bytes": message.SerializeToString()}


def text_of(message: Message) -> str:
    return BackMsg.FromString(message["bytes"]).rerun_script.widget_states.widgets[0].string_value


@pytest.mark.parametrize(
    ("earlier", "later", "superseded"),
    [
        (rerun(text="a"), rerun(text="ab"), True),
        (rerun("part"), rerun("part"), True),
        (rerun("part"), rerun("other part"), False),
        (rerun("part"), rerun(), False),
        (rerun(page="masks"), rerun(), False),
        (rerun(pressed=True), rerun(), False),
        (rerun(), rerun(pressed=True), True),
        (rerun(back=True), rerun(), False),
        ({"type": "websocket.receive", "bytes": BackMsg(app_heartbeat=True).SerializeToString()}, rerun(), False),
        (rerun(), {"type": "websocket.receive", "bytes": b"\xff\xff"}, False),
        (rerun(), {"type": "websocket.receive", "text": "no bytes"}, False),
    ],
)
def test_only_what_the_newest_message_asks_for_too_is_left_out(earlier: Message, later: Message, superseded: bool):
    assert pace.is_superseded(earlier, later) is superseded


class Browser:
    """Sends messages without a pause; the clock runs only while it has nothing to send."""

    def __init__(self, messages: Sequence[Message]):
        self.messages, self.now = list(messages), 0.0

    async def receive(self) -> Message:
        if self.messages:
            return self.messages.pop(0)
        self.now += 60
        return await asyncio.get_running_loop().create_future()


def passed(messages: Sequence[Message], rate: float = 4) -> list[Message]:
    """Give what comes through of messages that are all sent at once."""
    browser, notices = Browser(messages), set()

    async def take() -> list[Message]:
        paced = PacedMessages(browser.receive, notices, Pace(rate, lambda: browser.now))
        found = []
        while browser.messages or paced._held:
            found.append(await paced.receive())
        paced.close()
        return found

    return run_apart(take())


def test_a_burst_passes_whole_and_of_what_comes_after_it_the_newest():
    burst = int(4 * BURST_SECONDS)
    come = passed([rerun(text=str(number)) for number in range(100)])
    assert [text_of(message) for message in come] == [*map(str, range(burst)), "99"]


def test_no_button_that_was_pressed_is_left_out():
    pressed = [rerun(text=f"button {number}", pressed=True) for number in range(10)]
    typed = [rerun(text=f"{number}") for number in range(100)]
    come = passed([*typed[:50], *pressed, *typed[50:]])
    assert [text_of(message) for message in come if "button" in text_of(message)] == [text_of(message) for message in pressed]
    assert text_of(come[-1]) == "99"


def held_of(messages: Sequence[Message]) -> tuple[int, list[Message], set[str]]:
    """Send messages at once to a visitor of one run a second; give how many passed, what is held back and what is said."""
    browser, notices = Browser(messages), set()

    async def held() -> tuple[int, list[Message]]:
        paced, taken = PacedMessages(browser.receive, notices, Pace(1, lambda: browser.now)), []

        async def take() -> None:
            while True:
                taken.append(await paced.receive())

        taking = asyncio.create_task(take())
        async with asyncio.timeout(120):
            while texts.HELD_UP not in notices:
                await asyncio.sleep(0)
        for _ in range(10 * len(messages)):  # in which all others would be read
            await asyncio.sleep(0)
        taking.cancel()
        await asyncio.wait([taking])
        paced.close()
        return len(taken), list(paced._held)

    taken, held_back = run_apart(held())
    assert len(browser.messages) == len(messages) - taken - len(held_back)
    return taken, held_back, notices


def test_what_is_held_back_is_bounded_in_number(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pace, "MAX_HELD_MESSAGES", 4)
    taken, held_back, notices = held_of([rerun(f"part {number}") for number in range(100)])
    assert (taken, len(held_back)) == (int(BURST_SECONDS), 4)
    assert notices == {texts.HELD_UP}


def test_what_is_held_back_is_bounded_in_bytes_and_the_visitor_is_told():
    large = pace.MAX_HELD_BYTES // 3
    messages = [rerun(f"part {number}", text="x" * large) for number in range(20)]
    taken, held_back, notices = held_of(messages)
    assert (taken, len(held_back)) == (int(BURST_SECONDS), 3)
    assert sum(len(message["bytes"]) for message in held_back) < pace.MAX_HELD_BYTES + max(
        len(message["bytes"]) for message in messages
    )
    assert notices == {texts.HELD_UP}


def test_what_stays_in_the_connection_arrives_later_and_in_order(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pace, "BURST_SECONDS", 0.0)
    text = "x" * pace.MAX_HELD_BYTES
    messages = [rerun(f"part {number}", text=f"{number} {text}") for number in range(20)]

    async def take() -> list[Message]:
        paced = PacedMessages(Browser(messages).receive, set(), Pace(100))
        return [await paced.receive() for _ in messages]

    assert run_apart(take()) == messages


def test_the_end_of_a_connection_is_not_held_back():
    end = {"type": "websocket.disconnect", "code": 1001}
    assert passed([*(rerun(str(number)) for number in range(30)), end])[-1] is end


def test_a_visitor_who_asks_too_fast_for_seconds_is_told_so(host):
    now = [0.0]
    host(max_runs_a_second=5)
    notices, slow = set(), Pace(5, lambda: now[0])

    async def receive() -> Message:
        now[0] += 0.02
        return rerun(text=f"{now[0]}")

    async def ask(until: float) -> None:
        paced = PacedMessages(receive, notices, slow)
        while now[0] < until:
            await paced.receive()
        paced.close()

    run_apart(ask(2.0))
    assert not notices
    run_apart(ask(12.0))
    assert notices == {texts.SLOWED_DOWN.format(limit=5)}
