"""A class of 200 at one server: all answer within five seconds, the teacher reveals, everybody sees it, five times over."""

import asyncio
import json
import random
import re
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from pages.classroom import texts
from pages.ui.panels.lesson import shipped_lesson
from tests.bench.table import Row
from tests.bench.visitors import server_process
from tests.support.serving import ROOT, fetch, serving, wait_until
from tests.support.stream_client import Visitor, visit
from tx_core.classroom.rooms import JOINS_OF_ONE_A_MINUTE, Rooms

STUDENTS = 200
ANSWER_SECONDS = 5.0
ROUNDS = 5
"""Rooms, one after the other."""
SPREAD_SECONDS = 0.7
"""Over which browsers run their pages again after a change, as assets/canvas/classroom/live.js has it."""
QUESTION = shipped_lesson("path").steps[0].question.ask
EVENTS = re.compile(rb"classroom_events\?key=[\w-]+")


@dataclass
class Student:
    """A student: the page, the stream of events, and when something came."""

    number: int
    visitor: Visitor
    fragment: str = ""
    revealed: asyncio.Event = field(default_factory=asyncio.Event)
    seen: float = 0.0
    answered: float = 0.0


@dataclass
class Lesson:
    """What a class met in one room: how long answers took, when the reveal was seen, what was lost, what the server spent."""

    answers: list[float]
    reveals: list[float]
    lost: int
    megabytes: float
    processor: float


async def live_part(visitor: Visitor) -> tuple[str, str]:
    """Wait for the address of the events that the page listens to; give it and the part of the page that runs again."""
    async with asyncio.timeout(60):
        while True:
            for path, element in visitor.elements.items():
                if found := EVENTS.search(element.SerializeToString()):
                    return found[0].decode(), visitor.fragments[path]
            await visitor.read()


async def listen(url: str, path: str, student: Student) -> None:
    """Listen as a browser does, and run the page again after the reveal as a browser does."""
    server = urlsplit(url)
    reader, writer = await asyncio.open_connection(server.hostname, server.port, limit=2**20)
    writer.write(f"GET /{path} HTTP/1.1\r\nHost: {server.netloc}\r\nAccept: text/event-stream\r\n\r\n".encode())
    try:
        while line := await reader.readline():
            if line.startswith(b"data:") and json.loads(line[5:]).get("results") and not student.seen:
                student.seen = time.monotonic()
                await asyncio.sleep(random.random() * SPREAD_SECONDS)
                await student.visitor.run("class", fragment=student.fragment)
                student.revealed.set()
    finally:
        writer.close()


async def take_part(url: str, code: str, number: int, ready: asyncio.Barrier, leave: asyncio.Event) -> Student:
    """Join a room, answer at some moment within five seconds of the common start, and stay until the end."""
    own = f"127.0.0.{2 + number // (JOINS_OF_ONE_A_MINUTE // 2)}"  # one address alone would be held up
    async with visit(url, "class", f"room={code}", own=own) as visitor:
        visitor.press(texts.JOIN_ROOM.format(code=code))
        await visitor.run("class")
        path, fragment = await live_part(visitor)
        student = Student(number, visitor, fragment)
        listener = asyncio.create_task(listen(url, path, student))
        await ready.wait()
        await asyncio.sleep(random.random() * ANSWER_SECONDS)
        visitor.type_into(QUESTION, f"word{number}")
        begun = time.monotonic()
        await visitor.run("class", fragment=visitor.press(texts.SEND))
        student.answered = time.monotonic() - begun
        await leave.wait()
        listener.cancel()
        return student


async def give_lesson(url: str, database: str, server: psutil.Process) -> Lesson:
    """Open a room, let all answer, reveal, and close it."""
    rooms = Rooms(database)
    async with visit(url, "class") as teacher:
        teacher.press(texts.OPEN_BUTTON)
        await teacher.run("class")
        await live_part(teacher)
        code = next(one.metric.body for one in teacher.elements.values() if one.WhichOneof("type") == "metric")
        ready, leave = asyncio.Barrier(STUDENTS + 1), asyncio.Event()
        tasks = []
        for number in range(STUDENTS):
            tasks.append(asyncio.create_task(take_part(url, code, number, ready, leave)))
            await asyncio.sleep(0.05)
        before = sum(server.cpu_times()[:2])
        await ready.wait()
        await asyncio.sleep(ANSWER_SECONDS)
        while (found := rooms.state(rooms.of_code(code).id)).answered.get(1, 0) < STUDENTS and not any(
            task.done() for task in tasks
        ):
            await asyncio.sleep(0.2)
        spent = sum(server.cpu_times()[:2]) - before
        kept = set(rooms.guesses(found.room.id, 1))
        begun = time.monotonic()
        await teacher.run("class", fragment=teacher.press(texts.REVEAL))
        await asyncio.sleep(8)
        megabytes = server.memory_info().rss / 1e6
        leave.set()
        students = await asyncio.gather(*tasks)
    rooms.dispose()
    reveals = [student.seen - begun if student.seen else float("inf") for student in students]
    lost = STUDENTS - len(kept & {f"word{number}" for number in range(STUDENTS)})
    return Lesson([student.answered for student in students], reveals, lost, megabytes, spent)


def percentile(seconds: list[float], share: float) -> float:
    """Return the time within which this share of all came, in seconds."""
    return sorted(seconds)[min(len(seconds) - 1, int(share * len(seconds)))]


def rows() -> list[Row]:
    """Measure ROUNDS classes at one server, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "log.sqlite"
        with serving(ROOT, Path(folder) / "log.txt") as url:
            wait_until(lambda: fetch(f"{url}/api/ready")[0] == 200, 120, "a model that answers")
            server = server_process(url)
            lessons = [asyncio.run(give_lesson(url, f"sqlite:///{database}", server)) for _ in range(ROUNDS)]
    answers = [taken for lesson in lessons for taken in lesson.answers]
    reveals = [taken for lesson in lessons for taken in lesson.reveals]
    lost, grown = sum(lesson.lost for lesson in lessons), lessons[-1].megabytes - lessons[0].megabytes
    late, spent = percentile(reveals, 0.95), sum(lesson.processor for lesson in lessons) / len(answers)
    sizes = ", ".join(f"{lesson.megabytes:.0f}" for lesson in lessons)
    what = f"a class of {STUDENTS}, all answering within {ANSWER_SECONDS:.0f} s, {ROUNDS} rooms"
    usual = f"{percentile(answers, 0.5):.2f} s median, {percentile(answers, 0.95):.2f} s at 95 %"
    seen = f"{percentile(reveals, 0.5):.2f} s median, {late:.2f} s at 95 %"
    return [
        Row(f"{what}: answers lost", f"{lost} of {STUDENTS * ROUNDS}", "0", lost == 0),
        Row("a student's answer, sent to page drawn", f"{usual}; {1000 * spent:.0f} ms of processor each", "", True),
        Row("the teacher's click to the answers in a student's browser", seen, "1 s at 95 %", late <= 1),
        Row("memory of the server after each of the rooms", f"{sizes} MB", "50 MB more", grown <= 50),
    ]
