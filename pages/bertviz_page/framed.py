"""Documents of others' making, each in a frame of its own: served under a word that nobody can guess, for a while.

Its content policy shuts a document off from the app, other frames and any server; only scripts with its nonce run.
"""

import hmac
import secrets
from dataclasses import dataclass
from threading import Lock

from cachetools import TTLCache
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from tx_core.settings import host_settings

PATH = "framed"
DOCUMENT_GONE = "This drawing was kept for a while only: change something on the page, or load it again."
SECONDS = 1800.0
"""A frame fetches its document at once, and again for a file; a page that runs later publishes it again."""
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
_SECRET = secrets.token_bytes(32)


def secret_word(*identity: object) -> str:
    """Return the word of a document by what it shows: the same each time, and one that nobody else can make."""
    return hmac.digest(_SECRET, repr(identity).encode(), "sha256").hex()


def publish(word: str, document: Document) -> None:
    """Publish a document for a while; raise ValueError for one larger than all documents together may be."""
    with _guard:
        _documents[word] = document


def is_published(word: str) -> bool:
    """Return whether a document is still served under a word."""
    with _guard:
        return word in _documents


async def answer(request: Request) -> Response:
    """Serve a document by its word, never from a cache; 404 for any word that is not, or no longer, one."""
    with _guard:
        document = _documents.get(request.path_params["word"])
    if document is None:
        return Response(DOCUMENT_GONE, 404, {"Cache-Control": "no-store"}, "text/plain")
    return HTMLResponse(
        document.html,
        headers={
            "Content-Security-Policy": document.policy,
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
        },
    )


ROUTE = Route(f"/{PATH}/{{word}}", answer)
