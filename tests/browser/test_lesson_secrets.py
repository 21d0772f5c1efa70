"""Before a question is answered, nothing that answers it has been sent to the browser: every step of every lesson that ships."""

import re

import pytest
from playwright.sync_api import Error, Page, Response, WebSocket, expect

from pages import contents
from pages.ui.panels import lesson, texts
from pages.ui.panels.lesson_question import compute, reveal
from pages.ui.shell.numbers import percent
from tests.browser.conftest import wait_for_script
from tests.browser.test_lessons import answer
from tx_core.classroom.lesson_file import Step

LONGEST_WORD = 20
"""Characters of what is sought as a word or number of its own: a short one may stand within others."""


class Received:
    """All that a page was sent: frames of its sockets, and what it fetched beside scripts and styles."""

    def __init__(self, page: Page):
        self.parts: list[bytes] = []
        page.on("websocket", self.follow)
        page.on("response", self.keep)

    def follow(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: self.parts.append(frame if isinstance(frame, bytes) else frame.encode()))

    def keep(self, response: Response) -> None:
        if "/static/" in response.url or "/modules/" in response.url or not response.ok:
            return
        try:
            self.parts.append(response.body())
        except Error:  # of a page that is left: what it had asked for never arrived
            return

    def holds(self, text: str) -> bool:
        """Whether a text was sent, as it is or within JSON."""
        sent = b"\n".join(self.parts).decode("latin-1")
        forms = (text.encode().decode("latin-1"), text.encode("unicode_escape").decode())
        return any(form in sent if len(text) > LONGEST_WORD else says(sent, form) for form in forms)


def secrets_of(step: Step) -> list[str]:
    """What a step must not tell before its question is answered."""
    told = [contents.page(step.page).question, *([step.then] if step.then else []), *([step.notes] if step.notes else [])]
    if found := compute(step):
        shares = [percent(share) for share in (found.value, *found.shares) if 0.01 < share < 0.99]
        told += [share for share in shares if re.fullmatch(r"\d+\.\d+ %", share)]
        told.append(reveal(step.question, found))
        told += [found.right] if is_typed(step, found.right) else []
    return told


def is_typed(step: Step, answer: str) -> bool:
    """Whether an answer is typed, so that it is not among what can be chosen, and can be told from what a page sends besides.

    A step may say it itself, and a whole number stands anywhere.
    """
    return step.question.kind in ("word", "number") and not answer.isdecimal() and not says(written_of(step), answer)


def written_of(step: Step) -> str:
    """What a step says before its question is answered, and what stands in its address."""
    return "\n".join([step.title, step.text, step.question.ask, *step.view.values()])


def says(text: str, answer: str) -> bool:
    """Whether a text holds an answer as a word, or as a number, of its own."""
    return re.search(rf"(?<![\w.]){re.escape(answer)}(?![\w]|\.\d)", text, re.IGNORECASE) is not None


@pytest.mark.parametrize("name", lesson.names_in_order())
def test_nothing_that_answers_a_question_is_sent_before_the_guess(page_at, name: str):
    steps = lesson.shipped_lesson(name).steps
    page = page_at("/learn")
    received = Received(page)
    for number, step in enumerate(steps, 1):
        received.parts.clear()
        page.goto(address(page, step, name, number))
        expect(page.get_by_text(texts.HIDDEN_UNTIL_ANSWERED)).to_be_visible(timeout=30_000)
        wait_for_script(page)
        assert received.holds(step.text)
        secrets = secrets_of(step)
        assert [one for one in secrets if received.holds(one)] == [], (name, number)
        answer(page, step.question, wait_for_script)
        assert received.holds(secrets[0])
        assert step.then is None or received.holds(step.then)


def address(page: Page, step: Step, name: str, number: int) -> str:
    """The address of a step, on the server of the page."""
    listed = contents.page(step.page)
    server = re.match(r"https?://[^/]+", page.url)[0]
    return f"{server}/{listed.address or listed.key}?lesson={name}&step={number}"
