"""The app in a frame of another site, as in Moodle or on the page of a Space: where the host allows it, and nowhere else."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from tests.support.serving import ROOT, serving

MAP = "[data-testid=stage][data-paints]"
SLOW = 60_000


class SilentHandler(SimpleHTTPRequestHandler):
    """Serves a folder without a line for each request."""

    def log_message(self, *_arguments: object) -> None:
        """Write nothing."""


@contextmanager
def site(folder: Path) -> Iterator[str]:
    """Serve a folder as another site than the app's: by the name localhost, while the app is at 127.0.0.1."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SilentHandler, directory=folder)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def school_and_stranger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, str]]:
    """The address of a site that the app allows to frame it, that of one that it does not, and the app's own."""
    folder = tmp_path_factory.mktemp("sites")
    with site(folder) as school, site(folder) as stranger:
        variables = {"TX_FRAME_ANCESTORS": f"'self' {school}", "STREAMLIT_SERVER_XSRF_COOKIE_SAME_SITE": "none"}
        with serving(ROOT, folder / "log.txt", **variables) as app:
            for page in ("attention", "bertviz", "classifier?data=own"):
                frame = f'<iframe src="{app}/{page}" width="1200" height="850"></iframe>'
                name = page.partition("?")[0]
                (folder / f"{name}.html").write_text(f"<!doctype html><title>Course</title>{frame}", encoding="utf-8")
            yield school, stranger, app


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A tab of a visitor who was never here."""
    page = browser.new_page()
    yield page
    page.close()


def framed(page: Page, address: str) -> FrameLocator:
    """Open another site's page, and return the frame in it."""
    page.goto(address)
    return page.frame_locator("iframe").first


def test_an_allowed_site_shows_the_app_and_the_documents_that_it_frames_itself(page: Page, school_and_stranger):
    school, _, _ = school_and_stranger
    expect(framed(page, f"{school}/attention.html").locator(MAP)).to_be_visible(timeout=SLOW)
    bertviz = framed(page, f"{school}/bertviz.html").frame_locator("[data-testid=framed]")
    expect(bertviz.locator("svg").first).to_be_visible(timeout=SLOW)


def test_a_file_is_uploaded_within_the_frame(page: Page, school_and_stranger):
    school, _, _ = school_and_stranger
    rows = "".join(f"{word} day {place},{word}\n" for place in range(12) for word in ("sunny", "rainy"))
    frame = framed(page, f"{school}/classifier.html")
    with page.expect_response(
        lambda answer: "upload_file" in answer.url and answer.request.method == "PUT", timeout=SLOW
    ) as sent:
        frame.locator("input[type=file]").set_input_files(
            {"name": "mine.csv", "mimeType": "text/csv", "buffer": b"text,label\n" + rows.encode()}, timeout=SLOW
        )
    assert sent.value.status == 204
    expect(frame.get_by_test_id("stage-said")).to_contain_text("Untrained", timeout=SLOW)


def test_another_site_shows_nothing_of_it(page: Page, school_and_stranger):
    _, stranger, app = school_and_stranger
    with page.expect_console_message(lambda message: "frame-ancestors" in message.text):
        page.goto(f"{stranger}/attention.html")
    assert not [frame for frame in page.frames if frame.url.startswith(app)]
