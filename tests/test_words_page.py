"""The page of words: each explained once, and each group with a view that shows it."""

import pytest

from pages.ui import contents
from pages.ui.word_list import GROUPS

WORDS = [word for group in GROUPS for word in group.words]


def test_every_word_stands_on_the_page_with_what_it_means(open_app):
    app = open_app("words")
    assert not app.exception
    written = "\n".join(element.value for element in app.markdown)
    assert [group.title for group in GROUPS] == [heading.value for heading in app.subheader]
    assert all(f"**{word.name}**: {word.meaning}" in written for word in WORDS)


def test_no_word_is_explained_twice_and_each_in_whole_sentences():
    names = [name for word in WORDS for name in word.name.split(", ")]
    assert len(names) == len(set(names))
    assert not [word.name for word in WORDS if not word.meaning.endswith(".") or len(word.meaning) > 260]


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.title)
def test_the_view_of_a_group_is_one_that_its_page_understands(open_app, group):
    link = next(link.proto for link in open_app("words").main.get("page_link") if group.page in link.proto.page)
    assert link.label == f"See it: {contents.page(group.page).question}"
    app = open_app(group.page, **group.view)
    assert not app.exception
    assert not any("not known here" in told.value for told in app.info)
    assert all(app.text_input(key=f"{group.page}_{name}").value == text for name, text in group.view.items())
