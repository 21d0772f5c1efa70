"""Documents of others' making, each in a frame of its own: served under a word that nobody can guess, for a few minutes.

What is served here runs scripts that are not ours. Its own content policy shuts it off: no access to the app, to
other frames, or to any server; nothing within runs but the scripts that carry the document's nonce.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from cachetools import TTLCache
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from pages.ui.canvas import texts
from pages.ui.canvas.component import component, component_value, value_timestamp
from tx_core.settings import host_settings

PATH = "framed"
SECONDS = 120.0
"""A frame fetches its document at once; a page that runs later publishes it again."""
MAX_DOCUMENT_BYTES = 96_000_000


@dataclass(frozen=True)
class Document:
    """A whole HTML page; only its scripts with this nonce run."""

    html: str
    nonce: str

    @property
    def policy(self) -> str:
        """Allow nothing but the document's own scripts and styles.

        A browser asks for every page around the document: where the app itself is in a frame, the page around that one, too.
        """
        return "; ".join(
            [
                "sandbox allow-scripts",
                "default-src 'none'",
                f"script-src 'nonce-{self.nonce}'",
                "style-src 'unsafe-inline'",
                "base-uri 'none'",
                "form-action 'none'",
                f"frame-ancestors 'self' {host_settings().frame_ancestors}",
            ]
        )


_documents: TTLCache[str, Document] = TTLCache(MAX_DOCUMENT_BYTES, SECONDS, getsizeof=lambda document: len(document.html))
_guard = Lock()


def publish(document: Document, word: str | None = None) -> str:
    """Publish a document for a few minutes; return the word under which it is served: a new one, or `word`.

    Raises ValueError for one larger than all documents together may be.
    """
    word = word or secrets.token_urlsafe(32)
    with _guard:
        _documents[word] = document
    return word


def is_published(word: str) -> bool:
    """Return whether a document is still served under a word."""
    with _guard:
        return word in _documents


async def answer(request: Request) -> Response:
    """Serve a document by its word, never from a cache; 404 for any word that is not, or no longer, one."""
    with _guard:
        document = _documents.get(request.path_params["word"])
    if document is None:
        return Response(texts.DOCUMENT_GONE, 404, {"Cache-Control": "no-store"}, "text/plain")
    return HTMLResponse(
        document.html,
        headers={
            "Content-Security-Policy": document.policy,
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
        },
    )


ROUTE = Route(f"/{PATH}/{{word}}", answer)


def show_framed(word: str, title: str, *, key: str, choice: str, dark: bool, on_choose: Callable[[], None]) -> None:
    """Show a published document, as tall as it asks to be; `title` says what it is to those who cannot see it.

    choice: a line that the document reads from the name of its frame. When it sends another one, `on_choose` runs,
    and `framed_choice(key)` gives it. The document stays as it stands then; a choice from elsewhere loads it again.
    dark: whether the document is for a dark page; the page runs again when it changes to another theme.
    """
    show = component("framed", "framed", "framed/frame.js", "framed/frame.css", height=322)
    data = {
        "address": f"{PATH}/{word}",
        "title": title,
        "choice": choice,
        "timestamp": value_timestamp(key, "choice"),
        "dark": dark,
    }
    show(key=key, data=data, on_choice_change=on_choose, on_theme_change=lambda: None)


def framed_choice(key: str) -> object:
    """Return what the document of a frame sent last, unchecked: it runs scripts of others."""
    return component_value(key, "choice")
