"""A lesson as one HTML file that works without this app: texts, questions, and what the model computes as stored pictures.

A stored picture is what a view would offer for export: its page is run without a browser. What a question hides opens by the
browser's own means. The one script draws the stored views: it is named by its hash, so that no other runs. Every text is
escaped, and nothing is loaded.
"""

import asyncio
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import count
from math import sqrt
from pathlib import Path
from secrets import token_hex
from threading import Event
from time import monotonic, sleep
from urllib.parse import urlencode

from streamlit.runtime import caching, get_instance
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner, ScriptRunnerEvent
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.state import SessionState

from pages import contents
from pages.lesson_editor import texts
from pages.ui.canvas.component import single_script
from pages.ui.export.figure import STILL
from pages.ui.export.menu import COLLECTOR, write_document
from pages.ui.export.records import Export, Exports
from pages.ui.panels.lesson_question import compute, reveal
from pages.ui.shell.numbers import OF_ATTENTION, measured
from tx_core.classroom.lesson_file import Lesson, Step
from tx_core.classroom.measures import Answer
from tx_core.errors import ExplorerError

MAIN = Path(__file__).parents[1] / "main.py"
OF_BERTVIZ = ("text", "pair", "model", "stack")
"""What the page of bertviz has in common with the page Attention."""
MAX_PAGE_SECONDS, WAIT_SECONDS = 20, 0.5
"""For one page to be run, and between two looks at one that waits for a model to be loaded."""
MAX_PICTURE_BYTES = 100_000
"""Of one picture: a head of 128 tokens takes 16,384, the 144 heads of a large model about 60,000."""
_scripts = ScriptCache()


@dataclass(frozen=True)
class StoredPicture:
    """A view as a drawing of ours takes it.

    Attributes:
        caption: what it shows: model, sentence, settings.
        data: the packed drawing, as base64.
    """

    caption: str
    data: str


def stored_picture(page: str, view: Mapping[str, str]) -> StoredPicture | None:
    """Draw a view of a page as its export does; None where it has no figure, or one that is too large."""
    pictures: list[StoredPicture] = []

    def collect(exports: Exports) -> None:
        if not pictures:
            pictures.extend(picture for make in exports.values() if (picture := picture_of(make)))

    if page == "bertviz_page":  # it draws with scripts of its own: our map of the same head stands for it
        head = f"{view.get('layer', '1')}-{view.get('head', '1')}"
        page, view = "attention", {name: view[name] for name in OF_BERTVIZ if name in view} | {"heads": head}
    end = monotonic() + MAX_PAGE_SECONDS
    while visit(page, view, collect, end) and not pictures and monotonic() < end:
        sleep(WAIT_SECONDS)
    return pictures[0] if pictures else None


def picture_of(make: Callable[[], Export]) -> StoredPicture | None:
    """Draw an export, if it has a figure that is small enough."""
    try:
        export = make()
        packed = export.figure() if export.figure else b""
    except ExplorerError:  # a run that left the cache may fail when it is repeated
        return None
    if not 0 < len(packed) <= MAX_PICTURE_BYTES:
        return None
    return StoredPicture(export.caption, b64encode(packed).decode("ascii"))


def visit(page: str, view: Mapping[str, str], collect: Callable[[Exports], None], end: float) -> bool:
    """Run a page as for a new visitor who opens this view; what its menus would offer is collected, nothing is sent anywhere.

    Returns whether the page waits for something that is still being computed. end: when to give up.
    """
    session, done, waits = SessionState(), Event(), Event()
    loop, name = asyncio.new_event_loop(), f"picture-{token_hex(8)}"
    session[COLLECTOR] = collect
    runner = _runner(name, page, view, session, loop)

    def listen(_: ScriptRunner | None, event: ScriptRunnerEvent, **more: object) -> None:
        if event == ScriptRunnerEvent.SHUTDOWN:
            loop.close()
            forget(name)
            done.set()
        elif event == ScriptRunnerEvent.ENQUEUE_FORWARD_MSG and more["forward_msg"].WhichOneof("type") == "auto_rerun":
            waits.set()

    runner.on_event.connect(listen, weak=False)
    runner.start()
    if not done.wait(end - monotonic()):
        runner.request_stop()
    return done.is_set() and waits.is_set()


def _runner(
    name: str, page: str, view: Mapping[str, str], session: SessionState, loop: asyncio.AbstractEventLoop
) -> ScriptRunner:
    """Make what runs a page without a browser. name: of the visitor's session."""
    listed = contents.page(page)
    return ScriptRunner(
        session_id=name,
        main_script_path=str(MAIN),
        session_state=session,
        uploaded_file_mgr=MemoryUploadedFileManager("/none"),
        script_cache=_scripts,
        initial_rerun_data=RerunData(query_string=urlencode(view), page_name=listed.address or listed.key),
        user_info={},
        fragment_storage=MemoryFragmentStorage(),
        pages_manager=PagesManager(str(MAIN), _scripts),
        event_loop=loop,
    )


def forget(session: str) -> None:
    """Drop what a visit left behind, as the end of a visitor's session does."""
    get_instance().media_file_mgr.clear_session_refs(session)
    get_instance().dataframe_source_mgr.clear_session_refs(session)
    caching.clear_session_data_cache(session)
    caching.clear_session_resource_cache(session)


STYLE = """
:root { --st-background-color: #ffffff; --st-text-color: #111111; --st-font: system-ui, sans-serif; color-scheme: light; }
body { font: 17px/1.5 system-ui, sans-serif; color: #111; background: #fff; max-width: 46rem; }
body { margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
section { border-top: 1px solid #999; padding: 0.5rem 0 1.5rem; }
p { white-space: pre-line; }
.ask { font-weight: 600; }
summary { cursor: pointer; padding: 0.5rem 0; font-weight: 600; }
svg { max-width: 100%; height: auto; }
figure { margin: 1rem 0; }
figcaption { font-size: 0.9rem; }
"""
START = "web_page/lesson.js"
MAX_SECONDS = 60
"""For all answers and views together: those for which no time is left are named instead."""
MAX_PICTURES_BYTES = 1_500_000
"""Of all views of a lesson together, as the file holds them; those for which no room is left are named instead."""
MAX_MEGABYTES = 4
"""Of a whole file: its pictures and its script, its texts, each character of which may become six, and its answers."""
PALE, STRONG = (243, 247, 251), (8, 47, 106)
CELL, LABEL, BAR, MAX_BARS = 44, 96, 180, 8
MAX_LABEL = 12
"""Characters of a label."""


def lesson_web_page(lesson: Lesson) -> str:
    """Write the file. The pictures of its steps are computed now."""
    steps = map(_section, count(1), lesson.steps, _shown(lesson))
    body = [_paragraph(lesson.about), *steps]
    return write_document(lesson.title, STYLE, body, single_script(STILL, START), lesson.language)


def _shown(lesson: Lesson) -> list[list[str]]:
    """Write what each step shows: answers first, which a lesson needs most, then views while there is time and room."""
    room, end = MAX_PICTURES_BYTES, monotonic() + MAX_SECONDS
    answers, views = [], []
    for step in lesson.steps:
        answers.append(_computed(step, room, in_time=monotonic() < end))
        room -= sum(map(len, answers[-1]))
    for step in lesson.steps:
        views.append(_view(step, room if monotonic() < end else 0))
        room -= len(views[-1])
    then = [[_paragraph(step.then)] if step.then else [] for step in lesson.steps]
    return [[*answer, *noticed, view] for answer, noticed, view in zip(answers, then, views, strict=True)]


def _section(number: int, step: Step, shown: list[str]) -> str:
    """Write a step: its text, its question, and what is shown, behind a click where there is a question."""
    asked = []
    if step.question:
        asked = [_paragraph(step.question.ask, "ask")]
        if step.question.options:
            asked.append(f"<ul>{''.join(f'<li>{escape(option)}</li>' for option in step.question.options)}</ul>")
        shown = ["<details>", f"<summary>{escape(texts.OPEN_ANSWER)}</summary>", *shown, "</details>"]
    return "\n".join(
        ["<section>", f"<h2>{number}. {escape(step.title)}</h2>", _paragraph(step.text), *asked, *shown, "</section>"]
    )


def _paragraph(text: str, style: str = "") -> str:
    return f'<p class="{style}">{escape(text)}</p>' if style else f"<p>{escape(text)}</p>"


def _computed(step: Step, room: int, *, in_time: bool) -> list[str]:
    """Write what the model answers to a question, in words and as a picture where there is room; or what prevents it."""
    if not (step.question and step.question.answer):
        return []
    if not in_time:
        return [_paragraph(texts.NO_TIME)]
    try:
        answer = compute(step)
    except ExplorerError as problem:
        return [_paragraph(str(problem))]
    said, drawn = _paragraph(reveal(step.question, answer), "ask"), picture(answer, step.question.answer.measure)
    if not drawn or len(drawn) > room:
        return [said]
    note = texts.WEIGHTS_NOTE if step.question.answer.measure in OF_ATTENTION else texts.PERCENT_NOTE
    return [said, drawn, *([_paragraph(note)] if answer.rows else [])]


def _view(step: Step, room: int) -> str:
    """Write the view of a step as a stored picture of at most so many characters, or that there is none."""
    stored = stored_picture(step.page, step.view) if room else None
    if stored is None or len(stored.data) + len(stored.caption) > room:
        return _paragraph(texts.NO_PICTURE)
    caption = f"<figcaption>{escape(stored.caption)}</figcaption>"
    return f'<figure><div data-picture="{stored.data}"></div>{caption}</figure>'


def picture(answer: Answer, measure: str) -> str:
    """Draw an answer: its cells as a map, its options as bars; nothing for a number alone."""
    if not answer.options:
        return ""
    draw: Callable[[Answer, str], str] = _map if answer.rows else _bars
    return draw(answer, measure)


def _map(answer: Answer, measure: str) -> str:
    columns = len(answer.columns)
    top = LABEL * 3 // 4
    parts = [_text(LABEL + (place + 0.5) * CELL, top - 8, name, "middle") for place, name in enumerate(answer.columns)]
    parts += [_text(LABEL - 8, top + (place + 0.6) * CELL, name, "end") for place, name in enumerate(answer.rows)]
    for place, (name, share) in enumerate(zip(answer.options, answer.shares, strict=True)):
        x, y = LABEL + place % columns * CELL, top + place // columns * CELL
        edge = ' stroke="#c2410c" stroke-width="4"' if name == answer.right else ' stroke="#fff"'
        title = f"<title>{escape(name)}: {measured(share, measure)}</title>"
        parts.append(f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{_colour(share)}"{edge}>{title}</rect>')
        if share >= 0.005:
            number = f"{share:.2f}".removeprefix("0") if measure in OF_ATTENTION else f"{100 * share:.0f}"
            ink = "#fff" if share > 0.2 else "#111"
            parts.append(_text(x + CELL / 2, y + CELL * 0.6, number, "middle", ink))
    return _svg(LABEL + columns * CELL + 4, top + len(answer.rows) * CELL + 4, parts, _alt(answer, measure))


def _bars(answer: Answer, measure: str) -> str:
    rows = sorted(zip(answer.options, answer.shares, strict=True), key=lambda row: -row[1])[:MAX_BARS]
    parts = []
    for place, (name, share) in enumerate(rows):
        y = place * 30
        parts.append(_text(LABEL - 8, y + 20, name, "end"))
        parts.append(f'<rect x="{LABEL}" y="{y + 6}" width="{BAR * share:.1f}" height="18" fill="#3f83cf"/>')
        parts.append(_text(LABEL + BAR * share + 8, y + 20, measured(share, measure), "start"))
    return _svg(LABEL + BAR + 70, 30 * len(rows), parts, _alt(answer, measure))


def _alt(answer: Answer, measure: str) -> str:
    return escape(texts.PICTURE_ALT.format(answer=answer.right, share=measured(answer.value, measure)))


def _svg(width: float, height: float, parts: Sequence[str], label: str) -> str:
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    return f'<svg role="img" aria-label="{label}" {size} font-size="13">{"".join(parts)}</svg>'


def _text(x: float, y: float, text: str, anchor: str, ink: str = "#111") -> str:
    short = text if len(text) <= MAX_LABEL else f"{text[: MAX_LABEL - 1]}…"
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{ink}">{escape(short)}</text>'


def _colour(share: float) -> str:
    strength = sqrt(min(1.0, max(0.0, share)))
    mixed = (round(pale + (strong - pale) * strength) for pale, strong in zip(PALE, STRONG, strict=True))
    return f"rgb({', '.join(map(str, mixed))})"
