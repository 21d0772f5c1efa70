"""Hostile values, texts, uploads and requests on every page and every own route: nothing runs, nothing leaks, nothing breaks."""

import asyncio
import re
from collections.abc import Awaitable, Iterable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import TypeVar
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from google.protobuf.message import Message
from pydantic import ValidationError
from streamlit.proto.LabelVisibility_pb2 import LabelVisibility
from websockets.exceptions import ConnectionClosed

from pages.classroom.entrance import LEAD, ROOM, SECRET
from pages.contents import HOME, PAGES
from pages.ui.panels.lesson import shipped_names
from pages.ui.shell.address import LESSON, LOCK, STEP
from pages.ui.stage.scripts import STAGE_FILES
from tests.support.apart import run_apart
from tests.support.hostile import MARK, PATHS, TEXTS, UNDECODABLE, VALUES, uploads
from tests.support.serving import ROOT, serving
from tests.support.stream_client import Visitor, visit
from tx_core.classroom.lesson_file import PACKED_MARK, Lesson, pack_lesson
from tx_core.errors import LessonProblem

pytestmark = pytest.mark.ci

Answer = tuple[int, str, bytes]
Found = TypeVar("Found")
FIELDS = sorted(
    {
        name
        for file in (ROOT / "pages").rglob("*.py")
        for name in re.findall(r'(?:\bField|_field)\(\s*"(\w+)"', file.read_text(encoding="utf-8"))
    }
    - {"text", "pair", "model"}
    | {ROOM, LEAD, SECRET}
)
"""Names that some page reads from its address, but for the sentences and the model, which other values stand beside."""
VISITORS = 4
PAGES_WITH_SENTENCES = 9
SECRET = "Xylophones"
BOXES = (("classifier", "data=own"), ("importance", "set=own"), ("many_sentences", "texts=own"), ("vectors", "texts=own"))
"""The pages that take files, as they show their boxes."""
TAKEN = {"classifier": ".csv", "importance": ".jsonl", "many_sentences": ".txt", "vectors": ".txt"}
PLAIN_KINDS = {
    "text",
    "code",
    "bidi_component",
    "text_input",
    "text_area",
    "dataframe",
    "plotly_chart",
    "selectbox",
    "download_button",
}
"""Elements whose texts a browser shows as they are."""
MARKUP = re.compile(
    rf"<(?:script|img|svg)|\[{MARK}\]\(|<https://example\.invalid|\\href|:red\[{MARK}|# {MARK}\n|~~{MARK}"
    rf"|(?<!\\)\*\*{MARK}|(?<!\\)`{MARK}"
)
"""A hostile text as a page of Markdown would act upon it."""
ESCAPED = re.compile(r"\\[!-/:-@\[-`{-~]")
"""A sign that Markdown shows as it stands."""
LINKED = re.compile(r'href="\./\w*\?[\w.~%+&;=-]*"')
"""A text within the address of a link in HTML, in which no sign is left that could end it."""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("attacked") / "log.txt"


@pytest.fixture(scope="module")
def attacked(log: Path) -> Iterator[str]:
    """The address of a server of its own, whose log is read at the end."""
    with serving(ROOT, log, TX_MAX_RUNS_A_SECOND="1000") as url:
        yield url


def address(number: int) -> str:
    """Write a query in which every field has a hostile value, another one each time."""
    values = {name: VALUES[(number * len(FIELDS) + place) % len(VALUES)] for place, name in enumerate(FIELDS)}
    values |= {"text": TEXTS[number % len(TEXTS)], "pair": TEXTS[(number + 7) % len(TEXTS)] if number % 3 == 0 else ""}
    if number % 5 == 0:
        values["model"] = VALUES[(number * 31) % len(VALUES)]
    if number % 6 < 2:
        hostile = VALUES[(number * 17) % len(VALUES)]
        values |= {LESSON: hostile, STEP: "1"} if number % 6 else {LESSON: shipped_names()[0], STEP: hostile}
    return "&".join(f"{quote(name)}={quote(value)}" for name, value in values.items())


def strings(message: Message, path: str = "") -> Iterator[tuple[str, str]]:
    """Return all texts in a message with their paths."""
    for field, value in message.ListFields():
        at = f"{path}.{field.name}"
        if field.type == field.TYPE_STRING:
            yield from ((at, text) for text in ([value] if isinstance(value, str) else value))
        elif field.type == field.TYPE_MESSAGE and not field.message_type.GetOptions().map_entry:
            yield from (found for part in ([value] if isinstance(value, Message) else value) for found in strings(part, at))


def markup_in(visitor: Visitor) -> list[tuple[str, str]]:
    """Return every hostile text that the page sent to be shown as Markdown."""
    elements = [one for one in visitor.elements.values() if one.WhichOneof("type") not in PLAIN_KINDS]
    return [
        (path, text[:300])
        for one in (*elements, *visitor.blocks.values())
        for path, text in strings(one)
        if not path.endswith(("id", ".url", "query_string", *unseen(one))) and MARKUP.search(bare(text))
    ]


def bare(text: str) -> str:
    """Leave out what stands for itself: an escaped sign, and a text within the address of a link."""
    return ESCAPED.sub("", LINKED.sub("", text))


def unseen(element: Message) -> tuple[str, ...]:
    """Return the end of the path of a label that no browser draws."""
    widget = getattr(element, element.WhichOneof("type") or "", None)
    is_collapsed = hasattr(widget, "label_visibility") and widget.label_visibility.value == LabelVisibility.COLLAPSED
    return (".label",) if is_collapsed else ()


def exceptions_in(visitor: Visitor) -> list[str]:
    return [one.exception.message for one in visitor.elements.values() if one.WhichOneof("type") == "exception"]


async def attack(url: str, page: str, queries: Iterable[str]) -> tuple[bool, list[object]]:
    """Open a page with each query in one session; give whether it repeated a hostile text, and what went wrong."""
    repeated, wrong = False, []
    async with visit(url, page) as visitor:
        for number, query in enumerate(queries):
            visitor.query = query
            await visitor.run(page)
            repeated |= any(MARK in text for one in visitor.elements.values() for _, text in strings(one))
            wrong += [(page, number, found) for found in (*exceptions_in(visitor), *markup_in(visitor))]
    return repeated, wrong


def names_of_pages() -> list[str]:
    """Return the pages by their names in an address."""
    return ["" if page.key == HOME else page.address or page.key for page in PAGES]


async def in_turns(tasks: Iterable[Awaitable[Found]]) -> list[Found]:
    """Wait for all, VISITORS at a time."""
    free = asyncio.Semaphore(VISITORS)

    async def one(task: Awaitable[Found]) -> Found:
        async with free:
            return await task

    return await asyncio.gather(*map(one, tasks))


def test_hostile_addresses_and_texts_run_nothing_on_any_page(attacked: str):
    queries = [*map(address, range(len(TEXTS))), f"text={MARK}{'x' * 1_000_000}&changes={'off~1_' * 50_000}"]
    assert set(VALUES) <= {value for query in queries for value in parse_qs(query, True).values() for value in value}
    # Every page is opened with every sixth one, and every one on a sixth of the pages.
    pages = enumerate(names_of_pages())
    found = run_apart(in_turns(attack(attacked, page, queries[number % 6 :: 6]) for number, page in pages))
    assert [problem for _, wrong in found for problem in wrong] == []
    assert sum(repeated for repeated, _ in found) >= PAGES_WITH_SENTENCES


def hostile_lesson(number: int) -> str:
    """Pack a lesson whose texts, views and questions are hostile, as a stranger's link holds it."""
    text, value = TEXTS[number % len(TEXTS)][:200], VALUES[number * 7 % len(VALUES)][:200]
    texts = {"title": f"Look {text}", "text": f"Read {text}", "then": f"See {text}"}
    kinds = ({"kind": "open"}, {"kind": "choice", "options": [f"1 {text}", f"2 {value}"]}, {"kind": "token", "answer": None})
    measure = {"measure": "strongest_key", "text": f"a {text}"[:300], "head": "1-1", "query": "a"}
    question = kinds[number % 3] | {"ask": f"Why {text}", "answer": measure if number % 3 == 2 else None}
    step = {"page": PAGES[number % len(PAGES)].key, "view": {"text": text, "heads": value}, "question": question} | texts
    fields = {"title": f"A {text}", "language": "en", "level": "beginner", "minutes": 5, "about": f"Of {text}"}
    try:
        return pack_lesson(Lesson.model_validate(fields | {"steps": [step]}))
    except (ValidationError, LessonProblem):
        return f"{PACKED_MARK}{text}"


def test_a_lesson_of_a_stranger_runs_nothing(attacked: str):
    packed = [hostile_lesson(number) for number in range(3 * len(PAGES))]
    assert sum(len(one) > 100 for one in packed) > len(PAGES)
    queries = [f"{LESSON}={quote(one)}&{STEP}=1&{LOCK}={number % 2}" for number, one in enumerate(packed)]
    pages = names_of_pages()[::5]
    found = run_apart(in_turns(attack(attacked, page, queries[number :: len(pages)]) for number, page in enumerate(pages)))
    assert [problem for _, wrong in found for problem in wrong] == []
    assert any(repeated for repeated, _ in found)


def request(url: str, target: str) -> Answer:
    """Ask for a path as it is written; give the status, the type and the body of the answer."""
    host = urlsplit(url)
    connection = HTTPConnection(host.hostname, host.port, timeout=60)
    try:
        connection.request("GET", target)
        answer = connection.getresponse()
        return answer.status, answer.getheader("content-type", ""), answer.read()
    finally:
        connection.close()


def targets() -> Iterator[str]:
    """Write requests to every own route, and to Streamlit's files, with forged names."""
    forged = [*(quote(value, safe="") for value in VALUES), *UNDECODABLE, "0" * 32, "a" * 20_000, *map(quote, PATHS)]
    for name in forged:
        yield f"/framed/{name}"
        yield f"/stage/{name}/attention.js"
        yield f"/stage/{STAGE_FILES.version}/{name}"
        yield f"/media/{name}"
        yield f"/api/ready?x={name}"
        yield f"/classroom_events?key={name}"
        yield f"/classroom_state?key={name}"
        yield f"/classroom_stage/1/{name}"


def test_forged_requests_to_every_route_get_nothing_and_break_nothing(attacked: str):
    answers = {target: request(attacked, target) for target in targets()}
    assert len(answers) > 1400
    assert max(status for target, (status, _, _) in answers.items() if not target.startswith("/api/ready")) < 500
    leaks = (b"Traceback", b"root:x:", b"HOSTNAME", b"def answer")
    assert [target for target, (_, _, body) in answers.items() if any(leak in body for leak in leaks)] == []
    own = ("/framed", "/stage/", "/media")
    given = {target: kind for target, (status, kind, body) in answers.items() if status == 200 and target.startswith(own)}
    start_page = {target for target in given if b'<div id="root">' in answers[target][2]}  # of an address that is no route
    assert set(given) - start_page == set()


def test_messages_that_no_page_sends_end_the_connection_of_their_sender(attacked: str):
    async def send(message: bytes, is_text: bool) -> int:
        async with visit(attacked, "attention") as visitor:
            await visitor.socket.send(message, text=is_text)
            async with asyncio.timeout(10):
                while True:
                    try:
                        await visitor.socket.recv()
                    except ConnectionClosed as closed:
                        return closed.rcvd.code

    broken = MARK.encode() + b"\xff"
    sent = ((MARK.encode(), True), (broken, True), (broken, False))
    assert [run_apart(send(*one)) for one in sent] == [1003, 1007, 1002]


def test_nobody_is_sent_what_another_visitor_wrote(attacked: str):
    async def second_visitor() -> list[str]:
        seen = []
        async with visit(attacked, "attention", f"text={SECRET}") as first:
            assert any(SECRET.encode() in one.SerializeToString() for one in first.elements.values())
            for page in names_of_pages():
                async with visit(attacked, page, f"session={first.session}") as second:
                    seen += [page for one in second.elements.values() if SECRET.encode() in one.SerializeToString()]
        return seen

    assert run_apart(second_visitor()) == []


async def upload_everything(url: str, page: str, query: str, folder: Path) -> list[object]:
    """Put every hostile file into the box of a page, one after the other; give what went wrong."""
    wrong: list[object] = []
    async with visit(url, page, query) as visitor:
        files = [(f"{name}{TAKEN[page]}", data) for name, data in uploads(folder)]
        for name, data in files:
            status = await asyncio.to_thread(visitor.put_file, url, name, data)
            await visitor.run(page)
            wrong += [(page, name, found) for found in (*exceptions_in(visitor), *markup_in(visitor))]
            wrong += [(page, name, status)] if status not in (204, 413) else []
    return wrong


def test_hostile_files_run_nothing_in_any_box(attacked: str, tmp_path: Path):
    folder = tmp_path / "made"
    found = run_apart(in_turns(upload_everything(attacked, page, query, folder) for page, query in BOXES))
    assert [problem for wrong in found for problem in wrong] == []
    assert not folder.exists()


def test_a_file_for_a_session_of_somebody_else_or_of_nobody_is_refused(attacked: str):
    async def forged() -> list[int]:
        async with visit(attacked, *BOXES[0]) as visitor:
            visitor.session = "0" * 36
            unknown = await asyncio.to_thread(visitor.put_file, attacked, "a.csv", b"text,label")
            visitor.session = "..%2F..%2Fetc"
            return [unknown, await asyncio.to_thread(visitor.put_file, attacked, "a.csv", b"text,label")]

    assert all(400 <= status < 500 for status in run_apart(forged()))


def test_the_log_has_no_traceback_and_nothing_of_what_visitors_sent(attacked: str, log: Path):
    written = log.read_text(encoding="utf-8")
    assert "Traceback" not in written
    assert MARK not in written
