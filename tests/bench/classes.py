"""A class of 200 at one server: all vote within five seconds, discuss, vote again, and see what is revealed; five times."""

import asyncio
import json
import random
import re
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import psutil

from pages.classroom import texts
from pages.ui.panels.lesson import shipped_lesson
from tests.bench.table import Row
from tests.bench.visitors import percentile, ready_server
from tests.support.stream_client import Visitor, visit
from tx_core.classroom.rooms import Rooms

STUDENTS = 200
ANSWER_SECONDS = 5.0
ROUNDS = 5
"""Rooms, one after the other."""
SPREAD_SECONDS, HOLD_SECONDS, LATER_SECONDS = 0.7, 0.6, 10.0
"""Over which browsers run their pages again after a change, what they wait for the stage of a step before, and over which those
run that have it; as assets/canvas/classroom/live.js has them."""
QUESTION = shipped_lesson("path").steps[0].question.ask
EVENTS = re.compile(rb"classroom_events\?key=[\w-]+")


@dataclass
class Student:
    """A student: the page, of which one run is read at a time, and when something came; `answers`: seconds of both votes."""

    number: int
    visitor: Visitor
    fragment: str = ""
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    asked_again: asyncio.Event = field(default_factory=asyncio.Event)
    seen: float = 0.0
    drawn: float = 0.0
    answers: list[float] = field(default_factory=list)
    run: asyncio.Task = field(default_factory=lambda: asyncio.create_task(asyncio.sleep(0)))


class Lesson(NamedTuple):
    """What a class met in a room: seconds of each vote, and from the reveal to all votes and to the stage; what it cost."""

    answers: list[float]
    reveals: list[float]
    stages: list[float]
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
    """Listen as a browser does, and run the page again as a browser does: once it is to vote again, and after the reveal."""
    server = urlsplit(url)
    reader, writer = await asyncio.open_connection(server.hostname, server.port, limit=2**20)
    writer.write(f"GET /{path} HTTP/1.1\r\nHost: {server.netloc}\r\nAccept: text/event-stream\r\n\r\n".encode())
    try:
        while line := await reader.readline():
            message = json.loads(line[5:]) if line.startswith(b"data:") else {}
            if message.get("results"):
                student.seen = student.seen or time.monotonic()
                student.run.cancel()
                student.run = asyncio.create_task(see_stage(url, student, message["stage"]))
            elif message.get("discussed") and not student.asked_again.is_set():
                await run_again(student)
                student.asked_again.set()
    finally:
        writer.close()


async def see_stage(url: str, student: Student, stage: dict | None) -> None:
    """Fetch the stage of a step and run the page later; without one, run the page soon, which sends it."""
    if stage:
        server = urlsplit(url)
        reader, writer = await asyncio.open_connection(server.hostname, server.port)
        writer.write(f"GET /{stage['data']} HTTP/1.1\r\nHost: {server.netloc}\r\nConnection: close\r\n\r\n".encode())
        assert b" 200 " in (await reader.read())[:20]
        writer.close()
        student.drawn = student.drawn or time.monotonic()
        await asyncio.sleep(random.random() * LATER_SECONDS)
    else:
        await asyncio.sleep(HOLD_SECONDS)
    await run_again(student)
    if b"stage_" in student.visitor.drawings():
        student.drawn = student.drawn or time.monotonic()


async def run_again(student: Student) -> None:
    """Run the page of a student again at some moment, as browsers do after a change."""
    await asyncio.sleep(random.random() * SPREAD_SECONDS)
    async with student.turn:
        await student.visitor.run("class", fragment=student.fragment)


async def vote(student: Student, guess: str) -> None:
    """Send a guess at some moment within five seconds."""
    await asyncio.sleep(random.random() * ANSWER_SECONDS)
    async with student.turn:
        student.visitor.type_into(QUESTION, guess)
        begun = time.monotonic()
        await student.visitor.run("class", fragment=student.visitor.press(texts.SEND))
        student.answers.append(time.monotonic() - begun)


async def take_part(url: str, code: str, number: int, ready: asyncio.Barrier, leave: asyncio.Event) -> Student:
    """Join a room, vote after the common start, and again after the discussion, and stay until the end."""
    async with visit(url, "class", f"room={code}") as visitor:
        visitor.press(texts.JOIN_ROOM.format(code=code))
        await visitor.run("class")
        path, fragment = await live_part(visitor)
        student = Student(number, visitor, fragment)
        listener = asyncio.create_task(listen(url, path, student))
        await ready.wait()
        await vote(student, f"word{number}")
        await student.asked_again.wait()
        await vote(student, f"again{number}")
        await leave.wait()
        listener.cancel()
        return student


async def give_lesson(url: str, database: str, server: psutil.Process) -> Lesson:
    """Open a room, let all vote, discuss and vote again, and reveal."""
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
            await asyncio.sleep(0.3)  # one address takes no more seats at once
        before = sum(server.cpu_times()[:2])
        room = rooms.of_code(code).id
        await ready.wait()
        for button in (texts.DISCUSS, texts.REVEAL):
            await asyncio.sleep(ANSWER_SECONDS)
            while rooms.room(room).answered.get(1, 0) < STUDENTS and not any(task.done() for task in tasks):
                await asyncio.sleep(0.2)
            spent = sum(server.cpu_times()[:2]) - before
            clicked = time.monotonic()
            await teacher.run("class", fragment=teacher.press(button))
        here = rooms.room(room)
        kept = {word for vote in rooms.votes(here, 1) for word in vote}
        await asyncio.sleep(LATER_SECONDS + 4)
        megabytes = server.memory_info().rss / 1e6
        leave.set()
        students = await asyncio.gather(*tasks)
    rooms.dispose()
    never = float("inf")
    lost = {f"{vote}{number}" for vote in ("word", "again") for number in range(STUDENTS)} - kept
    return Lesson(
        [taken for student in students for taken in student.answers],
        [student.seen - clicked if student.seen else never for student in students],
        [student.drawn - clicked if student.drawn else never for student in students],
        len(lost),
        megabytes,
        spent,
    )


def late(seconds: list[float]) -> float:
    """Return the time within which 95 % came."""
    return percentile(seconds, 0.95)


def usual(seconds: list[float]) -> str:
    """Write the median, and the time within which 95 % came."""
    return f"{percentile(seconds, 0.5):.2f} s median, {late(seconds):.2f} s at 95 %"


def rows() -> list[Row]:
    """Measure ROUNDS classes at one server, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "rooms.sqlite"
        with ready_server(TX_ROOMS_FILE=str(database)) as (url, server):
            lessons = [asyncio.run(give_lesson(url, f"sqlite:///{database}", server)) for _ in range(ROUNDS)]
    answers = [taken for lesson in lessons for taken in lesson.answers]
    reveals = [taken for lesson in lessons for taken in lesson.reveals]
    stages = [taken for lesson in lessons for taken in lesson.stages]
    lost, grown = sum(lesson.lost for lesson in lessons), lessons[-1].megabytes - lessons[0].megabytes
    spent = sum(lesson.processor for lesson in lessons) / len(answers)
    sizes = ", ".join(f"{lesson.megabytes:.0f}" for lesson in lessons)
    what = f"a class of {STUDENTS}, all voting within {ANSWER_SECONDS:.0f} s, twice, {ROUNDS} rooms"
    return [
        Row(f"{what}: votes lost", f"{lost} of {2 * STUDENTS * ROUNDS}", "0", lost == 0),
        Row("a student's answer, sent to page drawn", f"{usual(answers)}; {1000 * spent:.0f} ms of processor each", "", True),
        Row("the teacher's click to the answers in a student's browser", usual(reveals), "1 s at 95 %", late(reveals) <= 1),
        Row("the same click to the stage of the step", usual(stages), "1 s at 95 %", late(stages) <= 1),
        Row("memory of the server after each of the rooms", f"{sizes} MB", "50 MB more", grown <= 50),
    ]
