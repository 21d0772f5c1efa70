"""The page that a browser gets first is Streamlit's own with a style and with scripts that exist."""

import re
import runpy
import struct
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit
from urllib.request import urlopen

import pytest

from pages import contents
from pages.contents import FORMER_HOME, FORMER_HOME_PARAMETERS, HOME_PARAMETER, PAGES, page_address
from pages.ui.shell import start_page
from pages.ui.shell.address import LESSON, STEP
from pages.ui.shell.early_page import IMAGE_SIZE
from pages.ui.shell.level import COOKIE
from pages.ui.stage import first_picture
from pages.ui.stage.scripts import stage_files
from tests.pages.test_old_links import LINKS
from tests.pages.test_view_links import fields_of
from tests.support.early import read_told
from tests.support.serving import ROOT, WITHOUT_MODELS, fetch, serving

OLD_LINKS = [one["link"] for one in LINKS if urlsplit(one["link"]).path == "/" and HOME_PARAMETER not in one["address"]]
"""Those of the page that was at the root before Start."""


def test_what_every_page_needs_is_served_once_and_no_run_sends_it_again(server, open_app):
    for name, source in start_page.read_shell().items():
        status, headers, body = fetch(f"{server}/{start_page.SHELL.address(name)}")
        assert (status, body) == (200, source if isinstance(source, bytes) else source.encode())
        assert "immutable" in headers["cache-control"]
    follow = next(one.proto for one in open_app("attention").get("bidi_component") if one.proto.component_name == "navigation")
    assert len(follow.js_content) < 300


def test_every_address_of_a_page_has_it_and_any_other_streamlits(server):
    for page in PAGES:
        status, headers, body = fetch(f"{server}/{page_address(page)}")
        assert status == 200
        if page.key in first_picture.BOXES:
            assert f"<h1>{escape(page.question)}</h1>" in body.decode() and read_told(body.decode())["header"]["page"] == page.key
        else:
            plain = start_page.start_page(tuple(stage_files(page.script)) if page.computes else ())
            assert re.sub("(?<=<head>)(<meta property[^>]*>)+<meta[^>]*><meta[^>]*>", "", body.decode()) == plain
        with urlopen(f"{server}/{page.key}?a=1&b=2", timeout=60) as reached:
            assert reached.url == f"{server}/{page_address(page)}?a=1&b=2"
        assert headers["cache-control"] == "no-cache"
    assert b"<title>Streamlit</title>" in fetch(f"{server}/no-such-page")[2]
    for address in stage_files("attention"):
        assert fetch(f"{server}/{address}")[0] == 200
    assert fetch(f"{server}/_stcore/health")[2] == b"ok" and fetch(f"{server}/favicon.png")[1]["content-type"] == "image/png"


def test_the_fonts_have_every_icon_that_is_named_and_are_streamlits_under_its_names():
    built = (start_page.ASSETS / "fonts" / "icons.txt").read_text(encoding="utf-8").split()
    icon_names = runpy.run_path(str(start_page.ASSETS / "fonts" / "build.py"))["icon_names"]
    assert not icon_names() - set(built), "an icon is new: see assets/fonts/build.py"
    style = start_page.SHELL.files["streamlit.css"]
    assert style.count("url(icons.woff2)") == 1 and "MaterialSymbols" not in style and "url(../media" not in style
    assert re.search(r"font-family:Source Sans;font-weight:100 900;font-style:normal", style)


@pytest.mark.parametrize("link", [*OLD_LINKS, "/?lesson=path&step=4", "/?text=%0D%0ALocation%3A+x&text=2"])
def test_an_old_link_to_the_root_leads_to_the_page_that_was_there_with_all_its_parameters(server, link):
    with urlopen(f"{server}{link}", timeout=60) as answer:
        reached = urlsplit(answer.url)
        assert (reached.netloc, reached.path) == (urlsplit(server).netloc, f"/{FORMER_HOME}")
        assert parse_qsl(reached.query) == parse_qsl(urlsplit(link).query)


@pytest.mark.ci
def test_below_a_base_path_an_old_link_leads_to_the_page_below_it(tmp_path: Path):
    with (
        serving(ROOT, tmp_path / "log.txt", "--server.baseUrlPath", "lab/one", **WITHOUT_MODELS) as url,
        urlopen(f"{url}/?heads=1-1") as answer,
    ):
        assert answer.url == f"{url}/{FORMER_HOME}?heads=1-1"


def test_any_other_parameter_stays_at_the_root(server):
    with urlopen(f"{server}/?utm_source=mail", timeout=60) as answer:
        assert answer.url == f"{server}/?utm_source=mail"


def test_the_parameters_of_old_links_are_those_of_the_page_that_was_at_the_root():
    fields, _ = fields_of(FORMER_HOME)
    newer = {"compared"}
    assert {field.name for field in fields} - newer | {LESSON, STEP} == FORMER_HOME_PARAMETERS


HOSTILE = """"><script>alert(1)</script></title><img src=x onerror=alert(2)>' [MASK] </template> <!-- ${x}"""


class Tags(HTMLParser):
    """Notes the elements of a page, and what stands in its boxes and in what a chat shows of it."""

    def __init__(self, page: str):
        super().__init__()
        self.names: list[str] = []
        self.written: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.written += [value for name, value in attributes if name in ("value", "content") and value]


@pytest.mark.parametrize("address", ["", "attention", "compare", "vectors"])
def test_what_a_link_says_stands_in_the_page_as_text_alone(server, address: str):
    page = fetch(f"{server}/{address}?{urlencode({'text': HOSTILE, 'text_b': HOSTILE, 'level': 'basic'})}")[2].decode()
    found, plain = Tags(page), Tags(fetch(f"{server}/{address}?text=A+cat.&text_b=A+dog.&level=basic")[2].decode())
    assert found.names == plain.names
    assert sum(HOSTILE in one for one in found.written) == {"": 3, "vectors": 2}.get(address, 3 + (address == "compare"))
    assert "alert(1)</script>" not in page


def test_a_pasted_link_shows_question_sentence_and_an_image_that_is_there(server):
    pages = {"attention": "Birds sing.", "vectors": "Birds sing.", "masks": ""}
    for key, sentence in pages.items():
        page = fetch(f"{server}/{key}{f'?text={sentence.replace(chr(32), chr(43))}' if sentence else ''}")[2].decode()
        told = dict(re.findall(r'<meta property="og:(\w+)" content="([^"]*)">', page))
        about = contents.page(key)
        assert (unescape(told["title"]), unescape(told["description"])) == (about.question, sentence or about.lead)
        status, headers, image = fetch(told["image"])
        assert (status, headers["content-type"]) == (200, "image/png")
        assert struct.unpack(">II", image[16:24]) == IMAGE_SIZE


def test_a_lesson_a_class_and_what_is_shown_to_a_room_begin_in_their_own_way(server):
    for query in ("lesson=path&step=1", "room=ABCDEF", "lead=x", "present=1"):
        assert "early-told" not in fetch(f"{server}/attention?{query}")[2].decode()
    assert 'class="framed"' in fetch(f"{server}/attention?embed=true")[2].decode()


def test_the_level_of_the_last_visit_is_that_of_the_first_picture(server):
    status, headers, body = fetch(f"{server}/", cookie=f"{COOKIE}=advanced")
    assert (status, headers["vary"]) == (200, "Cookie, Accept-Encoding")
    assert read_told(body.decode())["header"]["level"] == "advanced"
