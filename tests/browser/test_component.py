"""The scripts of our drawings reach the browser: below a path of the host's own, and after a fetch that failed."""

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.support.serving import ROOT, wait_until

MAP = "[data-testid=attention-map][data-paints]"


def test_below_a_path_of_its_own_the_app_draws_and_finds_its_server_at_once(browser: Browser, start_server):
    with start_server(ROOT, "--server.baseUrlPath", "explorer") as url:
        page, asked = browser.new_page(), []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{url}/attention?heads=1-2")
        page.locator(MAP).wait_for(timeout=60_000)
        assert [one for one in asked if one.endswith("/_stcore/health")] == [f"{url}/_stcore/health"]
        wait_until(lambda: page.request.get(f"{url}/api/ready").ok, 120, "the default model's first answer")
        page.goto(f"{url}/bertviz")
        expect(page.frame_locator("[data-testid=framed]").locator("svg").first).to_be_visible(timeout=60_000)
        page.close()


@pytest.mark.parametrize("files", ["*.js", "*.css"])
def test_what_could_not_be_fetched_is_fetched_again(browser: Browser, server: str, files: str):
    page, refused = browser.new_page(), []

    def refuse_first(route: Route) -> None:
        if len(refused) < 4:
            refused.append(route.request.url)
            route.abort()
        else:
            route.continue_()

    page.route(f"**/modules/**/{files}", refuse_first)
    page.goto(f"{server}/attention")
    page.locator(MAP).wait_for(timeout=60_000)
    assert len(refused) == 4
    assert page.locator(MAP).evaluate("(map) => map.getRootNode().adoptedStyleSheets[0].cssRules.length") > 20
    page.close()
