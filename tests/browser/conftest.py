"""A real browser on the real app: every page that a test opens is watched for errors and for calls to elsewhere."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

COMMANDS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
)
USUAL_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--process-per-site",  # what one page has compiled, the next need not
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A page lives for seconds here: what threads compile or collect for later, or make faster for hours of use, is work for
    # nothing; what one page has compiled, the next needs again. An opening takes 1.25 s of processor instead of 1.50.
    "--js-flags=--single-threaded --no-opt --no-maglev --no-flush-bytecode --no-script-streaming"
    " --min-semi-space-size=32 --max-semi-space-size=64",
)
AXE_RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]},
    "resultTypes": ["violations"],  # of what a page does right it need not list every place
    "preload": False,  # style sheets, which only a rule reads that is not asked for
}

expect.set_options(timeout=60_000)  # of Playwright five seconds, which a busy machine outlasts

DARK = "rgb(16, 21, 27)"
"""The ground of the app in the dark, as .streamlit/config.toml names it."""
FADED = """() => Promise.race([
  Promise.allSettled(document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished)),
  new Promise((done) => setTimeout(done, 3000)),
]).then(() => null)"""
"""Waits until every colour that is changing has changed; not for what does not move, as in a tab that is not shown."""
IN_PLACE = """async () => {
  const [main, list] = ['stMain', 'stSidebar'].map((name) => document.querySelector(`[data-testid=${name}]`))
  const size = () => [main.scrollWidth, main.scrollHeight, list?.getBoundingClientRect().right].join()
  for (let before = size(), since = performance.now(); performance.now() - since < 250; ) {
    await new Promise((waited) => setTimeout(waited, 50))
    if (size() !== before) [before, since] = [size(), performance.now()]
  }
}"""
"""Waits until the page and the list of pages have kept their size for a while."""


def find_browser() -> str | None:
    """Find an installed Chrome or Chromium: CHROME_PATH, then the search path, then the usual places."""
    named = os.environ.get("CHROME_PATH")
    found = [path for command in COMMANDS if (path := shutil.which(command))]
    return next((path for path in [named, *found, *USUAL_PLACES] if path and Path(path).exists()), None)


@dataclass
class Watch:
    """What went wrong in one browser page, noted as it happens; `expect` names texts of errors that a test provokes."""

    server: str
    faults: list[str] = field(default_factory=list)
    expect: list[str] = field(default_factory=list)

    def follow(self, page: Page) -> None:
        page.on("console", self.read)
        page.on("pageerror", lambda error: self.note("page error", str(error)))
        page.on("dialog", lambda dialog: (self.note("dialog", dialog.message), dialog.dismiss()))
        page.on("request", lambda request: self.ours(request.url) or self.note("request elsewhere", request.url))
        page.on("websocket", lambda socket: self.ours(socket.url) or self.note("socket elsewhere", socket.url))

    def read(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.note("console", message.text)

    def note(self, kind: str, text: str) -> None:
        if not any(part in text for part in self.expect):
            self.faults.append(f"{kind}: {text}")

    def ours(self, url: str) -> bool:
        address = self.server.removeprefix("http")
        return url.startswith((f"http{address}/", f"ws{address}/", "data:", f"blob:http{address}/", "about:"))


@pytest.fixture(scope="session")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """A browser profile on disk of the installed Chrome or Chromium, in which scripts stay compiled from page to page.

    Without a browser, its tests fail in CI and are skipped on a person's machine.
    """
    path = find_browser()
    if path is None:
        missing = "no Chrome or Chromium found: install one or name it in CHROME_PATH"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        folder = tmp_path_factory.mktemp("profile")
        profile = playwright.chromium.launch_persistent_context(folder, executable_path=path, args=list(QUIET))
        keep_process(profile)
        yield profile
        profile.close()


def keep_process(context: BrowserContext) -> None:
    """Leave a first tab open on this machine, so that the process in which its pages run stays, with all that it has compiled."""
    tab = context.pages[0] if context.pages else context.new_page()
    tab.route("http://127.0.0.1/", lambda route: route.fulfill(body=""))
    tab.goto("http://127.0.0.1/")


@pytest.fixture(scope="session")
def browser(profile: BrowserContext) -> Browser:
    """The browser of that profile, for tests that want one that has never been here."""
    assert profile.browser
    return profile.browser


@pytest.fixture(scope="session")
def visitors(profile: BrowserContext) -> list[BrowserContext]:
    """Visitors' browser profiles, one for each page that a test has open at once.

    They outlive a test with their cached scripts, so that only the first page of each waits for all of Streamlit.
    """
    return [profile]


SHOWN = """() => {
  const [title, list] = ['h1', '[data-testid=stSidebar]'].map((one) => document.querySelector(one))
  const finished = document.querySelector('[data-testid=stApp][data-test-script-state=notRunning]')
  const settled = 'settled' in document.documentElement.dataset
  return title?.checkVisibility() && finished && (!list || (settled && list.querySelector('a')))
}"""
"""Whether a page has its title and its script has finished; and whether the app, unlike a small one of a test, has the links of
its list of pages, which the browser draws last, and shows all that it holds back until its first scripts are there."""


NOTE_ANSWERS = """
  window.WebSocket = class extends WebSocket {
    constructor(...address) {
      super(...address)
      this.addEventListener("message", () => { window.heard = performance.now() })
    }
    send(message) {
      window.told = performance.now()
      super.send(message)
    }
  }
"""
"""Notes when a page last told its server of something, and when it last heard from it."""
HEARD = "() => !window.told || window.heard >= window.told"
SILENT = "() => performance.now() - Math.max(window.told ?? 0, window.heard ?? 0) > 600"
"""Whether a page and its server have had nothing to say for a while: what would be sent is sent by then."""


@pytest.fixture
def page_at(browser: Browser, visitors: list[BrowserContext], server: str) -> Iterator[Callable[..., Page]]:
    """Open a path of the app as a new visitor: page_at("/attention?text=hi", width=390, dark=True, expect=[…]).

    prepare: is given the page before anything of the app is loaded.
    The page is settled: its title is there, its script has finished, and nothing of it is held back any more.
    When the test ends, every page must have been free of console errors, dialogs and requests to other origins.
    """
    watches: list[Watch] = []

    def open_page(
        path: str = "/",
        width: int = 1280,
        dark: bool = False,
        expect: tuple[str, ...] = (),
        prepare: Callable[[Page], object] = lambda page: None,
    ) -> Page:
        if len(watches) == len(visitors):
            visitors.append(browser.new_context())
            keep_process(visitors[-1])
        page, watch = visitors[len(watches)].new_page(), Watch(server, expect=list(expect))
        watches.append(watch)
        load(page, watch, path, width, dark, prepare)
        return page

    yield open_page
    for page in [page for visitor in visitors for page in visitor.pages[1:]]:
        page.close()
    faults = [fault for watch in watches for fault in watch.faults]
    assert not faults, "\n".join(faults)


def load(page: Page, watch: Watch, path: str, width: int, dark: bool, prepare: Callable[[Page], object]) -> None:
    """Load a path of the app in a new tab, as a new visitor, and wait until it is settled."""
    forget(page, watch.server)
    page.set_viewport_size({"width": width, "height": 900})
    # Frames that only lead from one state to the next are a tenth of an opening's work.
    page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
    watch.follow(page)
    page.add_init_script(NOTE_ANSWERS)
    prepare(page)
    page.goto(watch.server + path)
    page.wait_for_function(SHOWN, timeout=60_000)


def forget(page: Page, origin: str) -> None:
    """Leave nothing of earlier visits but cached scripts: no cookies and nothing that a page stored."""
    page.context.clear_cookies()
    browser = page.context.new_cdp_session(page)
    browser.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "local_storage,indexeddb,cache_storage"})
    browser.detach()


def wait_for_script(page: Page) -> None:
    """Wait until Streamlit has run the page's script and the browser has drawn what it sent."""
    page.locator("[data-testid='stApp'][data-test-script-state='notRunning']").wait_for(state="attached", timeout=60_000)


GO_BY_HISTORY = """address => {
  const app = document.querySelector('[data-testid=stApp]')
  const isIdle = () => app.dataset.testScriptState === 'notRunning'
  const before = document.title
  history.pushState({}, '', address)
  return new Promise((done) => {
    let begun = false
    const look = (changes = []) => {
      begun ||= changes.length > 0 || !isIdle() || document.title !== before
      if (!begun || !isIdle()) return
      clearInterval(looking)
      done(null)
    }
    const looking = setInterval(look, 50) // a run may be over before its state is drawn: another page has another title
    new MutationObserver(look).observe(app, { attributeFilter: ['data-test-script-state'] })
    dispatchEvent(new PopStateEvent('popstate'))
    look()
    setTimeout(() => { begun = true; look() }, 5000) // a run of the same page that was over before it was seen
  })
}"""


def go_by_history(page: Page, address: str) -> None:
    """Lead an open app to another view as Back and Forward do, and wait until its script has run: a third of a load's work."""
    page.evaluate(GO_BY_HISTORY, address)


TO_THE_TOP = """() => {
  document.body.tabIndex = -1
  document.body.focus()
  document.body.removeAttribute("tabindex")
}"""
"""Makes Tab begin anew at the first control."""


@pytest.fixture
def darken() -> Callable[[Page], None]:
    """Turn an open page dark, as a device does in the evening, and wait until nothing fades any more: darken(page)."""

    def turn(page: Page) -> None:
        page.emulate_media(color_scheme="dark")
        expect(page.get_by_test_id("stApp")).to_have_css("background-color", DARK)
        wait_for_script(page)
        page.evaluate(FADED)

    return turn


@pytest.fixture
def resize() -> Callable[[Page, int], None]:
    """Resize an open page, and wait until everything has its place in it: resize(page, 390)."""

    def change(page: Page, width: int) -> None:
        page.set_viewport_size({"width": width, "height": 900})
        wait_for_script(page)
        page.evaluate(IN_PLACE)

    return change


@pytest.fixture
def axe() -> Callable[[Page], None]:
    """Assert that axe-core finds nothing against WCAG 2 A and AA on the page as it stands: axe(page)."""

    def check(page: Page) -> None:
        expect(page.locator("[data-stale='true']")).to_have_count(0)  # pale, and about to be drawn anew
        page.evaluate(FADED)
        if not page.evaluate("'axe' in window"):
            page.evaluate(Axe().axe_script)  # a fourth of the work: once for all looks at a document
        violations = page.evaluate("async (rules) => (await axe.run(rules)).violations", AXE_RULES)
        lines = [
            f"{violation['id']} ({violation['impact']}): {violation['help']}\n    {node['html'][:200]}\n"
            f"    {' '.join(node['failureSummary'].split())}"
            for violation in violations
            for node in violation["nodes"]
        ]
        assert not lines, "\n".join(lines)

    return check
