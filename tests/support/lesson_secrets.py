"""What a lesson must not tell before a question is answered, and all that a browser was sent."""

import json
import re

from playwright.sync_api import Error, Page, Response, WebSocket

from pages import contents
from pages.ui.panels.lesson_question import compute, reveal
from pages.ui.panels.question_kinds import measured
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
        if "/static/" in response.url or "/stage/" in response.url or not response.ok:
            return
        try:
            self.parts.append(response.body())
        except Error:  # of a page that is left: what it had asked for never arrived
            return

    def holds(self, text: str) -> bool:
        """Whether a text was sent."""
        return holds(b"\n".join(self.parts), text)


def holds(sent: bytes, text: str) -> bool:
    """Whether a text is in what was sent, as it is or within JSON."""
    forms = (text.encode().decode("latin-1"), json.dumps(text)[1:-1])
    return any(
        form in sent.decode("latin-1") if len(text) > LONGEST_WORD else says(sent.decode("latin-1"), form) for form in forms
    )


def secrets_of(step: Step) -> list[str]:
    """What a step must not tell before its question is answered."""
    if not step.question:
        return []
    told = [contents.page(step.page).question, *([step.then] if step.then else []), *([step.notes] if step.notes else [])]
    if found := compute(step):
        measure = step.question.answer.measure
        shares = [measured(share, measure) for share in (found.value, *found.shares) if 0.01 < share < 0.99]
        told += [share for share in shares if re.fullmatch(r"\d+\.\d+(\u00a0%)?", share)]
        told.append(reveal(step.question, found))
        if is_typed(step, found.right):
            told += [f'"{found.right}"', f"“{found.right}”"] if step.question.kind == "word" else [found.right]
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
