"""The page that a browser gets first is Streamlit's own with a style and with scripts that exist."""

import re

from pages.contents import PAGES
from pages.ui.shell import start_page
from tests.support.serving import fetch


def test_every_element_of_the_list_is_one_script_of_streamlit_and_all_that_they_import_is_loaded():
    index = start_page.INDEX_PAGE.read_text(encoding="utf-8")
    elements, needed = start_page.element_scripts(index)
    assert [name.split(".")[0] for name in elements] == list(start_page.ELEMENTS)
    assert all((start_page.SCRIPTS / name).is_file() for name in [*elements, *needed])
    for name in [*elements, *needed]:
        source = (start_page.SCRIPTS / name).read_text(encoding="utf-8")
        imported = set(re.findall(r"""^import.*?["'`]\./([\w.-]+\.js)["'`]""", source, re.MULTILINE))
        assert imported <= {*elements, *needed, *re.findall(r"js/([\w.-]+\.js)", index)}


def test_the_start_page_is_streamlits_with_more_in_its_head():
    index = start_page.INDEX_PAGE.read_text(encoding="utf-8")
    ours = start_page.start_page()
    before, after = index.split("</head>")
    assert ours.startswith(before) and ours.endswith(f"</head>{after}")
    assert start_page.PAGE_STYLE.read_text(encoding="utf-8") in ours


def test_every_address_of_a_page_has_it_and_any_other_streamlits(server):
    for address in ("", *(page.key for page in PAGES), *(page.address for page in PAGES if page.address)):
        status, headers, body = fetch(f"{server}/{address}")
        assert (status, body.decode()) == (200, start_page.start_page())
        assert headers["cache-control"] == "no-cache"
    assert fetch(f"{server}/no-such-page")[2] == start_page.INDEX_PAGE.read_bytes()
