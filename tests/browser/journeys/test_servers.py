"""Servers that load, die, stand below a path, or serve several visitors at once."""

import json
import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from subprocess import Popen
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Route, expect

from pages import contents
from pages.ui.shell.texts import SESSION_LOST, STILL_LOADING
from pages.ui.stage import browser_texts
from pages.ui.stage import texts as stage_texts
from tests.support.seen import answered, button, drawn, linked, main, picture, sentence
from tests.support.serving import fetch, free_port, running, site_of_two, streamlit_command, wait_until
from tests.support.trainings import progress

pytestmark = pytest.mark.ci

TOKEN = "a-token-of-16-characters-or-more"
SENTENCE, TYPED = "The dog ___ at me.", "Two birds sang."
SERVER_WHOSE_MODEL_WAITS = """
import pathlib, sys, time
from streamlit.web.cli import main
from tx_core.engine import catalogue
load, go = catalogue.load_named, sys.argv.pop(1)
def wait(*asked, **how):
    while not pathlib.Path(go).exists():
        time.sleep(0.05)
    return load(*asked, **how)
catalogue.load_named = wait
main()
"""


def busiest(servers: Sequence[Popen]) -> Popen:
    """Find the server that has most visitors."""

    def visitors(server: Popen) -> float:
        port = server.args[server.args.index("--server.port") + 1]
        _, _, shown = fetch(f"http://127.0.0.1:{port}/api/metrics", Authorization=f"Bearer {TOKEN}")
        return float(re.search(r"^tx_visitors (\S+)$", shown.decode(), re.MULTILINE)[1])

    return max(servers, key=visitors)


def test_when_a_server_is_killed_its_pages_go_on_at_another_and_a_lost_training_is_named(browser: Browser, tmp_path: Path):
    if shutil.which("caddy") is None:
        missing = "no Caddy found: install it as .ci/run does"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    with site_of_two(tmp_path, TX_METRICS_TOKEN=TOKEN) as (url, servers), browser.new_context() as visitor:
        page, training, question = visitor.new_page(), visitor.new_page(), contents.page("attention").question
        page.goto(f"{url}/attention?{urlencode({'text': SENTENCE})}")
        expect(page.get_by_role("heading", level=1)).to_have_text(question)
        answered(page)
        training.goto(f"{url}/classifier?model=own")
        button(training, stage_texts.TRAIN).click()
        expect(button(training, stage_texts.STOP)).to_be_visible()
        # The run after the one of the click tells the browser what a loss would take.
        running_now = main(training).get_by_text(progress("running"))
        expect(running_now).not_to_have_text(running_now.inner_text())
        answered(training)
        server = busiest(servers)
        server.kill()
        server.wait()
        expect(training.get_by_text(SESSION_LOST)).to_be_visible()
        expect(button(training, stage_texts.TRAIN)).to_be_enabled()
        answered(page)
        expect(sentence(page)).to_have_value(SENTENCE)
        expect(page.get_by_role("heading", level=1)).to_have_text(question)
        expect(page.get_by_test_id("stException")).to_have_count(0)
        before = page.url
        main(page).get_by_role("button", name=browser_texts.CONTROLS["headAfter"]).first.click()
        expect(page).not_to_have_url(before)


def test_the_example_can_be_looked_at_while_the_model_is_loaded_and_a_new_sentence_follows(browser: Browser, tmp_path: Path):
    port, go = free_port(), tmp_path / "go"
    _, _, _, *command = streamlit_command(port)
    url = f"http://127.0.0.1:{port}"
    server = [sys.executable, "-c", SERVER_WHOSE_MODEL_WAITS, str(go), *command]
    with running(server, f"{url}/_stcore/health", tmp_path / "log.txt"), browser.new_context() as visitor:
        page = visitor.new_page()
        page.goto(f"{url}/attention")
        early = page.locator("#early")
        expect(early.get_by_role("img", name=re.compile("^Heatmap.*“her”", re.DOTALL)).first).to_be_visible()
        expect(page.get_by_text(STILL_LOADING)).to_be_visible()
        early.get_by_label("Head", exact=True).select_option(index=0)
        expect(early.get_by_role("img", name=re.compile("^Heatmap.*Layer 2, head 1", re.DOTALL)).first).to_be_visible()
        linked(page, heads="2-1")
        assert json.loads(fetch(f"{url}/api/ready")[2]) == {"state": "warming up"}
        page.locator("#early .boxes input").fill(TYPED)
        go.touch()
        expect(picture(page, "^Heatmap.*“(two|birds|sang|[.])”")).to_be_visible()
        expect(page.get_by_text(STILL_LOADING)).to_have_count(0)
        wait_until(lambda: fetch(f"{url}/api/ready")[0] == 200, 30, "a ready server")
        expect(sentence(page)).to_have_value(TYPED)


def test_what_could_not_be_fetched_is_fetched_again(page_at):
    refused: list[str] = []

    def refuse_first(route: Route) -> None:
        kind = route.request.url.rpartition(".")[2]
        if refused.count(kind) < 3:
            refused.append(kind)
            route.abort()
        else:
            route.continue_()

    page = page_at(
        "/attention",
        expect=("Failed to load resource", "net::ERR_FAILED", "error loading dynamically imported"),
        prepare=lambda page: page.route(re.compile(r"/stage/.*\.(js|css)$"), refuse_first),
    )
    drawn(picture(page, "^Heatmap"))
    assert (refused.count("js"), refused.count("css")) == (3, 3)
