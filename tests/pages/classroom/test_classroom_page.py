"""The page of a class without a browser: who may see what, what is saved, and what is said when something is wrong."""

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from gzip import decompress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages import contents
from pages.classroom import entrance, events, teacher, texts
from pages.classroom.entrance import LEAD, ROOM, SECRET
from pages.classroom.results import lesson_of
from pages.classroom.student import PAGES_WITH_CHANGES
from pages.fill_mask.stage import MAX_UNLISTED
from pages.fill_mask.texts import GUESSED_BESIDES_CUT
from pages.ui.panels.lesson import PAGES_WITH_VIEW, shipped_lesson
from pages.ui.panels.lesson_question import compute
from pages.ui.shell.address import PRESENT
from pages.ui.shell.texts import ABOUT_THE_ROOM
from pages.ui.stage.first_picture import split_message
from pages.ui.stage.texts import CLASS_GUESSED, UNLISTED_GUESS
from pages.ui.stage.tokens import escape_markdown
from tests.support.blanks import ask, likely, pictured
from tests.support.serving import ROOT
from tests.support.staged import STAGE, made_changes, staged
from tx_core.classroom import rooms as store
from tx_core.classroom.lesson_file import read_lesson, write_lesson
from tx_core.classroom.room_database import NO_DATABASE
from tx_core.classroom.rooms import Rooms, host_rooms
from tx_core.errors import RoomProblem

SOURCE = (ROOT / "assets" / "lessons" / "path.yaml").read_text("utf-8")
STEPS = 11
"""What a room keeps of the model's answer beside the answer itself."""
MARK = "Xylophones"


@pytest.fixture
def rooms(host: Callable[..., None], tmp_path: Path) -> Iterator[Rooms]:
    host(rooms_file=tmp_path / "rooms.sqlite", database_url="")
    host_rooms.cache_clear()
    yield host_rooms()
    host_rooms().dispose()
    host_rooms.cache_clear()


def written(app: AppTest) -> str:
    return "\n".join(
        str(element.value) for kind in ("text", "markdown", "caption", "code", "metric") for element in app.get(kind)
    )


def test_a_wrong_code_is_explained_and_so_is_a_forged_token(rooms: Rooms, open_app: Callable[..., AppTest]):
    app = open_app("classroom", **{ROOM: "<b>ZZ"})
    assert not app.exception
    assert store.NO_ROOM in written(app) and ABOUT_THE_ROOM in written(app)
    app = open_app("classroom")
    app.text_input(key="classroom_code_typed").set_value(" ")
    next(button for button in app.button if button.label == texts.JOIN_BUTTON).click().run()
    assert [one.value for one in app.info] == [texts.CODE_FIRST] and store.NO_ROOM not in written(app)
    room, _ = rooms.open(SOURCE, STEPS)
    for role, said in ((ROOM, texts.REMOVED), (LEAD, texts.CLOSED)):
        app = with_token(role, room.code, "x" * 5000)
        assert not app.exception
        assert said in written(app)


def with_token(role: str, code: str, token: str) -> AppTest:
    app = AppTest.from_file(ROOT / "pages" / "main.py", default_timeout=240)
    app.session_state[entrance.TOKENS] = {(role, code): token}
    app.query_params[role] = code
    app.run()
    return app.switch_page("classroom/page.py").run()


def test_no_name_is_needed_but_where_one_is_asked_for(rooms: Rooms, open_app: Callable[..., AppTest]):
    for nicknames in (False, True):
        app = open_app("classroom", **{ROOM: rooms.open(SOURCE, STEPS, nicknames=nicknames)[0].code})
        assert len(app.text_input) == nicknames and (texts.NO_NAMES in written(app)) is not nicknames
        assert texts.DELETED.partition("{")[0] in written(app)


def test_the_code_alone_lets_nobody_teach(rooms: Rooms, open_app: Callable[..., AppTest]):
    room, token = rooms.open(SOURCE, STEPS)
    rooms.send_sentence(rooms.join(room.code), 1, MARK)
    app = open_app("classroom", **{LEAD: room.code})
    assert texts.LOOKING in written(app)
    assert not app.button and MARK not in written(app)
    app = open_app("classroom", **{SECRET: rooms.join(room.code)})
    assert store.NO_TEACHER in written(app)
    app = open_app("classroom", **{SECRET: token})
    assert room.code in written(app)
    assert dict(app.query_params) == {LEAD: room.code}
    assert [token in link.value for link in app.get("code")] == [False, True]  # the students' link, and the teacher's own


def test_the_file_of_answers_has_what_the_students_of_its_room_sent_and_no_formula(rooms: Rooms):
    room, token = rooms.open(SOURCE, STEPS, nicknames=True)
    rooms.answer(rooms.join(rooms.open(SOURCE, STEPS)[0].code), 1, MARK)
    rooms.answer(student := rooms.join(room.code, "Ada"), 1, "=1+1;=2")
    rooms.send_sentence(student, 1, "A cat sat.")
    columns, row = csv.reader(teacher.answers_csv(token).decode("utf-8-sig").splitlines())
    assert tuple(columns) == texts.COLUMNS
    assert row == ["1", "Ada", "1", lesson_of(SOURCE).steps[0].question.ask, "'=1+1;'=2", "", "A cat sat.", ""]


def enter(open_app: Callable[..., AppTest], code: str) -> AppTest:
    app = open_app("classroom", **{ROOM: code})
    next(button for button in app.button if code in button.label).click().run()
    return app


def drawn(app: AppTest) -> str:
    return "".join(str(element.proto) for element in app.get("bidi_component")).casefold()


def open_view_of(
    rooms: Rooms, open_app: Callable[..., AppTest], number: int, guesses: Sequence[str], source: str = SOURCE
) -> AppTest:
    step = lesson_of(source).steps[number - 1]
    room, token = rooms.open(source, STEPS)
    rooms.go(token, number)
    app = enter(open_app, room.code)
    assert not stages(app)
    for guess in guesses:
        rooms.answer(rooms.join(room.code), number, guess)
    rooms.reveal(token, number, asdict(compute(step)))
    app.run()
    assert not app.exception and staged(app)["page"] == step.page
    return app


def stages(app: AppTest) -> list[str]:
    return [one.proto.component_name for one in app.get("bidi_component") if one.proto.component_name.startswith(STAGE)]


def test_a_room_shows_the_stage_of_its_step_with_the_controls_that_the_step_names_and_nothing_else_of_its_page(
    rooms: Rooms, open_app: Callable[..., AppTest]
):
    lesson = read_lesson(SOURCE.encode())
    room, token = rooms.open(write_lesson(lesson), STEPS)
    app, lead = enter(open_app, room.code), open_app("classroom", **{SECRET: token})
    for number, step in enumerate(lesson.steps, 1):
        if step.question:
            rooms.reveal(token, number, asdict(answer) if (answer := compute(step)) else {})
        for one in (app, lead):
            one.run()
            header = staged(one)
            assert (header["page"], header["alone"], header["address"]["isKept"]) == (step.page, True, True)
            shown = {name: header["view"][name] for name in header["view"]}
            assert dict(one.query_params).keys() == {ROOM if one is app else LEAD} and shown
            assert {"export", "share", "words", "scale"} <= set(header["hidden"])
            assert ("heads" in header["hidden"]) is ("heads" not in step.controls)
            boxes = {box.key for box in one.text_input if box.key.startswith(f"{step.page}_")}
            assert boxes == ({f"{step.page}_text"} if "text" in step.controls else set())
            if boxes:
                assert one.text_input(key=f"{step.page}_text").value == step.view["text"]
            assert [title.value for title in one.title] == [contents.page("classroom").question]
        if number < STEPS:
            rooms.go(token, number + 1)
            app.run()
            assert bool(stages(app)) is (lesson.steps[number].question is None)


def test_a_request_that_was_sent_before_the_step_came_does_not_bring_the_sentence_of_the_step_before_back(
    rooms: Rooms, open_app: Callable[..., AppTest]
):
    (before, own), box = [lesson_of(SOURCE).steps[number - 1].view["text"] for number in (10, 9)], "fill_mask_text"
    _, token = rooms.open(SOURCE, STEPS)
    for number in (9, 10):
        rooms.reveal(token, number, asdict(compute(lesson_of(SOURCE).steps[number - 1])))
    rooms.go(token, 10)
    lead = open_app("classroom", **{SECRET: token})
    assert lead.text_input(key=box).value == before != own
    next(button for button in lead.button if button.label == texts.PREVIOUS).click().run()
    for _ in range(2):  # the event that tells of the click asks for runs, too, and brings what the browser knew then
        lead.text_input(key=box).set_value(before).run()
        assert lead.text_input(key=box).value == own == staged(lead)["sentences"][0]["text"]
    for typed in (own, before):  # the browser knows the step by now: what comes is typed
        lead.text_input(key=box).set_value(typed).run()
        assert lead.text_input(key=box).value == typed == staged(lead)["sentences"][0]["text"]


def test_the_stage_of_a_revealed_step_is_made_once_for_all_phones_and_not_announced_before(
    rooms: Rooms, open_app: Callable[..., AppTest]
):
    room, token = rooms.open(SOURCE, STEPS)
    rooms.answer(rooms.join(room.code), 1, "went")
    app, lead = enter(open_app, room.code), open_app("classroom", **{SECRET: token})

    def message() -> dict[str, str] | None:
        return json.loads(events.read_messages(room.id)[events.STUDENT])["stage"]

    assert message() is None
    next(button for button in lead.button if button.label == texts.REVEAL).click().run()
    stage, made = message(), events.hub.stages[room.id]
    assert stage["data"].endswith(made.name) and stage["then"] == lesson_of(SOURCE).steps[0].then
    assert stage["recap"] == lesson_of(SOURCE).recap_after(1) == ""
    assert lesson_of(SOURCE).recap_after(STEPS) == lesson_of(SOURCE).recap != ""
    header, _ = split_message(decompress(made.packed))
    assert header == staged(lead) and likely(lead)
    app.run()
    ask(app, add=["off~5-7"])
    assert staged(app)["changes"] and events.hub.stages[room.id] is made  # what one student changes is nobody else's
    assert staged(app)["arrival"]["place"] == header["arrival"]["place"]
    rooms.conceal(token, 1)
    assert message() is None
    rooms.answer(rooms.join(room.code), 1, "came")
    rooms.reveal(token, 1, asdict(compute(lesson_of(SOURCE).steps[0])))
    assert message() is None  # it shows the votes of before
    app.run()
    assert message() is None  # and that student's own change
    lead.run()  # which has not run since the answers were hidden
    assert message()["data"] != stage["data"]  # the votes of now
    rooms.close(token)
    assert events.read_messages(room.id)[events.STUDENT] == events.CLOSED and room.id not in events.hub.stages


def test_the_projector_makes_the_change_that_a_step_asks_about_and_leaves_it_to_everybody_else(
    rooms: Rooms, open_app: Callable[..., AppTest]
):
    step = lesson_of(SOURCE).steps[2]
    room, token = rooms.open(SOURCE, STEPS)
    rooms.go(token, 3)
    phone = enter(open_app, room.code)
    rooms.reveal(token, 3, asdict(compute(step)))
    projector, lead = (open_app("classroom", **{SECRET: token} | more) for more in ({PRESENT: "1"}, {}))
    phone.run()
    assert [made_changes(app) for app in (projector, lead, phone)] == [[step.question.answer.changes], [], []]
    assert likely(projector)[0]["label"] == compute(step).right != likely(lead)[0]["label"]
    assert [step.then in written(app) for app in (projector, lead, phone)] == [False, True, True]
    assert json.loads(events.read_messages(room.id)[events.STUDENT])["stage"]
    header, _ = split_message(decompress(events.hub.stages[room.id].packed))
    assert not header["changes"]  # what phones share
    pages = {page.key for page in contents.PAGES if page.key in PAGES_WITH_VIEW and has_changes(page.key)}
    assert pages - {"compare"} == set(PAGES_WITH_CHANGES)  # that changes one of two runs


def has_changes(page: str) -> bool:
    found = find_spec(f"pages.{page}.inputs")
    fields = getattr(import_module(f"pages.{page}.inputs"), "FIELDS", None) if found else None
    return fields is not None and any(field.name == "changes" for field in fields.own)


def guessed_words(app: AppTest) -> dict[str, list]:
    start = CLASS_GUESSED.partition("{")[0]
    return {bar["label"]: [bar["guess"][0], bar["guess"][1].removeprefix(start)] for bar in likely(app) if bar["guess"]}


def test_the_guesses_of_a_word_stand_in_the_pages_own_list_and_the_others_below_it(
    rooms: Rooms, open_app: Callable[..., AppTest]
):
    unlisted = [f"word{number}" for number in range(MAX_UNLISTED + 1)]
    source = write_lesson(shipped_lesson("masks-and-order"))
    app = open_view_of(rooms, open_app, 1, ["lima", "Lima ", "CHILE", *unlisted], source)
    total = 3 + len(unlisted)
    one = texts.COUNT.format(count=1, share="8\u00a0%")
    assert guessed_words(app) == {"lima": [2 / total, texts.COUNT.format(count=2, share="17\u00a0%")], "chile": [1 / total, one]}
    named = ", ".join(UNLISTED_GUESS.format(word=word, said=one) for word in unlisted[:MAX_UNLISTED])
    assert GUESSED_BESIDES_CUT.format(words=named, count=1) in pictured(app)
    text = lesson_of(source).steps[0].view["text"]
    for changed, shown in ((text.replace("Peru", "Chile"), 0), (text, 2)):
        app.text_input(key="fill_mask_text").set_value(changed).run()
        assert len(guessed_words(app)) == shown
        assert (unlisted[0] in pictured(app)) is bool(shown)


def test_a_database_that_is_away_is_explained(rooms: Rooms, open_app: Callable[..., AppTest]):
    room, token = rooms.open(SOURCE, STEPS)
    member = rooms.join(room.code)
    rooms.engine.dispose()
    assert entrance.has_database()
    Path(rooms.engine.url.database).unlink()
    for path in Path(rooms.engine.url.database).parent.glob("rooms.sqlite-*"):
        path.unlink()
    assert not entrance.has_database()
    app = with_token(ROOM, room.code, member)
    assert NO_DATABASE in written(app) and texts.CLOSED not in written(app)
    assert app.session_state[entrance.TOKENS] == {(ROOM, room.code): member}  # it is not forgotten
    assert NO_DATABASE in written(open_app("classroom", **{SECRET: token}))


def test_why_a_click_failed_is_said_once_since_a_room_goes_on_without_another(rooms: Rooms, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> None:
        raise RoomProblem(MARK)

    monkeypatch.setattr(Rooms, "go", refuse)
    room, token = rooms.open(SOURCE, STEPS)
    app = with_token(LEAD, room.code, token)
    next(button for button in app.button if button.label == texts.NEXT).click().run()
    assert MARK in written(app)
    assert MARK not in written(app.run()) and not app.exception


def test_the_titles_of_a_strangers_lesson_are_no_markup(rooms: Rooms, open_app: Callable[..., AppTest]):
    link = "[here](https://example.org) :red[now] $x$"
    lesson = read_lesson(SOURCE.encode())
    first = lesson.steps[0].model_copy(update={"title": link})
    own = lesson.model_copy(update={"title": link, "steps": (first, *lesson.steps[1:])})
    room, token = rooms.open(write_lesson(own), STEPS)
    for app in (enter(open_app, room.code), open_app("classroom", **{SECRET: token})):
        heads = [element.value for element in app.subheader]
        bars = [element.proto.text for element in app.get("progress")]
        assert heads == [escape_markdown(link)]
        assert len(bars) == 1 and bars[0].startswith(escape_markdown(link))
