"""A view of bertviz in its frame: which stacks and layers it gets, and what is too much for a browser.

For export it is a web page, the weights that it draws, and the code that computes them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from html import escape

import numpy as np
import streamlit as st

from pages.bertviz_page import texts
from pages.bertviz_page.views import FIELDS, Extent, choice_line, draw, read_choice
from pages.ui.canvas.framed import framed_choice, is_published, publish, show_framed
from pages.ui.export.attention import weight_files
from pages.ui.export.attention_map import AttentionMap
from pages.ui.export.computation import Computation, call, each, load_call, named, sentences_of
from pages.ui.export.records import Code, DataFiles, Export, file_stem, one_line, reading, source
from pages.ui.export.texts import SECOND_SENTENCE, TEXT, WITHOUT_SPECIAL, quoted
from pages.ui.panels import view_options
from pages.ui.panels.head_map import HeadMap
from pages.ui.panels.texts import STACK_LABELS
from pages.ui.panels.view_options import ViewOptions
from pages.ui.shell import controls
from pages.ui.shell.address import widget_binding, widget_key
from tx_core.analysis import views
from tx_core.errors import TextProblem
from tx_core.transformer.trace import AttentionStack, Trace

MAX_REMEMBERED_VIEWS = 12
"""Drawings that a visitor's session finds again without drawing anew."""
MAX_SENT_NUMBERS = 600_000
"""Numbers sent at once: twelve layers of twelve heads on 64 tokens, about 2 s until drawn on a small machine."""
MAX_MODEL_LINES = 150_000
"""Lines of the model view drawn at once, about 3 s: 32 tokens in twelve layers of twelve heads."""
MAX_LAYER_LINES = 200_000
"""Lines of one layer: 128 tokens in twelve heads, 3 to 4 s."""


@dataclass(frozen=True)
class Drawing:
    """What a drawing shows.

    Attributes:
        stacks: the attentions in it.
        layer: the chosen layer, from 0.
        single: whether it holds that layer only.
        choice: the reader's choice within it, as one line (`choice_line`).
    """

    stacks: tuple[AttentionStack, ...]
    layer: int
    single: bool
    choice: str = ""


def show_view(page: str, view: str, trace: Trace) -> Drawing:
    """Ask for what the view needs, and show it.

    Raises:
        TextProblem: it would be too much for a browser.
    """
    stacks = _stacks(page, view, trace)
    layers = len(stacks[0].weights)
    single = one_layer_only(view, stacks)
    name = widget_key(page, "layer")
    if st.session_state[name] > layers:
        st.info(texts.LAST_LAYER.format(layers=layers, layer=st.session_state[name]))
        st.session_state[name] = layers
    if single:
        st.info(texts.ONE_LAYER.format(layers=layers))
        controls.choice_box(texts.LAYER, range(1, layers + 1), width=160, **widget_binding(name))
    st.caption(texts.COUNTED_FROM_0)
    if view == "neuron" and has_bias(stacks[0]):
        st.caption(texts.BIAS)
    layer = st.session_state[name] - 1
    only = layer if single else None
    word = _published(page, view, trace, stacks, only)
    choice = _show(page, view, word, len(trace.attention.query_tokens), Extent.of(stacks, only))
    return Drawing(tuple(stacks), layer, single, choice)


def has_bias(stack: AttentionStack) -> bool:
    """Return whether scores are more than scaled products of queries and keys: T5 adds a bias by distance."""
    scales = np.array(stack.scales or (stack.query.shape[-1] ** -0.5,) * len(stack.query))
    products = stack.query @ stack.key.swapaxes(-1, -2) * scales[:, None, None, None]
    return not np.allclose(products, stack.scores, rtol=1e-3, atol=1e-3)


def _stacks(page: str, view: str, trace: Trace) -> list[AttentionStack]:
    """Return the stacks to draw: all where bertviz draws them together, else the one that the reader chooses."""
    counts = {len(stack.weights) for stack in trace.stacks}
    if len(trace.stacks) > 1 and view != "neuron" and len(counts) == 1:
        return list(trace.stacks)
    fitting = [stack for stack in trace.stacks if view != "neuron" or stack.kind != "cross"]
    if len(fitting) < len(trace.stacks):
        st.caption(texts.NO_CROSS_ATTENTION)
    return [fitting[view_options.ask_stack(page, [stack.kind for stack in fitting])]]


def _published(page: str, view: str, trace: Trace, stacks: list[AttentionStack], only: int | None) -> str:
    """Return the word under which the drawing is published. only: the one layer that it holds, None for all."""
    dark = st.context.theme.type == "dark"
    source = trace.attention.query_tokens
    kinds = tuple(stack.kind for stack in stacks)
    identity = (trace.model, trace.device, source.text, source.pair, source.special_tokens, view, kinds, only, dark)
    known: dict[tuple, str] = st.session_state.setdefault(f"{page}_drawn", {})
    if (word := known.get(identity)) is None or not is_published(word):
        document = draw(view, stacks, None if only is None else [only], dark=dark)
        try:
            known[identity] = publish(document, word)  # under the same word: a frame that shows it stays as it is
        except ValueError as full:
            raise TextProblem(texts.TOO_LARGE) from full
        while len(known) > MAX_REMEMBERED_VIEWS:
            known.pop(next(iter(known)))
    return known[identity]


def _show(page: str, view: str, word: str, tokens: int, extent: Extent) -> str:
    """Show the drawing with the reader's choice in it, which may change there. Returns the choice."""
    name = widget_key(page, "frame")

    def take_choice() -> None:
        chosen = read_choice(view, framed_choice(name), extent) or {}
        st.session_state.update({widget_key(page, field): value for field, value in chosen.items()})

    values = {field.name: st.session_state[widget_key(page, field.name)] for field in FIELDS}
    choice = choice_line(view, values, extent)
    dark = st.context.theme.type == "dark"
    show_framed(word, texts.ALT[view].format(tokens=tokens), key=name, choice=choice, dark=dark, on_choose=take_choice)
    return choice


@dataclass(frozen=True)
class Load:
    """What a view would send and draw.

    Attributes:
        numbers, layer_numbers: sent for all layers, and for one.
        lines, layer_lines: drawn at once for all layers, and for one.
        shape: layer, head, query, key of the largest stack.
    """

    numbers: int
    layer_numbers: int
    lines: int
    layer_lines: int
    shape: tuple[int, int, int, int]


def load_of(view: str, stacks: Sequence[AttentionStack]) -> Load:
    """Count what a view of these stacks, all with as many layers, would send and draw."""
    cells = sum(heads * queries * keys for _, heads, queries, keys in (stack.weights.shape for stack in stacks))
    layers = len(stacks[0].weights)
    more = 0
    if view == "neuron":
        more = sum(part.shape[1] * part.shape[2] * part.shape[3] for part in (stacks[0].query, stacks[0].key))
    sent = cells * (2 if view != "neuron" and any(1 in stack.query_tokens.segments for stack in stacks) else 1) + more
    at_once = {"head": cells, "model": cells, "neuron": stacks[0].weights[0, 0].size}[view]
    lines = at_once * layers if view == "model" else at_once
    largest = max((stack.weights.shape for stack in stacks), key=lambda shape: shape[2] * shape[3])
    return Load(sent * layers, sent, lines, at_once, largest)


def one_layer_only(view: str, stacks: Sequence[AttentionStack]) -> bool:
    """Whether all layers at once would be too heavy for a browser.

    Raises:
        TextProblem: a single layer would be, too.
    """
    load = load_of(view, stacks)
    if load.layer_numbers > MAX_SENT_NUMBERS or load.layer_lines > MAX_LAYER_LINES:
        _, heads, queries, keys = load.shape
        raise TextProblem(texts.TOO_HEAVY.format(heads=heads, queries=queries, keys=keys))
    return load.numbers > MAX_SENT_NUMBERS or load.lines > (MAX_MODEL_LINES if view == "model" else MAX_LAYER_LINES)


HEADING = "<style>body {{ overflow: auto; }} h1 {{ font-size: 20px; }}</style><h1>{}</h1><p><bdi>{}</bdi></p>"


def bertviz_export(trace: Trace, view: str, drawing: Drawing) -> Export:
    """Return the export of a drawing of bertviz. It has no figure: the attention page makes one."""
    kinds = tuple(stack.kind for stack in drawing.stacks)
    chosen = kinds[0] if len(kinds) < len(trace.stacks) else ""
    title, dark = _title(trace, view, drawing, chosen), st.context.theme.type == "dark"
    read = trace.attention.query_tokens
    sentences = [TEXT.format(sentence=quoted(read.text))]
    if read.pair:
        sentences.append(SECOND_SENTENCE.format(sentence=quoted(read.pair)))
    if not read.special_tokens:
        sentences.append(WITHOUT_SPECIAL)
    caption = " ".join([f"{title}.", *sentences, texts.EXPORT_COUNTED_FROM_0])
    web_page = partial(_document, view, drawing, title, caption, dark)
    stem = file_stem(f"bertviz-{view}", f"{trace.model}-{chosen}" if chosen else trace.model)
    code = Code(texts.EXPORT_RESULT if len(kinds) == 1 else texts.EXPORT_RESULT_KINDS, lambda: numbers(trace, kinds))
    layer, how = drawing.layer + 1 if drawing.single else 0, reading(read.special_tokens)
    about = source(trace.model, text=read.text, pair=read.pair, **how, attention=chosen, layer=layer)
    return Export(title, stem, tuple(_data(trace, stack) for stack in drawing.stacks), code, about, web_page)


def _title(trace: Trace, view: str, drawing: Drawing, kind: str) -> str:
    """Name the view, the one kind of attention or the one layer that it shows, and the model."""
    if kind:
        template = texts.EXPORT_TITLE_KIND_LAYER if drawing.single else texts.EXPORT_TITLE_KIND
    else:
        template = texts.EXPORT_TITLE_LAYER if drawing.single else texts.EXPORT_TITLE
    attention = STACK_LABELS[kind].lower() if kind else ""
    model = controls.model_title(trace.model)
    return template.format(view=texts.VIEWS[view], attention=attention, layer=drawing.layer + 1, model=model)


def _document(view: str, drawing: Drawing, title: str, caption: str, dark: bool, origin: str) -> str:
    """Write the drawing as a page of its own, with a content security policy that allows its own scripts only."""
    layers = [drawing.layer] if drawing.single else None
    document = draw(view, drawing.stacks, layers, begin=drawing.choice, dark=dark)
    policy = f"default-src 'none'; script-src 'nonce-{document.nonce}'; style-src 'unsafe-inline'; base-uri 'none'"
    guarded = f'<head><meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
    before, opening_tag, rest = re.split(r"(<body [^>]*>)", document.html.replace("<head>", guarded, 1), maxsplit=1)
    return before + opening_tag + HEADING.format(escape(one_line(title)), escape(one_line(f"{caption} {origin}"))) + rest


def _data(trace: Trace, stack: AttentionStack) -> DataFiles:
    layers, heads = stack.weights.shape[:2]
    every = tuple((layer, head) for layer in range(layers) for head in range(heads))
    options = ViewOptions(stack.kind, every, words=False, hide=False, show="heatmap", lines=1, scale="blues", focus=None)
    exported = AttentionMap(trace, HeadMap(views.view(stack), every, stack.weights[0, 0], ""), options)
    return weight_files(exported, everything=True, name=STACK_LABELS[stack.kind])


def numbers(trace: Trace, kinds: Sequence[str]) -> list[Computation]:
    """Return the computation of every weight."""
    read, every = trace.attention.query_tokens, [stack.kind for stack in trace.stacks]
    run = named("trace", load_call(trace.model, read.special_tokens).trace(*sentences_of(read)))
    if len(kinds) == 1:
        stack = run.stacks[every.index(kinds[0])]
        return [stack.query_tokens.tokens, stack.key_tokens.tokens, named("weights", stack.weights).shape]
    weights = named("weights", call(dict, each(run.stacks, lambda stack: (stack.kind, stack.weights))))
    return [each(weights.items(), lambda item: (item[0], item[1].shape))]
