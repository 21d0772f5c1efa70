"""Next word, as a reader goes through it: what comes next, one token written, what else could have stood there, and a branch."""

import re

from playwright.sync_api import Page, expect

from pages.next_word import texts
from pages.ui.shell.numbers import percent
from tests.browser.conftest import go_by_history
from tests.support.seen import linked, main, write
from tx_core import load, next_words
from tx_core.analysis.probabilities import rank_of
from tx_core.fill_mask.next_words import Sampling, next_logits, write_words

BEGINNING = "Once upon a"


def bars(page: Page) -> list[str]:
    """The words of the bars with their numbers."""
    return [
        " ".join(line.split())
        for line in page.get_by_role("listbox", name=texts.PICTURE["likely"]).get_by_role("option").all_inner_texts()
    ]


def test_a_beginning_is_written_on_from_any_of_its_tokens(arrive, for_everybody):
    engine = load("writer")
    page = arrive("/next_word?text=Once+upon+a&seed=3")
    said, picture = page.get_by_test_id("next-said"), texts.PICTURE
    best, second, *_ = next_words(engine, BEGINNING)
    expect(said).to_have_text(picture["first"].format(word=best.word, share=percent(best.probability)))
    assert bars(page)[:2] == [f"{word.word} {percent(word.probability)}".replace("\xa0", " ") for word in (best, second)]
    main(page).get_by_role("button", name=picture["writeOne"], exact=True).click()
    (token,) = write_words(engine, BEGINNING, 1, seed=3)
    linked(page, written=str(token))
    logits = next_logits(engine, engine.encode(BEGINNING), [3])[0]
    drawn = {"written": engine.tokenizer.readable(token), "rank": rank_of(logits, token)}
    drawn["chance"] = percent(Sampling().shares(logits)[token])
    expect(page.get_by_test_id("next-last")).to_have_text(picture["last"].format(**drawn))
    strip = page.get_by_test_id("written")
    strip.get_by_role("button").first.click()
    expect(said).to_have_text(picture["stood"].format(word=best.word, share=percent(best.probability), **drawn))
    expect(page.locator(".following .bar-fill").first).to_have_attribute(
        "style", re.compile(f"width: {100 * best.probability:.1f}")
    )
    main(page).get_by_role("combobox", name=picture["topK"], exact=True).select_option("3")
    three = next_words(engine, BEGINNING, sampling=Sampling(top_k=3))
    expect(page.get_by_role("listbox", name=texts.PICTURE["likely"]).get_by_role("option").nth(1)).to_contain_text(
        percent(three[1].probability).replace("\xa0", " ")
    )
    linked(page, at="1", top_k="3")
    page.get_by_role("listbox", name=texts.PICTURE["likely"]).get_by_role("option").nth(1).click()
    linked(page, written=str(second.id), top_k="3")
    expect(strip).to_contain_text(second.word)
    assert "forbidden" in page.get_by_test_id("stage").inner_text()
    for_everybody(page)
    expect(page.get_by_test_id("stage")).to_have_attribute("data-place", "1")
    strip.get_by_role("button").first.click()
    linked(page, at="1")
    *_, one, other, stop = engine.encode("She left unhappily.").ids
    go_by_history(page, f"/next_word?text=She+left&written={one}.{other}.{stop}")
    expect(strip).to_have_text("She left unhappily. …", use_inner_text=True)  # pieces of a word are read as one
    expect(strip.get_by_role("button")).to_have_count(4)
    write(page, "")
    expect(said).to_be_hidden()
    write(page, "The old man")
    main(page).get_by_role("button", name=picture["writeOne"], exact=True).click()
    linked(page, text="The old man")
    expect(page.get_by_test_id("stage")).to_have_attribute("data-place", "1")
