"""Links from elsewhere: texts that mean harm, values that do not exist, links from long ago, pages that are not there."""

import json
import re
from urllib.parse import urlencode, urljoin, urlsplit

import pytest
from playwright.sync_api import expect

from pages import contents
from pages.contents import PAGES
from tests.browser.conftest import go_by_history
from tests.support.hostile import VALUES
from tests.support.messages import UNKNOWN
from tests.support.seen import (
    PATIENCE,
    address,
    answered,
    fits,
    in_sight,
    linked,
    sentence,
    write,
)
from tests.support.serving import ROOT

HARMFUL = (
    "<img src=x onerror=alert(1)></script><script>alert(2)</script> [x](javascript:alert(3)) :red[y] **b** \u202eabc 💥 שלום ___"
)
"""Markup, Markdown, a right-to-left override, an emoji and a blank at once."""
MARKUP = "<img src=x onerror=alert(4)>"
BOXES = {
    "attention": "Sentence",
    "fill_mask": "Sentence",
    "compare": "Sentence A",
    "summaries": "Sentence",
    "self_attention": "Sentence",
    "heads_and_blocks": "Sentence",
    "masks?part=one": "Sentence",
    "bert": "Sentence",
    "classifier": "Your sentence",
}
"""Pages with a sentence, and what its box is called."""


THIRDS = [list(BOXES)[place::3] for place in range(3)]


@pytest.mark.parametrize("paths", [THIRDS[0], *(pytest.param(paths, marks=pytest.mark.ci) for paths in THIRDS[1:])], ids="-".join)
def test_whatever_is_typed_is_only_text(arrive, paths: list[str]):
    page = None
    for path in paths:
        link = f"/{path}{'&' if '?' in path else '?'}{urlencode({'text': HARMFUL, 'text_b': HARMFUL, 'pair': MARKUP})}"
        if page:
            go_by_history(page, link)
        else:
            page = arrive(link)
        box = sentence(page, BOXES[path])
        expect(box).to_have_value(HARMFUL, timeout=PATIENCE)
        for text in (f"🏴‍☠️ ﷺ 日本語 שלום مرحبا {'x' * 10_000}", " ", "Back again."):
            write(page, text, BOXES[path])
            expect(box).to_have_value(text)
            assert page.get_by_test_id("stException").count() == 0, path
        assert in_sight(page) == [], path
        assert page.locator("img[src='x'], a[href^='javascript']").count() == 0, path
        fits(page)


NAMES = (
    "heads",
    "focus",
    "changes",
    "scale",
    "layer",
    "head",
    "cell",
    "kind",
    "mask",
    "part",
    "model",
    "level",
    "lesson",
    "step",
)
SAMPLE = VALUES[::17]


COMPUTING = [page for page in PAGES if page.computes]


@pytest.mark.ci
@pytest.mark.parametrize("entries", [COMPUTING[::2], COMPUTING[1::2]], ids=["one half", "the other"])
def test_a_link_with_nonsense_shows_the_page_and_says_what_it_left_out(page_at, entries: list[contents.Page]):
    page = page_at("/learn")
    for start, entry in enumerate(entries):
        fields = {name: SAMPLE[(7 * start + place) % len(SAMPLE)] for place, name in enumerate(NAMES)}
        go_by_history(page, f"/{entry.address or entry.key}?{urlencode(fields, errors='replace')}")
        answered(page)
        expect(page.get_by_role("heading", level=1)).to_have_text(entry.question)
        expect(page.get_by_text(UNKNOWN).first).to_be_visible(timeout=PATIENCE)
        assert page.get_by_test_id("stException").count() == 0, entry.key
    assert page.locator("img[src='x'], a[href^='javascript']").count() == 0


@pytest.mark.ci
def test_links_from_long_ago_still_show_their_view(page_at):
    page = page_at("/?text=One+%3Cb%3Ebird%3C%2Fb%3E+%26+a+half&unknown=1")
    assert f"/{contents.FORMER_HOME}?" in page.url
    expect(sentence(page)).to_have_value("One <b>bird</b> & a half")
    page = page_at("/bertviz_page?text=One+%26+a+half&picture=model&unknown=1")
    page.wait_for_url(re.compile(r"/bertviz\?"))
    assert (address(page)["text"], address(page)["picture"]) == ("One & a half", "model")
    expect(page.get_by_role("heading", level=1)).to_have_text(contents.page("bertviz_page").question)
    old = json.loads((ROOT / "tests" / "pages" / "old_links.json").read_text("utf-8"))
    for one in old[:: len(old) // 10]:
        if urlsplit(one["link"]).path[1:] in {contents.page_address(entry) for entry in COMPUTING if entry.key != contents.HOME}:
            go_by_history(page, one["link"])
        else:
            page.goto(urljoin(page.url, one["link"]))  # the server leads on to where the page is now
        answered(page)
        assert in_sight(page) == [] or "data=own" in one["link"], one["link"]  # a file of one's own is asked for
        linked(page, **one["address"])


def test_a_page_that_does_not_exist_says_so_beside_the_first_page(page_at):
    missing = "The page that you have requested does not seem to exist"
    page = page_at("/no-such-page", expect=(missing, "404 (Not Found)"))  # Streamlit first looks for its server there
    expect(page.get_by_role("dialog").get_by_text(missing)).to_be_visible()
    expect(page.get_by_text(contents.page(contents.HOME).question).first).to_be_visible()
