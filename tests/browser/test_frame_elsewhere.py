"""The app in a frame of another site, as in Moodle or on the page of a Space: where the host allows it, and nowhere else.

And started from there: a learning platform says who comes, and gets a grade back (LTI 1.3).
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from http.client import HTTPConnection
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from pages.classroom import texts
from pages.ui.panels.lesson import shipped_lesson
from tests.support.lti_platform import CLAIM, GRADES, SCORE, Platform, platform, private_key
from tests.support.serving import ROOT, serving, wait_until
from tx_core.classroom.lesson_file import pack_lesson
from tx_core.classroom.rooms import Rooms

MAP = "[data-testid=stage][data-paints]"


@contextmanager
def site(folder: Path) -> Iterator[str]:
    """Serve a folder as another site than the app's: by the name localhost, while the app is at 127.0.0.1."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=folder)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, Platform]]:
    """The address of a site that the app allows to frame it, that of one that it does not, and a platform, which it allows."""
    folder = tmp_path_factory.mktemp("sites")
    with site(folder) as school, site(folder) as stranger, platform() as course:
        variables = {
            "TX_FRAME_ANCESTORS": f"'self' {school} {course.address}",
            "STREAMLIT_SERVER_XSRF_COOKIE_SAME_SITE": "none",
            "TX_LTI_FILE": str(course.file(folder)),
        }
        with serving(ROOT, folder / "log.txt", "--server.baseUrlPath", "explorer", **variables) as app:
            course.app = app
            for page in ("attention", "bertviz", "classifier?data=own"):
                frame = f'<iframe src="{app}/{page}" width="1200" height="850"></iframe>'
                name = page.partition("?")[0]
                (folder / f"{name}.html").write_text(f"<!doctype html><title>Course</title>{frame}", encoding="utf-8")
            yield school, stranger, course


@pytest.fixture
def course(started: tuple[str, str, Platform]) -> Platform:
    """The platform."""
    return started[2]


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A tab of a visitor who was never here."""
    page = browser.new_page()
    page.set_default_timeout(60_000)
    yield page
    page.close()


def framed(page: Page, address: str) -> FrameLocator:
    """Open another site's page, and return the frame in it."""
    page.goto(address)
    return page.frame_locator("iframe").first


def test_an_allowed_site_shows_the_app_and_the_documents_that_it_frames_itself(page: Page, started):
    school, *_ = started
    expect(framed(page, f"{school}/attention.html").locator(MAP)).to_be_visible()
    bertviz = framed(page, f"{school}/bertviz.html").frame_locator("[data-testid=framed]")
    expect(bertviz.locator("svg").first).to_be_visible()


def test_a_file_is_uploaded_within_the_frame(page: Page, started):
    school, *_ = started
    rows = "".join(f"{word} day {place},{word}\n" for place in range(12) for word in ("sunny", "rainy"))
    frame = framed(page, f"{school}/classifier.html")
    with page.expect_response(lambda answer: "upload_file" in answer.url and answer.request.method == "PUT") as sent:
        frame.locator("input[type=file]").set_input_files(
            {"name": "mine.csv", "mimeType": "text/csv", "buffer": b"text,label\n" + rows.encode()}
        )
    assert sent.value.status == 204
    expect(frame.get_by_test_id("stage-said")).to_contain_text("Untrained")


def test_another_site_shows_nothing_of_it(page: Page, started):
    _, stranger, course = started
    with page.expect_console_message(lambda message: "frame-ancestors" in message.text):
        page.goto(f"{stranger}/attention.html")
    assert not [frame for frame in page.frames if frame.url.startswith(course.app)]


STEP = shipped_lesson("path").steps[0]


def lesson_link(course: Platform) -> str:
    """The link of a lesson that asks the same question twice, as its writer copies it."""
    lesson = shipped_lesson("path").model_copy(update={"steps": (STEP, STEP)})
    return f"{course.app}/attention?{urlencode({'lesson': pack_lesson(lesson), 'step': '1'})}"


def test_a_student_of_a_course_is_in_the_lesson_without_cookies_and_their_grade_goes_back(page: Page, course: Platform):
    controls = page.context.new_cdp_session(page)
    controls.send("Network.enable")
    blocked = {"enableThirdPartyCookieRestriction": True}
    blocked |= {"disableThirdPartyCookieMetadata": True, "disableThirdPartyCookieHeuristics": True}
    controls.send("Network.setCookieControls", blocked)
    frame = framed(page, course.course(ada := f"ada-{uuid4()}", "Learner", lesson_link(course)))
    for word in ("france", "spain"):
        frame.get_by_label(STEP.question.ask).first.fill(word)
        frame.get_by_role("button", name=texts.SEND, exact=True).press("Enter")
        expect(frame.get_by_role("button", name=texts.SEND)).to_have_count(0)
        if word == "france":
            frame.get_by_role("button", name=texts.NEXT).click()
    ((column, score),) = wait_until(lambda: [sent for sent in course.scores if sent[1]["userId"] == ada], 60, "a grade")
    assert column == "/column/scores?item=7"
    assert (score["userId"], score["scoreGiven"], score["scoreMaximum"]) == (ada, 50, 100)
    assert (score["activityProgress"], score["gradingProgress"]) == ("Completed", "FullyGraded")
    assert frame.locator("body").evaluate("() => (document.cookie = 'probe=1; SameSite=None; Secure') && document.cookie") == ""
    assert "Ada" in stored(course, "select nickname from members")
    # Their teacher leads the room that the lesson opened.
    page.goto(course.start("grace", "Instructor", lesson_link(course)))
    expect(page.get_by_text(texts.MANAGE, exact=True)).to_be_visible()
    assert "launch" not in page.url


def send(address: str, form: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    """Get an address, or post a form; follow nothing. Status, the address that it leads to, body."""
    parts = urlsplit(address)
    connection = HTTPConnection(parts.netloc, timeout=60)
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST" if form else "GET", f"{parts.path}?{parts.query}", form and urlencode(form), kind)
    with closing(connection), connection.getresponse() as answer:
        return answer.status, answer.getheader("Location", ""), answer.read().decode()


def begin(course: Platform, link: str) -> tuple[str, dict[str, object]]:
    """Begin a launch of a student; return the state of it, and what the platform would say."""
    status, there, _ = send(course.start("bob", "Learner", link))
    asked = parse_qs(urlsplit(there).query)
    assert status == 303 and there.startswith(f"{course.address}/login?")
    return asked["state"][0], course.claims("bob", "Learner", link, asked["nonce"][0])


def stored(course: Platform, asked: str, *values: str) -> list[str]:
    """What the app's database of rooms has in a column."""
    with closing(sqlite3.connect(course.folder / "log.sqlite")) as rooms:
        return [value for (value,) in rooms.execute(asked, values)]


COLUMN_OF = "select lineitem from launches where user = ?"


HOSTILE: dict[str, Callable[[dict[str, object]], object]] = {
    "for another tool": lambda said: said.update(aud="another"),
    "for several tools": lambda said: said.update(aud=["attention", "another"], azp="another"),
    "by another platform": lambda said: said.update(iss="https://elsewhere.example.org"),
    "too old": lambda said: said.update(iat=said["iat"] - 1000, exp=said["exp"] - 1000),
    "for another launch": lambda said: said.update(nonce="another"),
    "without an end": lambda said: said.pop("exp"),
    "of another deployment": lambda said: said.update({f"{CLAIM}deployment_id": "2"}),
    "of another version": lambda said: said.update({f"{CLAIM}version": "1.1"}),
    "of another kind": lambda said: said.update({f"{CLAIM}message_type": "LtiDeepLinkingRequest"}),
    "to no lesson": lambda said: said.update({f"{CLAIM}target_link_uri": "https://elsewhere.example.org/"}),
    "to a lesson that is none": lambda said: said.update({f"{CLAIM}target_link_uri": "https://x/?lesson=<script>"}),
    "to a room that is none": lambda said: said.update({f"{CLAIM}target_link_uri": "https://x/?room=<script>"}),
}


def test_a_launch_that_is_not_what_it_should_be_leads_nowhere(course: Platform):
    link = lesson_link(course)
    for name, change in HOSTILE.items():
        state, said = begin(course, link)
        change(said)
        status, there, body = send(f"{course.app}/lti/launch", {"state": state, "id_token": course.sign(said)})
        assert (status, there) == (400, ""), name
        assert "<p>" in body and "<script>" not in body, name
    state, said = begin(course, link)
    right = {"state": state, "id_token": course.sign(said)}
    stolen, course.key = course.key, private_key()
    forged = course.sign(said)
    course.key = stolen
    _, payload, _ = right["id_token"].split(".")
    unsigned = f"eyJhbGciOiJub25lIiwia2lkIjoicGxhdGZvcm0ta2V5In0.{payload}."
    for wrong in (
        {"id_token": forged},
        {"id_token": unsigned},
        {"id_token": "no.token"},
        {"id_token": ""},
        {"state": state[:-3]},
    ):
        assert send(f"{course.app}/lti/launch", right | wrong)[0] == 400
    assert send(f"{course.app}/lti/launch", right)[0] == 303
    assert stored(course, COLUMN_OF, "bob") == [f"{course.address}/column?item=7"]
    status, _, body = send(f"{course.app}/lti/launch", right)
    assert status == 400 and texts.LAUNCH_IS_OVER in body
    state, said = begin(course, link)
    said |= {"sub": "eve", GRADES: {"scope": [SCORE], "lineitem": "http://127.0.0.1:1/column"}}
    assert send(f"{course.app}/lti/launch", {"state": state, "id_token": course.sign(said)})[0] == 303
    assert stored(course, COLUMN_OF, "eve") == []  # no address is asked that the host has not named
    assert send(f"{course.app}/lti/login?iss=https://elsewhere.example.org&login_hint=1")[0] == 400
    assert send(f"{course.app}/lti/launch", {"id_token": "x" * 200_000})[0] == 413


def test_the_link_of_a_room_leads_a_student_into_it_once_and_nobody_new_where_it_is_locked(course: Platform):
    rooms = Rooms(f"sqlite:///{course.folder}/log.sqlite")
    room, teacher = rooms.open("title: A lesson", 1, nicknames=True)

    def launch(user: str) -> tuple[int, str]:
        state, said = begin(course, f"{course.app}/class?room={room.code}")
        status, there, _ = send(f"{course.app}/lti/launch", {"state": state, "id_token": course.sign(said | {"sub": user})})
        return status, there.partition("&launch=")[0]

    inside = (303, f"../class?room={room.code}")
    assert [launch("bob"), launch("bob")] == [inside, inside]
    rooms.lock(teacher, True)
    assert launch("bob") == inside and launch("another") == (400, "")
    assert [member.nickname for member in rooms.members(teacher)] == ["Bob"]
    rooms.dispose()


def test_a_ticket_that_is_no_ticket_leads_into_no_room(page: Page, course: Platform):
    state, _ = begin(course, lesson_link(course))
    page.goto(f"{course.app}/class?room=ABCDEF&launch={state}")
    expect(page.get_by_text(texts.LAUNCH_IS_OVER)).to_be_visible()
