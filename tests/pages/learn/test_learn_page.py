"""The page of lessons: each with what one learns and a way in."""

from urllib.parse import parse_qsl

from pages.classroom.texts import OPEN
from pages.ui.panels import lesson, texts
from pages.ui.shell.address import FOR_CLASS, LESSON


def test_every_lesson_stands_on_the_page_with_its_length_and_a_way_in(open_app):
    app = open_app("learn")
    assert not app.exception
    lessons = [lesson.shipped_lesson(name) for name in lesson.shipped_names()]
    assert sorted(heading.value for heading in app.subheader) == sorted(one.title for one in lessons)
    links = [link.proto for link in app.main.get("page_link")]
    assert len([link for link in links if link.label == texts.BEGIN]) == len(lessons)
    asked = [dict(parse_qsl(link.query_string)) for link in links if link.label == texts.USE_IN_CLASS]
    assert [one[FOR_CLASS] for one in asked] == lesson.names_in_order()
    for name in (FOR_CLASS, LESSON):
        entrance = open_app("classroom", **{name: asked[-1][FOR_CLASS]})
        assert entrance.subheader[0].value == OPEN
        assert entrance.selectbox(key="classroom_lesson").value == asked[-1][FOR_CLASS]
    for one in lessons:
        length = texts.LESSON_DETAILS.format(minutes=one.minutes, steps=len(one.steps), level=one.level)
        assert length in [caption.value for caption in app.caption]


def test_the_lessons_of_45_minutes_have_notes_for_the_teacher(open_app):
    app = open_app("learn")
    lessons = {name: lesson.shipped_lesson(name) for name in lesson.shipped_names()}
    noted = [name for name, one in lessons.items() if lesson.teacher_notes(one)]
    assert {name for name, one in lessons.items() if one.minutes == 45} <= set(noted)
    assert len([expander for expander in app.expander if expander.label == texts.TEACHER_NOTES]) == len(noted)
    for name in noted:
        notes = lesson.teacher_notes(lesson.shipped_lesson(name))
        assert not any(title in [text.value for text in app.text] for title, _ in notes[1:])  # they tell answers
        app.session_state[f"learn_notes_{name}"] = True
        app.run()
        assert {title for title, _ in notes} <= {text.value for text in app.text}
