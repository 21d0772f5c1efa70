"""A first visitor of a server whose model is not loaded yet, in real Chromium: the example is there, all else waits."""

import json
import re
import sys
from pathlib import Path

from playwright.sync_api import Browser, expect

from pages.ui.shell.texts import WARMING_UP
from tests.support.serving import fetch, free_port, running, streamlit_command

TYPED = "Mary lost her keys again and again"

SERVER_WHOSE_MODEL_WAITS = """
import pathlib, sys, time
from streamlit.web.cli import main
from pages.ui.shell import readiness
def wait(visit):
    while not pathlib.Path(go).exists():
        time.sleep(0.05)
go = sys.argv.pop(1)
readiness.FirstVisit.wait = wait
main()
"""


def test_the_example_can_be_looked_at_while_the_model_is_loaded_and_a_new_sentence_follows(browser: Browser, tmp_path: Path):
    port, go = free_port(), tmp_path / "go"
    _, _, _, *command = streamlit_command(port)
    server, url = [sys.executable, "-c", SERVER_WHOSE_MODEL_WAITS, str(go), *command], f"http://127.0.0.1:{port}"
    with running(server, f"{url}/_stcore/health", tmp_path / "log.txt"), browser.new_context() as visitor:
        page = visitor.new_page()
        page.goto(f"{url}/attention")
        drawn, badge = page.get_by_test_id("attention-heatmap"), page.get_by_text(WARMING_UP)
        expect(drawn).to_have_attribute("data-shape", re.compile('"queries":7'), timeout=60_000)
        expect(badge).to_be_visible()
        page.get_by_role("gridcell", name="Layer 1, head 8", exact=True).click()
        expect(page.get_by_test_id("stText").filter(has_text="Layer 1, head 8.")).to_be_visible(timeout=60_000)
        expect(page).to_have_url(re.compile("heads=1-8"))
        assert json.loads(fetch(f"{url}/api/ready")[2]) == {"state": "warming up"}
        sentence = page.get_by_label("Sentence", exact=True)
        sentence.fill(TYPED)
        expect(page.get_by_text("9 of 128 tokens")).to_be_visible(timeout=60_000)  # the tokenizer waits for nothing
        go.touch()
        expect(drawn).to_have_attribute("data-shape", re.compile('"queries":9'), timeout=60_000)
        expect(badge).to_have_count(0, timeout=60_000)
        assert fetch(f"{url}/api/ready")[0] == 200
        expect(page.get_by_text("9 of 128 tokens")).to_be_visible()
        expect(sentence).to_have_value(TYPED)
