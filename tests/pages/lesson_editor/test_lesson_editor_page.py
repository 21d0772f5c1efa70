"""A lesson is collected from views, written, checked, shared and played; what a file says wrong is said with its line."""

from urllib.parse import parse_qs, urlsplit

import yaml

from pages.lesson_editor import texts
from pages.lesson_editor.draft import file_of, new_draft, new_step
from pages.lesson_editor.forms import ADDED, move_step, remove_step
from pages.ui.panels import lesson
from pages.ui.panels.question_kinds import MEASURE_TEXTS, QUESTION_VIEWS
from pages.ui.panels.texts import REVEALED
from pages.ui.shell.address import ADDED_VIEWS, LESSON
from pages.ui.shell.frame import new_id
from pages.ui.shell.texts import NO_FRAMES
from tests.support.staged import ask_stage, staged
from tests.tx_core.classroom.test_lesson_file import SMALL
from tx_core.classroom.lesson_file import Lesson, pack_lesson, read_lesson, unpack_lesson

KEYS = "Mary lost her keys."


def written_lesson(app) -> str:
    """The lesson as the page shows its file."""
    return next(code.value for code in app.code if code.value.startswith("title:"))


def link_of(app) -> str:
    return next(code.value for code in app.code if LESSON in code.value)


def add_view(app) -> None:
    """Add the view as a stage does, which a browser draws: Python pins what it says."""
    page = staged(app)["page"]
    values = [(field, app.session_state[f"{page}_{field.name}"]) for field in app.session_state[f"{page}_view"].fields.all]
    view = {field.name: field.write(value) for field, value in values if value not in (None, "", ())}
    app.session_state[ADDED_VIEWS] = [{"id": new_id(), "page": page, "view": view}]
    app.run()


def box(app, label: str, number: int = 1):
    boxes = [*app.text_input, *app.text_area, *app.selectbox, *app.number_input]
    return next(one for one in boxes if one.label == label.format(number=number))


def test_a_collected_view_is_written_asked_about_and_played(open_app):
    app = open_app("attention", text=KEYS, heads="2-8", focus="3")
    add_view(app)
    app.switch_page("lesson_editor/page.py").run()
    assert not app.exception
    box(app, texts.KIND).set_value("token").run()
    box(app, texts.ASK).set_value("Which word does “her” look at?").run()
    assert texts.PROBLEM in "\n".join(one.value for one in app.markdown)
    asks_token = texts.MEASURE_BOXES["query"].format(number=1)
    assert texts.EMPTY_BOX.format(box=asks_token) in [one.value for one in app.text]
    box(app, texts.STEP_TITLE).set_value("").run()
    both = "; ".join([texts.STEP_TITLE.format(number=1), asks_token])
    assert texts.EMPTY_BOXES.format(box=both) in [one.value for one in app.text]
    box(app, texts.STEP_TITLE).set_value("Keys").run()
    asked = box(app, texts.MEASURE_BOXES["query"])
    assert asked.options == ["[CLS]", "mary", "lost", "her", "keys", ".", "[SEP]"]
    asked.set_value("her").run()
    assert not app.exception
    assert texts.ANSWER.format(answer=REVEALED.format(answer="mary", share="0.865")) in [one.value for one in app.text]
    made = read_lesson(written_lesson(app).encode())
    assert (made.steps[0].view["text"], made.steps[0].view["model"]) == (KEYS, "embedded")
    assert made.steps[0].question.answer.head == "2-8"
    assert unpack_lesson(parse_qs(urlsplit(link_of(app)).query)[LESSON][0]) == made
    assert any(code.value.startswith("<iframe") and "&amp;embed=true" in code.value for code in app.code)
    assert NO_FRAMES in [one.value for one in app.caption]
    played = open_app("attention", **{LESSON: pack_lesson(made)})
    assert not played.exception
    assert f"**{made.steps[0].question.ask}**" in [one.value for one in played.markdown]


def test_a_first_question_names_what_is_chosen_until_the_writer_words_it(open_app):
    app = open_app("attention", text=KEYS, heads="2-8")
    add_view(app)
    app.switch_page("lesson_editor/page.py").run()
    box(app, texts.KIND).set_value("token").run()
    for token in ("her", "keys"):
        box(app, texts.MEASURE_BOXES["query"]).set_value(token).run()
        named = MEASURE_TEXTS["strongest_key"].ask.format(query=token)
        assert box(app, texts.ASK).value == named
        assert read_lesson(written_lesson(app).encode()).steps[0].question.ask == named
    box(app, texts.KIND).set_value("number").run()
    box(app, texts.MEASURE).set_value("attention_weight").run()
    assert box(app, texts.ASK).value == QUESTION_VIEWS["number"].first_ask  # the key is not chosen yet
    box(app, texts.MEASURE_BOXES["key"]).set_value("mary").run()
    assert box(app, texts.ASK).value == MEASURE_TEXTS["attention_weight"].ask.format(query="keys", key="mary")
    box(app, texts.ASK).set_value("").run()
    assert box(app, texts.ASK).value == ""
    box(app, texts.ASK).set_value("My own question?").run()
    box(app, texts.MEASURE_BOXES["key"]).set_value("lost").run()
    assert box(app, texts.ASK).value == "My own question?"
    assert not app.exception


def test_an_option_that_is_missing_is_named(open_app):
    app = open_app("fill_mask", text="Yesterday I [MASK] to school.")
    add_view(app)
    app.switch_page("lesson_editor/page.py").run()
    box(app, texts.KIND).set_value("choice").run()
    box(app, texts.OPTIONS).set_value("go\ncame").run()
    box(app, texts.MEASURE).set_value("top_word").run()
    missing = texts.NOT_AN_OPTION.format(answer="went")
    assert any(one.value.endswith(missing) for one in app.text)
    box(app, texts.OPTIONS).set_value("go\nWent").run()
    assert not any(one.value.endswith(missing) for one in app.text)


def test_what_only_the_model_can_tell_of_a_file_is_said_with_its_line_when_the_step_is_opened(open_app):
    new, field = "head: 9-9", "question › answer › head"
    written_file = SMALL.replace("head: 1-2", new).replace("steps:", "# A comment moves the lines.\nsteps:")
    app = open_app("attention")
    app.session_state[lesson.OWN_LESSONS] = {"own-1": written_file}
    app.query_params[LESSON] = "own-1"
    app.run()
    assert not app.exception
    line = next(number for number, text in enumerate(written_file.splitlines(), 1) if new in text)
    assert any(one.value.startswith(f"Line {line}, steps › 1 › {field}: ") for one in app.text)


def test_a_second_click_that_arrives_before_the_page_is_drawn_again_changes_nothing():
    steps = [{"id": name} for name in "abc"]
    for change, args, expected in (
        (move_step, ("a", 1), "bac"),
        (move_step, ("c", 1), "bca"),
        (remove_step, ("c",), "ba"),
        (remove_step, ("a",), "b"),
    ):
        for _ in range(2):
            change(steps, *args)
            assert "".join(one["id"] for one in steps) == expected


def test_a_step_is_added_in_the_editor_looked_at_and_its_controls_are_ticked(open_app):
    app = open_app("lesson_editor")
    app.selectbox(key=ADDED).set_value("attention").run()
    app.selectbox(key=ADDED).set_value("fill_mask").run()
    assert not app.exception and staged(app)["page"] == "fill_mask" and staged(app)["follows"]
    made = read_lesson(written_lesson(app).encode())
    assert [step.page for step in made.steps] == ["attention", "fill_mask"]
    assert all("text" in step.view and step.controls is None for step in made.steps)
    boxes = {one.label: one for one in app.checkbox}
    for name in ("heads", "changes"):
        boxes[texts.CONTROL_NAMES[name]].uncheck()
    app.run()
    named = read_lesson(written_lesson(app).encode()).steps[1].controls
    assert "text" in named and not {"heads", "changes"} & set(named)
    ask_stage(app, "interventions", {"add": ["off~5-7"]})
    box(app, texts.KIND, 2).set_value("word").run()
    said = next(one for one in app.checkbox if one.label.startswith(texts.MEASURE_BOXES["changes"].partition(":")[0]))
    said.check().run()
    step = read_lesson(written_lesson(app).encode()).steps[1]
    assert step.view["changes"] == step.question.answer.changes == "off~5-7"


def test_a_step_keeps_its_view_while_its_writer_looks_at_another_page(open_app):
    app = open_app("lesson_editor")
    app.selectbox(key=ADDED).set_value("attention").run()
    made = written_lesson(app)
    app.switch_page("attention/page.py").run()
    app.text_input(key="attention_text").set_value("Another sentence.").run()
    app.query_params.clear()
    app.switch_page("lesson_editor/page.py").run()
    assert not app.exception and staged(app)["page"] == "attention"
    assert written_lesson(app) == made
    assert written_lesson(app.run()) == made


def test_texts_of_a_writer_are_text_in_the_file():
    draft = new_draft() | {"title": "a: [b, *c] # d", "about": "<b>&</b>\n- x"}
    draft["steps"] = [new_step("attention", {"text": "!!python/object:os.system", "heads": "1-1"})]
    read = read_lesson(file_of(draft).encode())
    assert isinstance(read, Lesson)
    assert (read.title, read.about) == ("a: [b, *c] # d", "<b>&</b>\n- x")
    assert yaml.safe_load(file_of(draft))["steps"][0]["view"]["text"] == "!!python/object:os.system"
