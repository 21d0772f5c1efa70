"""The connection of a page in a browser to its server, which a test can hold back."""

import re

from playwright.sync_api import Page, WebSocketRoute


class Line:
    """While it is held, as a list, what the page tells is kept in that list; the page is loaded anew at the beginning."""

    def __init__(self, page: Page):
        self.held: list[str | bytes] | None = None
        page.route_web_socket(re.compile("_stcore/stream"), self._connect)
        page.reload()

    def _connect(self, browser: WebSocketRoute) -> None:
        self.server = browser.connect_to_server()
        browser.on_message(lambda message: self.server.send(message) if self.held is None else self.held.append(message))

    def release_one(self) -> None:
        """Let the server hear of what the page told first."""
        self.server.send(self.held.pop(0))

    def release(self) -> None:
        """Let the server hear of everything, from now on at once."""
        kept, self.held = self.held, None
        for message in kept or []:
            self.server.send(message)
