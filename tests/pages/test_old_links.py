"""Links that were given away before the files were moved: each still brings back the view that it brought back then."""

import json
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest

from pages.contents import FORMER_HOME, HOME, HOME_PARAMETER, PAGES
from pages.ui.shell.level import HIDDEN
from tests.support.serving import ROOT

LINKS = json.loads((ROOT / "tests" / "pages" / "old_links.json").read_text("utf-8"))
"""Each with the address that the page gave its view, which says all that the controls held; page: where another shows it now."""
KEYS = {page.address or page.key: page.key for page in PAGES}


def page_of(link: str) -> str:
    """The page that a link leads to, by its address or by its key; from the root, the one that was there."""
    parts = urlsplit(link)
    name = HOME if HOME_PARAMETER in parse_qs(parts.query) else parts.path.strip("/")
    return KEYS.get(name, name) or FORMER_HOME


@pytest.mark.parametrize("old", LINKS, ids=[one["link"] for one in LINKS])
def test_an_old_link_brings_back_its_view(open_app, old: dict[str, Any]):
    app = open_app(page_of(old["link"]), **dict(parse_qsl(urlsplit(old["link"]).query)))
    assert not app.exception
    view = app.session_state[f"{old.get('page') or page_of(old['link'])}_view"]
    assert (view.unknown, view.address) == ((), old["address"])
    assert app.session_state[HIDDEN] == ()


def test_every_page_that_computes_has_an_old_link():
    assert {page_of(one["link"]) for one in LINKS} == {page.key for page in PAGES if page.computes}
    assert len(LINKS) >= 50
