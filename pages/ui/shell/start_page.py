"""The page that a browser gets first, before a script has run: Streamlit's own, with what keeps the layout from shifting.

It lets the browser fetch, once Streamlit's first scripts are there, what every page needs, fonts with what our pages write among
them, and what draws the stage of the page; and it tells Streamlit's scripts where their server is. To name the scripts of
Streamlit's elements, too, brings neither title nor map earlier (200 kB/s, 150 ms, a fourth of the speed: tried).
"""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from urllib.parse import urljoin

import streamlit as st
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from pages import contents
from pages.contents import FORMER_HOME, FORMER_HOME_PARAMETERS, HOME, HOME_PARAMETER, PAGES, Page, page_address
from pages.ui.shell.address import FOR_CLASS, LEAD, LESSON, LOCK, PRESENT, ROOM, STEP, TICKET
from pages.ui.shell.early_page import BEGIN_SCRIPT, EarlyView, early_style, preview, write_early_page
from pages.ui.shell.level import COOKIE
from pages.ui.shell.served import ServedFiles
from tx_core.settings import ASSETS, host_settings

SIDEBAR_WIDTH = 236  # pixels; the pictures need the rest
INDEX_PAGE = Path(st.__file__).parent / "static" / "index.html"
EARLY_FILES = ("early.js",)
"""Of the shell, what only a page that begins with its own picture needs."""
SCRIPTS = ("shell/navigation.js", "shell/page_list.js", "shell/present.js", "shell/drawing.js", "shell/early.js")
SHELL_FILES = ("page.css", "fonts/text.woff2", "fonts/icons.woff2", *SCRIPTS)
"""Below `assets`: the style of every page and its fonts, how links and keys behave, how it is shown to a room, and what fetches
drawings."""
STREAMLITS_FONT = re.compile(r'<link\s+rel="preload"[^>]*as="font"[^>]*>')
STREAMLITS_STYLE = re.compile(r"static/css/index\.[^\"]*")
STREAMLITS_FETCHES = re.compile(r'<script type="module"[^>]*></script>|<link\s+rel="(?:modulepreload|stylesheet)"[^>]*>')
STREAMLITS_ICONS = re.compile(r"url\([^)]*/MaterialSymbols[^)]*\)")
INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
SERVER_ADDRESS = '<script>window.__streamlit = { BACKEND_BASE_URL: new URL(".", location.href).href }</script>'
"""Below /attention Streamlit's scripts would look for their server at /attention/ first, get 404 twice, and wait for 0.1 s."""


NOT_DRAWN = '[data-testid="stSkeleton"], [data-testid="stBidiComponentIsolated"]:not([data-mounted])'
UNKNOWN_HEIGHT = f".st-key-page div:has({NOT_DRAWN})"
UNSETTLED_STYLE = f"{UNKNOWN_HEIGHT} ~ *, {UNKNOWN_HEIGHT} ~ * * {{ visibility: hidden !important; }}"
"""What stands below a box of a height that is not known yet is not shown before it is: a page appears from its top, and nothing
that a reader sees moves. assets/shell says when it has settled, and takes this style away, for which a browser would look at all
siblings of all parents of whatever changes."""


def read_shell() -> dict[str, str | bytes]:
    """Return the files of the shell by their names, with Streamlit's style, which has the icons of our pages alone."""
    files = [ASSETS / name for name in SHELL_FILES]
    read = {file.name: file.read_bytes() if file.suffix == ".woff2" else file.read_text("utf-8") for file in files}
    (style,) = (INDEX_PAGE.parent / "static" / "css").glob("index.*.css")
    with_our_icons = STREAMLITS_ICONS.sub("url(icons.woff2)", style.read_text("utf-8"))
    return {"streamlit.css": with_our_icons.replace("url(../media/", "url(../../static/media/")} | read


SHELL = ServedFiles("shell", read_shell)
NAVIGATION_SCRIPT = f"""const shell = import(new URL("{SHELL.address("navigation.js")}", document.baseURI).href);
export default (element) => void shell.then((navigation) => navigation.default(element));
"""
"""The script of the component that tells the browser of each run, and hears of it: the start page has fetched what it imports."""


def without_search(data: object) -> list[object]:
    """Wrap a component's data in a list of one.

    In a mapping Streamlit looks for data frames, for which it imports pandas: 0.8 s before the first page has its title.
    """
    return [data]


def content_policy() -> str:
    """Allow this server's own files and the inline scripts of its start page, nothing from elsewhere.

    blob: is where Streamlit mounts the script of a component from; inline styles are how it styles.
    """
    scripts = [*INLINE_SCRIPT.findall(start_page()), BEGIN_SCRIPT]
    digests = [hashlib.sha256(script.encode()).digest() for script in scripts]
    hashes = "".join(f" 'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return "; ".join(
        [
            "default-src 'self'",
            f"script-src 'self' blob:{hashes}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "worker-src 'self' blob:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            f"frame-ancestors {host_settings().frame_ancestors}",
        ]
    )


@cache
def start_page(stage_files: tuple[str, ...] = ()) -> str:
    """Write the start page: Streamlit's, with the server's address, our scripts and styles, and the files of the page's stage."""
    index, links, style = _framework(stage_files)
    head = f"<style id='unsettled'>{UNSETTLED_STYLE}</style>{SERVER_ADDRESS}{links}"
    return index.replace("</head>", f"{head}</head>", 1).replace("</body>", f"{style}</body>", 1)


def _framework(stage_files: Sequence[str]) -> tuple[str, str, str]:
    """Return Streamlit's index page, the links to what every page and its stage need, and that to our style."""
    index = STREAMLITS_FONT.sub("", INDEX_PAGE.read_text(encoding="utf-8"))
    index = STREAMLITS_STYLE.sub(SHELL.address("streamlit.css"), index)
    ours = [SHELL.address(name) for name in SHELL.files if not name.endswith(".css") and name not in EARLY_FILES]
    # In the body: of two equal rules, ours wins.
    style = f'<link rel="stylesheet" href="./{SHELL.address("page.css")}">'
    return index, "".join(map(_link, [*ours, *stage_files])), style


@cache
def _framework_template() -> str:
    """Return what Streamlit's index page fetches, and what every page needs, for a page that begins with its own picture.

    The browser does nothing with it before assets/shell/early.js adds it to the page.
    """
    index, links, style = _framework(())
    fetched = STREAMLITS_FETCHES.findall(index)
    return f"{''.join(fetched)}{links}{style}"


def early_start_page(page: Page, view: EarlyView, link: str, pasted: str) -> str:
    """Write the start page of a page that has a picture before Streamlit's scripts are there.

    link: what was asked for, relative to the app. pasted: what a chat shows of it.
    """
    files = [SHELL.address("drawing.js"), *(f"{view.address}/{name}" for name in view.modules), SHELL.address("early.js")]
    links = "".join(f'<link rel="modulepreload" fetchpriority="high" href="./{address}">' for address in files)
    links += f'<link rel="preload" as="fetch" crossorigin fetchpriority="high" href="./{view.address}/stage.css">'
    links += f'<link rel="preload" as="font" crossorigin href="./{SHELL.address("text.woff2")}">'
    style = f"<style id='unsettled'>{UNSETTLED_STYLE}</style><style>{early_style(SHELL.address('text.woff2'))}</style>"
    return write_early_page(
        page,
        view,
        head=f"{pasted}{SERVER_ADDRESS}{links}{style}",
        framework=_framework_template(),
        script=SHELL.address("early.js"),
        link=link,
        image=_image(page),
    )


def _link(address: str) -> str:
    """Have the browser fetch a file after the scripts that Streamlit begins with."""
    kind = {".js": "modulepreload", ".woff2": 'preload" as="font" crossorigin="', ".css": 'preload" as="fetch" crossorigin="'}
    return f'<link rel="{kind[Path(address).suffix]}" fetchpriority="low" href="./{address}">'


PREVIEW_FILES = ASSETS / "shell" / "previews"
PREVIEWS = ServedFiles("preview", lambda: {image.name: image.read_bytes() for image in PREVIEW_FILES.glob("*.png")})
"""Images of pages for whoever gets a link to one; `python -m tests.bench.early_pages` makes them."""


def _image(page: Page) -> str:
    """Return the address of the image of a page, or of the first page for one that has none."""
    name = f"{page.key}.png"
    return PREVIEWS.address(name if name in PREVIEWS.files else f"{HOME}.png")


WITHOUT_PICTURE = frozenset((LESSON, STEP, LOCK, PRESENT, ROOM, LEAD, FOR_CLASS, TICKET, "embed_options"))
"""Parameters of what keeps its own way to begin: a lesson, a class, a frame with other colours, what is shown to a room."""


class WordInPath(Convertor[str]):
    """What no file and no address of Streamlit's own is called in a path."""

    regex = "[^/._][^/.]*"

    def convert(self, value: str) -> str:
        """Return it as it is."""
        return value

    to_string = convert


register_url_convertor("word", WordInPath())


def routes(
    stage_files: Callable[[str], Sequence[str]],
    early_view: Callable[[Page, Mapping[str, str], str], EarlyView | None] = lambda *_: None,
) -> list[Route]:
    """Return every address of a page, every key, and any other word.

    stage_files: of a stage, by the name of its script. early_view: what a page shows before Streamlit's scripts are there, by its
    parameters and the remembered level; None for what has to wait for them.
    """

    async def answer(asked: Page, request: Request) -> Response:
        """Serve the start page, or redirect an old link to the page that used to be at the root."""
        names = request.query_params.keys()
        if request.url.path.endswith("/") and FORMER_HOME_PARAMETERS & names and HOME_PARAMETER not in names:
            return await _redirect(request, FORMER_HOME)
        query, view = dict(request.query_params), None
        sentence = " / ".join(query[name] for name in ("text", asked.second, "text_b") if query.get(name))
        pasted = preview(asked, sentence, urljoin(str(request.url), _image(asked)))
        if not names & WITHOUT_PICTURE and not request.path_params:
            view = early_view(asked, query, request.cookies.get(COOKIE, ""))
        if view:
            link = f"./{page_address(asked)}?{request.url.query}" if request.url.query else f"./{page_address(asked)}"
            written = early_start_page(asked, view, link, pasted)
        else:
            written = start_page(tuple(stage_files(asked.script)) if asked.computes else ()).replace(
                "<head>", f"<head>{pasted}", 1
            )
        # A browser asks anew at each visit; what it gets follows the level that it remembers.
        return HTMLResponse(written, headers={"Cache-Control": "no-cache", "Vary": "Cookie"})

    moved = [page for page in PAGES if page_address(page) != page.key]
    return [
        *(Route(f"/{page_address(page)}", partial(answer, page)) for page in PAGES),
        *(Route(f"/{page.key}", partial(_redirect, address=page_address(page))) for page in moved),
        Route("/{unknown:word}", partial(answer, contents.page(HOME))),
    ]


async def _redirect(request: Request, address: str) -> Response:
    """Redirect a link to another page, with its parameters."""
    query = f"?{request.url.query}" if request.url.query else ""
    path = request.url.path.rpartition("/")[0]
    return RedirectResponse(f"{path}/{address}{query}", 307, {"Cache-Control": "no-cache"})
