"""The page of lessons: each with what one learns and a way in."""

from urllib.parse import parse_qsl

from pages import contents
from pages.ui.panels import lesson, texts


def test_every_lesson_stands_on_the_page_with_its_length_and_a_way_in(open_app):
    app = open_app("learn")
    assert not app.exception
    lessons = [lesson.shipped_lesson(name) for name in lesson.shipped_names()]
    assert sorted(heading.value for heading in app.subheader) == sorted(one.title for one in lessons)
    links = [link for link in app.main.get("page_link") if link.proto.label == texts.BEGIN]
    assert len(links) == len(lessons)
    for one in lessons:
        length = texts.LESSON_DETAILS.format(minutes=one.minutes, parts=len(lesson.parts_of(one)), level=one.level)
        assert length in [caption.value for caption in app.caption]


def test_every_lesson_leads_to_a_class_that_takes_it(open_app):
    links = [link.proto for link in open_app("learn").main.get("page_link") if link.proto.label == texts.USE_IN_CLASS]
    asked = [dict(parse_qsl(link.query_string)) for link in links]
    assert [one[lesson.FOR_CLASS] for one in asked] == lesson.names_in_order()
    assert {link.page for link in links} == {contents.page("classroom").address}
    app = open_app("classroom", **asked[-1])
    assert app.selectbox(key="classroom_lesson").value == asked[-1][lesson.FOR_CLASS]


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
