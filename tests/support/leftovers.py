"""Rooms played at a server in this process, and what of them is still alive: a line of counts after each, for a test to read.

Run `python -m tests.support.leftovers ROOMS`. A server of its own is needed, since what another test holds would be counted, too.
"""

import asyncio
import gc
import json
import os
import sys
import threading
import time
from collections import Counter

import uvicorn
from streamlit.runtime import Runtime

from app import app
from pages.classroom import texts
from pages.classroom.events import host_store, hub
from pages.ui.panels.lesson import shipped_lesson
from tests.bench.classes import live_part
from tests.support.serving import fetch, free_port, wait_until
from tests.support.stream_client import visit

STUDENTS = 4
QUESTION = shipped_lesson("path").steps[0].question.ask
COUNTED = ("pages.", "tx_core.", "streamlit.", "sse_starlette.", "starlette.", "asyncio", "_asyncio")
"""Whose objects are counted: ours, those of a session, of a stream of events, and tasks."""
CLOCKED = "asyncio.events.TimerHandle"
"""Not counted: one stands for each moment that a loop waits for, whoever is connected."""
MOST_COUNTS = 20


async def take_part(url: str, code: str, number: int, over: asyncio.Event) -> None:
    """Join a room, listen, answer, and stay until it is over."""
    async with visit(url, "class", f"room={code}") as visitor:
        visitor.press(texts.JOIN_ROOM.format(code=code))
        await visitor.run("class")
        path, _ = await live_part(visitor)
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        writer.write(f"GET /{path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        visitor.type_into(QUESTION, f"word{number}")
        await visitor.run("class", fragment=visitor.press(texts.SEND))
        await reader.readuntil(b"closed")
        writer.close()
        await over.wait()


async def play(url: str) -> None:
    """Open a room, let all answer, reveal, and close it."""
    over = asyncio.Event()
    async with visit(url, "class") as teacher:
        teacher.press(texts.OPEN_BUTTON)
        await teacher.run("class")
        await live_part(teacher)
        code = next(one.metric.body for one in teacher.elements.values() if one.WhichOneof("type") == "metric")
        students = [asyncio.create_task(take_part(url, code, number, over)) for number in range(STUDENTS)]
        await asyncio.sleep(0)
        await asyncio.to_thread(wait_until, lambda: all_answered(code), 60, "an answer of everybody")
        for button in (texts.REVEAL, texts.CLOSE, texts.CLOSE_SURE):
            await teacher.run("class", fragment=teacher.press(button))
        over.set()
        await asyncio.gather(*students)


def all_answered(code: str) -> bool:
    """Return whether everybody in a room has answered the first step."""
    rooms = host_store()
    return rooms.room(rooms.of_code(code).id).answered.get(1, 0) == STUDENTS


def count_what_is_alive() -> Counter[str]:
    """Count objects by type once nobody is connected, and the sessions that Streamlit would keep a while longer are closed."""
    runtime = Runtime.instance()
    wait_until(lambda: not runtime._session_mgr.list_active_sessions() and not hub.channels, 120, "the end of every session")
    for stored in runtime._session_mgr.list_sessions():
        runtime.close_session(stored.session.id)
    gc.unfreeze()
    for _ in range(3):
        if not gc.collect():
            break
    kinds: Counter[str] = Counter()
    for kind, count in Counter(map(type, gc.get_objects())).items():
        kinds[f"{kind.__module__}.{kind.__qualname__}"] += count
    return Counter({kind: count for kind, count in kinds.items() if kind.startswith(COUNTED) and kind != CLOCKED})


def count_once_settled(earlier: Counter[str] | None = None) -> Counter[str]:
    """Count until nothing is more than it was earlier, without that until two counts a second apart agree.

    Threads, sockets and tasks end a moment after their session, on a busy machine some seconds.
    """
    now = count_what_is_alive()
    for _ in range(MOST_COUNTS):
        if earlier is not None and now <= earlier:
            break
        time.sleep(1)
        before, now = now, count_what_is_alive()
        if earlier is None and now == before:
            break
    return now


def main(rooms: int) -> None:
    """Serve the app, play so many rooms, and write what is alive after each."""
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, ws="websockets-sansio", log_config=None))
    threading.Thread(target=server.run, daemon=True).start()
    url = f"http://127.0.0.1:{port}"
    wait_until(lambda: answers(f"{url}/api/ready"), 120, "a model that answers")
    counts: list[Counter[str]] = []
    for number in range(rooms):
        asyncio.run(play(url))
        counts.append(count_once_settled(counts[-1] if number > 1 else None))  # the first fills what is kept once
        print(json.dumps(counts[-1]), flush=True)
    os._exit(0)


def answers(url: str) -> bool:
    """Return whether an address answers 200."""
    try:
        return fetch(url)[0] == 200
    except OSError:
        return False


if __name__ == "__main__":
    main(int(sys.argv[1]))
