"""The page before Streamlit's scripts are there: title, sentence, links and the place of the picture, as HTML.

assets/shell/early.js draws the stored picture in its place, has the browser fetch Streamlit's scripts when it is painted, and
hands over to Streamlit's page when that has a place for the same picture. What a visitor wrote into a link enters HTML here: as
text.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from urllib.parse import parse_qsl, urlencode, urlsplit

import streamlit as st

from pages.contents import SECTIONS, Page, page_address
from pages.ui.shell import readiness, texts
from pages.ui.shell.level import ADVANCED, BASIC, LEVEL
from tx_core.settings import ASSETS

FRAME_TOPS = json.loads((ASSETS / "shell" / "frame_tops.json").read_text("utf-8"))
"""Where the picture of a page begins, by page and level: pixels from the top, from each width of the window on. What stands above
it wraps there; `python -m tests.bench.frame_tops` measures them. framed: within another site, where Streamlit shows no title."""
STYLE = (ASSETS / "shell" / "early.css").read_text("utf-8")
BEGIN_SCRIPT = """
(() => {
  const early = document.getElementById("early")
  early.querySelector(".pages").open = innerWidth > 768
  try {
    const chosen = JSON.parse(localStorage.getItem(`stActiveTheme-${location.pathname}-v2`))
    if (["Light", "Dark"].includes(chosen)) early.classList.add(chosen.toLowerCase())
  } catch { /* the browser keeps nothing */ }
})()
"""
"""Opens the list of pages where there is room, and takes the theme that the visitor chose in the menu from Streamlit's memory."""
LOGO = base64.b64encode((ASSETS / "logo.svg").read_bytes()).decode()
COLOURS = {
    "background-color": "backgroundColor",
    "secondary-background-color": "secondaryBackgroundColor",
    "text-color": "textColor",
    "border-color": "borderColor",
    "link-color": "linkColor",
    "primary-color": "primaryColor",
}
"""Streamlit's variables of a theme, each with its option."""
IMAGE_SIZE = (1200, 630)
"""Pixels of the image that a chat shows of a pasted link."""


@dataclass(frozen=True)
class EarlyView:
    """What a page shows before Streamlit's scripts are there.

    Attributes:
        level_link: the level as links of the page name it.
        is_framed: whether it is shown within another site, where Streamlit shows no title.
        texts: what stands in its boxes, by field.
        modules: what draws its picture.
        address: where that is served.
        header: that of the picture's message; None where it has to be computed first.
        numbers: those of the message.
        rest: the address of all numbers, where some of them are still zeros; "" for none.
    """

    level: str
    level_link: Mapping[str, str]
    is_framed: bool
    texts: Mapping[str, str]
    modules: Sequence[str]
    address: str
    header: Mapping[str, object] | None
    numbers: bytes
    rest: str


def early_style(font: str) -> str:
    """Return the style sheet: our rules, and the colours of both themes. font: the address of the letters of every page."""

    def colours(theme: str) -> str:
        named = {name: st.get_option(f"theme.{theme}.{option}") for name, option in COLOURS.items()}
        side = st.get_option(f"theme.{theme}.sidebar.backgroundColor")
        return f"color-scheme: {theme}; --side: {side}; " + "; ".join(f"--st-{name}: {colour}" for name, colour in named.items())

    light, dark = colours("light"), colours("dark")
    system = f"@media (prefers-color-scheme: dark) {{ #early:not(.light) {{ {dark} }} }}"
    return f"#early {{ {light} }} {system} #early.dark {{ {dark} }}\n{STYLE.replace('FONT', f'./{font}')}"


def write_early_page(page: Page, view: EarlyView, *, head: str, framework: str, script: str, link: str, image: str) -> str:
    """Write the page.

    head: more of it. framework: what Streamlit needs, kept until the picture is painted. script: the address of early.js. link:
    what was asked for, relative to the app. image: the address of the stored image of the page.
    """
    told = {
        "modules": view.modules,
        "path": view.address,
        "header": view.header,
        "numbers": base64.b64encode(view.numbers).decode() if view.header else "",
        "rest": view.rest if view.header else "",
        "notLoaded": texts.PART_NOT_LOADED,
        "connecting": texts.CONNECTING,
        "notWhole": texts.NOT_WHOLE,
        "waits": texts.STILL_LOADING if readiness.is_awaited() else "",
    }
    data = json.dumps(told, ensure_ascii=False).replace("<", "\\u003c")
    tops = FRAME_TOPS[page.key][f"{view.level} framed" if view.is_framed else view.level]
    style = "".join(f"@media (min-width: {width}px) {{ #early {{ --top: {top}px }} }}" for width, top in tops)
    sentence = " / ".join(text for text in view.texts.values() if text)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<meta name="viewport" content="width=device-width, initial-scale=1, shrink-to-fit=no">
<title>{escape(page.name)}</title>
<link rel="shortcut icon" href="./favicon.png">
{head}<style>{style}</style>
</head>
<body>
<div id="early" class="{"framed" if view.is_framed else ""}">{_links(page, view.level_link)}<script>{BEGIN_SCRIPT}</script>
{_level_switch(link, view.level)}
<div class="scroller"><div role="main" class="page">
<div class="above"><h1>{escape(page.question)}</h1>
<p class="lead">{escape(page.lead)}</p>
<div class="boxes">{_boxes(view.texts)}</div>
<div class="rest"></div></div>
<div class="frame"><div class="picture"></div><p class="told" role="status"></p>
<noscript><img src="./{image}" alt="{escape(page.lead)}"><p>{escape(sentence)}</p></noscript></div>
</div></div></div>
<script type="application/json" id="early-told">{data}</script>
<template id="framework">{framework}</template>
<div id="root"></div>
<script type="module" src="./{script}"></script>
</body>
</html>
"""


def preview(page: Page, sentence: str, image: str) -> str:
    """Return what a chat shows of a pasted link. sentence: as the link has it, "" for none. image: its whole address."""
    lines = {
        "og:type": "website",
        "og:title": page.question,
        "og:description": sentence or page.lead,
        "og:image": image,
        "og:image:width": str(IMAGE_SIZE[0]),
        "og:image:height": str(IMAGE_SIZE[1]),
    }
    named = "".join(f'<meta property="{name}" content="{escape(text)}">' for name, text in lines.items())
    described = f'<meta name="description" content="{escape(lines["og:description"])}">'
    return f'{named}{described}<meta name="twitter:card" content="summary_large_image">'


def _links(page: Page, level: Mapping[str, str]) -> str:
    """Write the list of pages as plain links."""

    def link(one: Page) -> str:
        here = ' aria-current="page"' if one is page else ""
        query = f"?{urlencode(level)}" if level else ""
        return f'<li><a href="./{page_address(one)}{query}"{here}>{escape(one.name)}</a></li>'

    sections = "".join(f"<p>{escape(name)}</p><ul>{''.join(map(link, pages))}</ul>" for name, pages in SECTIONS.items() if pages)
    logo = f'<img class="logo" src="data:image/svg+xml;base64,{LOGO}" alt="{escape(texts.NAME)}">'
    summary = f'<summary aria-label="{escape(texts.PAGES)}">{logo}<b></b></summary>'
    return f'<details class="pages">{summary}<nav>{logo}{sections}</nav></details>'


def _level_switch(link: str, level: str) -> str:
    """Write the switch between the levels, as links to the same view."""
    parts = urlsplit(link)
    kept = [(name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if name != LEVEL]

    def way(one: str, label: str) -> str:
        here = ' aria-current="true"' if one == level else ""
        return f'<a href="{escape(parts.path)}?{escape(urlencode([*kept, (LEVEL, one)]))}"{here}>{escape(label)}</a>'

    return f'<div class="levels">{way(BASIC, texts.BASIC)}{way(ADVANCED, texts.ADVANCED)}</div>'


def _boxes(asked: Mapping[str, str]) -> str:
    """Write the boxes of the sentences, each with its letter where there are two."""
    letters = "AB" if len(asked) > 1 else [""]
    boxes = (
        f'<label><span>{letter}</span><input type="text" name="{name}" value="{escape(text)}" '
        f'aria-label="{escape(f"{texts.SENTENCE} {letter}".strip())}" autocomplete="off"></label>'
        for letter, (name, text) in zip(letters, asked.items(), strict=True)
    )
    return "".join(boxes)
