"""What a page sends as HTML: the links to pages that stand together, and lines that are written as they are."""

import re
from html import unescape
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from streamlit.testing.v1.element_tree import Block

LINE = re.compile("<span>(.*?)</span>", re.DOTALL)
LINK = re.compile(r'<a data-page="([^"]*)" href="([^"]*)">([^<]*)</a>')


class PageLink(NamedTuple):
    """A link: the key of its page, its path, its parameters and its words."""

    page: str
    path: str
    parameters: dict[str, str]
    label: str


def page_links(block: Block) -> list[PageLink]:
    """List the links to pages within a block of a page, in their order."""
    found = [link for element in block.get("html") for link in LINK.findall(element.proto.body)]
    addresses = [urlsplit(unescape(address)) for _, address, _ in found]
    return [
        PageLink(page, address.path, dict(parse_qsl(address.query)), unescape(label))
        for (page, _, label), address in zip(found, addresses, strict=True)
    ]


def preformatted(block: Block) -> list[str]:
    """List the texts within a block of a page that are written as they are, in their order."""
    boxes = [element.proto.body for element in block.get("html") if element.proto.body.startswith("<pre ")]
    return ["\n".join(unescape(re.sub("</?i>", "", line)) for line in LINE.findall(box)) for box in boxes]
