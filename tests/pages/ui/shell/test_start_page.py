"""The page that a browser gets first is Streamlit's own with a style and with scripts that exist."""

import re
import runpy
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit
from urllib.request import urlopen

import pytest

from pages.contents import FORMER_HOME, FORMER_HOME_PARAMETERS, HOME_PARAMETER, PAGES, page_address
from pages.ui.shell import start_page
from pages.ui.shell.address import LESSON, STEP
from pages.ui.stage.scripts import stage_files
from tests.pages.test_old_links import LINKS
from tests.pages.test_view_links import fields_of
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
        assert (status, body.decode()) == (200, start_page.start_page(tuple(stage_files(page.script)) if page.computes else ()))
        with urlopen(f"{server}/{page.key}?a=1&b=2", timeout=60) as reached:
            assert reached.url == f"{server}/{page_address(page)}?a=1&b=2"
        assert headers["cache-control"] == "no-cache"
    assert fetch(f"{server}/no-such-page")[2] == fetch(f"{server}/")[2]
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
