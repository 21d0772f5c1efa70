"""The list at the side takes the visitor's own sentence along, in real Chromium."""

import re

from playwright.sync_api import expect


def test_the_list_at_the_side_takes_the_sentence_along_and_back_finds_it_too(page_at):
    page = page_at("/")
    box = page.get_by_role("textbox", name="Sentence", exact=True)
    box.fill("The bird sang a song.")
    box.press("Enter")
    expect(page).to_have_url(re.compile("bird"))
    sidebar = page.get_by_test_id("stSidebar")
    sidebar.get_by_role("link", name="Summaries").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("What do all the heads do?")
    expect(box).to_have_value("The bird sang a song.")
    sidebar.get_by_role("link", name="Attention", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Where does each head look?")
    expect(box).to_have_value("The bird sang a song.")
