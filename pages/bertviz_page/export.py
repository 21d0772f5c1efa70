"""A view of bertviz as an export: its page as a file, and the weights that it draws."""

import re
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from pages.bertviz_page.frame import VIEWS, Drawn
from pages.bertviz_page.snippets import core_weights, library_weights
from pages.ui.canvas.framed import Document
from pages.ui.export.attention import weight_files
from pages.ui.export.attention_map import AttentionMap
from pages.ui.export.records import Code, DataFiles, Export, WebPage
from pages.ui.export.texts import quoted
from pages.ui.panels.attention_panel import HeadMap
from pages.ui.panels.texts import STACK_LABELS
from pages.ui.panels.view_options import ViewOptions
from pages.ui.shell import controls
from pages.ui.shell.plain_names import file_stem, one_line
from tx_core.analysis import views

if TYPE_CHECKING:
    from tx_core.transformer.trace import AttentionStack, Trace

CALLS = {"head": "head_view", "model": "model_view"}
BY_ITSELF = "<style>body {{ overflow: auto; }} h1 {{ font-size: 20px; }}</style><h1>{}</h1><p><bdi>{}</bdi></p>"


def bertviz_export(trace: "Trace", view: str, drawn: Drawn) -> Export:
    """Make a drawing of bertviz ready for export; for a figure on paper there is the attention page."""
    source = trace.attention.query_tokens
    only = f", layer {drawn.layer + 1}" if drawn.alone else ""
    kinds = tuple(stack.kind for stack in drawn.stacks)
    chosen = kinds[0] if len(kinds) < len(trace.stacks) else ""
    which = f", {STACK_LABELS[chosen].lower()}" if chosen else ""
    title = f"{VIEWS[view].name} of bertviz{which}{only}, {controls.model_title(trace.model)}"
    pair = f" Second sentence: {quoted(source.pair)}" if source.pair else ""
    caption = f"{title}. Text: {quoted(source.text)}{pair} Layers and heads are counted from 0 in it."
    dark = st.context.theme.type == "dark"
    web_page = WebPage(
        "", (), "The view is as bertviz draws it.", bytes, document=lambda: _by_itself(view, drawn, title, caption, dark)
    )
    name = file_stem(f"bertviz-{view}", f"{trace.model}-{chosen}" if chosen else trace.model)
    numbers = tuple(_numbers(trace, stack) for stack in drawn.stacks)
    each = "" if len(kinds) == 1 else " of each kind of attention"
    code = Code(
        f"It ends with `weights`{each}: layer, head, query, key.",
        lambda: core_weights(title, trace, kinds),
        lambda: library_weights(title, trace, kinds, CALLS.get(view)),
    )
    return Export(title, caption, name, None, web_page, numbers, code)


def _by_itself(view: str, drawn: Drawn, title: str, caption: str, dark: bool) -> str:
    from pages.bertviz_page.views import draw

    document: Document = draw(view, drawn.stacks, [drawn.layer] if drawn.alone else None, begin=drawn.choice, dark=dark)
    policy = f"default-src 'none'; script-src 'nonce-{document.nonce}'; style-src 'unsafe-inline'; base-uri 'none'"
    guarded = f'<head><meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
    before, opening_tag, rest = re.split(r"(<body [^>]*>)", document.html.replace("<head>", guarded, 1), maxsplit=1)
    return before + opening_tag + BY_ITSELF.format(escape(one_line(title)), escape(one_line(caption))) + rest


def _numbers(trace: "Trace", stack: "AttentionStack") -> DataFiles:
    layers, heads = stack.weights.shape[:2]
    every = tuple((layer, head) for layer in range(layers) for head in range(heads))
    options = ViewOptions(stack.kind, every, words=False, hide=False, show="heatmap", lines=1, scale="blues", focus=None)
    exported_map = AttentionMap(trace, HeadMap(views.view(stack), every, stack.weights[0, 0], ""), options)
    return weight_files(exported_map, everything=True, name=STACK_LABELS[stack.kind])
