"""What of a page tests read again and again: the links to other pages that stand together, and lines written as they are."""

from typing import NamedTuple
from urllib.parse import parse_qsl

from streamlit.testing.v1.element_tree import Block

from pages.contents import PAGES, page_address


class PageLink(NamedTuple):
    """A link: the key of its page, its parameters and its words."""

    page: str
    parameters: dict[str, str]
    label: str


def page_links(block: Block) -> list[PageLink]:
    """List the links to pages that stand together within a block of a page, in their order: those with the icon of their page."""
    pages = {(page_address(page), f":material/{page.icon}:"): page.key for page in PAGES}
    links = [(pages.get((link.proto.page, link.proto.icon)), link.proto) for link in block.get("page_link")]
    return [PageLink(key, dict(parse_qsl(link.query_string)), link.label) for key, link in links if key]
