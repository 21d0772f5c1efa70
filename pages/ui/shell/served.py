"""Files that a browser keeps forever: each is served below a hash of all files of its set, so its content never changes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

IMMUTABLE = "public, max-age=31536000, immutable"
GONE = "There is no such script: load the page again."
KINDS = {
    ".bin": "application/octet-stream",
    ".css": "text/css",
    ".js": "text/javascript",
    ".png": "image/png",
    ".woff2": "font/woff2",
}


@dataclass(frozen=True)
class ServedFiles:
    """A set of files. path: relative to that of the app: all pages lie right below it. read: returns them by name, once."""

    path: str
    read: Callable[[], Mapping[str, str | bytes]]

    @cached_property
    def files(self) -> Mapping[str, str | bytes]:
        """The files by their names."""
        return self.read()

    @cached_property
    def version(self) -> str:
        """A hash of the names and contents of all files."""
        return sha256(repr(dict(self.files)).encode()).hexdigest()[:32]

    def address(self, name: str = "") -> str:
        """Return the address of a file, or of them all, relative to that of any page."""
        return f"{self.path}/{self.version}/{name}"

    async def answer(self, request: Request) -> Response:
        """Serve a file of this version; a suffix such as "-1" of the version marks a repeated request."""
        asked, _, _ = request.path_params["version"].partition("-")
        name = request.path_params["name"]
        if asked != self.version or name not in self.files:
            return Response(GONE, 404, {"Cache-Control": "no-store"}, "text/plain")
        return Response(self.files[name], 200, {"Cache-Control": IMMUTABLE}, KINDS[Path(name).suffix])

    @property
    def route(self) -> Route:
        """The route that serves them."""
        return Route(f"/{self.path}/{{version}}/{{name:path}}", self.answer)
