"""Compare: what is chosen to differ differs, and the sides are exchanged and made alike."""

import re
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import expect

from pages.compare import texts
from tests.support.seen import press, said, silent, stage

pytestmark = pytest.mark.ci

TEXTS = ("time flies like an arrow", "a fruit flies like a banana")
LABELS = texts.PICTURE


def test_heads_are_exchanged_and_pinned_in_the_browser(page_at):
    page = page_at(f"/compare?text={quote_plus(TEXTS[0])}&vary=head&head=1-8&head_b=1-2")
    expect(said(page)).to_contain_text("A: layer 1, head 8; B: layer 1, head 2.")
    with silent(page):
        press(page, LABELS["swap"])
        expect(said(page)).to_contain_text("A: layer 1, head 2; B: layer 1, head 8.")
        stage(page).get_by_role("combobox", name="B Head").select_option(LABELS["mean"])
        expect(said(page)).to_contain_text("B: layer 1, mean of all heads.")
        page.wait_for_url(re.compile("head=1-2$"))
        press(page, LABELS["pin"])
        expect(said(page)).to_contain_text(texts.SAME_SIDES)
