"""A lesson is collected from views, written, checked, shared and played; what a file says wrong is said with its line."""

from urllib.parse import parse_qs, urlsplit

from pages.lesson_editor import texts
from pages.lesson_editor.forms import ADDED, CHOSEN, move_step, remove_step
from pages.ui.panels.texts import REVEALED
from pages.ui.shell.address import ADDED_VIEWS, LESSON
from pages.ui.shell.frame import new_id
from pages.ui.stage.browser_texts import EXPORT
from tests.support.staged import ask_stage, staged
from tx_core.classroom.lesson_file import pack_lesson, read_lesson, unpack_lesson

KEYS = "Mary lost her keys."


def written_lesson(app) -> str:
    return next(code.value for code in app.code if code.value.startswith("title:"))


def link_of(app) -> str:
    return next(code.value for code in app.code if LESSON in code.value)


def add_view(app) -> None:
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
    assert EXPORT["noFrames"] in [one.value for one in app.caption]
    played = open_app("attention", **{LESSON: pack_lesson(made)})
    assert not played.exception
    assert f"**{made.steps[0].question.ask}**" in [one.value for one in played.markdown]


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
    assert said.value
    step = read_lesson(written_lesson(app).encode()).steps[1]
    assert step.view["changes"] == step.question.answer.changes == "off~5-7"
    said.uncheck().run()
    ask_stage(app, "interventions", {"add": ["off~5-8"]})
    step = read_lesson(written_lesson(app).encode()).steps[1]
    assert step.view["changes"] == "off~5-7_off~5-8" and not step.question.answer.changes


def test_the_answer_is_measured_on_the_sentence_of_the_view_until_the_writer_names_another(open_app):
    app = open_app("lesson_editor")
    app.selectbox(key=ADDED).set_value("fill_mask").run()
    box(app, texts.KIND).set_value("word").run()
    for typed, own, measured in (
        ("The cat [MASK] here.", None, "The cat [MASK] here."),
        ("The dog [MASK] here.", "We [MASK] home.", "We [MASK] home."),
        ("The man [MASK] here.", None, "We [MASK] home."),
    ):
        app.text_input(key="fill_mask_text").set_value(typed).run()
        if own:
            box(app, texts.MEASURE_BOXES["text"]).set_value(own).run()
        step = read_lesson(written_lesson(app).encode()).steps[0]
        assert (step.view["text"], step.question.answer.text) == (typed, measured)
        assert box(app, texts.MEASURE_BOXES["text"]).value == measured


def test_a_step_that_is_renamed_stays_the_one_that_is_written(open_app):
    app = open_app("lesson_editor")
    for page in ("attention", "masks"):
        app.selectbox(key=ADDED).set_value(page).run()
    box(app, texts.STEP_TITLE, 2).set_value("Renamed").run()
    assert app.radio(key=CHOSEN).proto.set_value  # to the browser a list with another title is new: it is told what is chosen
    box(app, texts.STEP_TEXT, 2).set_value("Edited at once.").run()
    assert [(step.title, step.text) for step in read_lesson(written_lesson(app).encode()).steps][1] == (
        "Renamed",
        "Edited at once.",
    )
    assert staged(app)["page"] == "masks"


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
