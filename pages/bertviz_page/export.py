"""A view of bertviz for export: its web page, the weights that it draws, and the code that computes them."""

import re
from collections.abc import Sequence
from functools import partial
from html import escape

import streamlit as st

from pages.bertviz_page import texts
from pages.bertviz_page.frame import Drawing
from pages.bertviz_page.views import draw
from pages.ui.export.attention import weight_files
from pages.ui.export.attention_map import AttentionMap
from pages.ui.export.code import header, import_lines, output_attentions, run_lines
from pages.ui.export.records import Code, DataFiles, Export, WebPage, file_stem, one_line, reading, source
from pages.ui.export.texts import SECOND_SENTENCE, TEXT, TRANSFORMERS_COMMENT, WITHOUT_SPECIAL, quoted
from pages.ui.panels.attention_panel import HeadMap
from pages.ui.panels.texts import STACK_LABELS
from pages.ui.panels.view_options import ViewOptions
from pages.ui.shell import controls
from tx_core.analysis import views
from tx_core.transformer.trace import AttentionStack, Trace

CALLS = {"head": "head_view", "model": "model_view"}
"""bertviz's functions for a notebook, by view."""
NAMES = {"self": "encoder", "decoder": "decoder", "cross": "cross"}
"""What bertviz calls the kinds of attention of an encoder-decoder."""
HEADING = "<style>body {{ overflow: auto; }} h1 {{ font-size: 20px; }}</style><h1>{}</h1><p><bdi>{}</bdi></p>"


def bertviz_export(trace: Trace, view: str, drawing: Drawing) -> Export:
    """Make the export of a drawing of bertviz. It has no figure: the attention page makes one."""
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
    web_page = WebPage("", (), texts.EXPORT_WEB_PAGE, bytes, document=partial(_document, view, drawing, title, dark))
    stem = file_stem(f"bertviz-{view}", f"{trace.model}-{chosen}" if chosen else trace.model)
    code = Code(
        texts.EXPORT_RESULT if len(kinds) == 1 else texts.EXPORT_RESULT_KINDS,
        lambda: project_code(title, trace, kinds),
        lambda: transformers_code(title, trace, kinds, CALLS.get(view)),
    )
    layer, how = drawing.layer + 1 if drawing.single else 0, reading(read.special_tokens)
    about = source(trace.model, text=read.text, pair=read.pair, **how, attention=chosen, layer=layer)
    return Export(title, caption, stem, None, web_page, tuple(_data(trace, stack) for stack in drawing.stacks), code, about)


def _title(trace: Trace, view: str, drawing: Drawing, kind: str) -> str:
    """Name the view, the one kind of attention or the one layer that it shows, and the model."""
    if kind:
        template = texts.EXPORT_TITLE_KIND_LAYER if drawing.single else texts.EXPORT_TITLE_KIND
    else:
        template = texts.EXPORT_TITLE_LAYER if drawing.single else texts.EXPORT_TITLE
    attention = STACK_LABELS[kind].lower() if kind else ""
    model = controls.model_title(trace.model)
    return template.format(view=texts.VIEWS[view], attention=attention, layer=drawing.layer + 1, model=model)


def _document(view: str, drawing: Drawing, title: str, dark: bool, caption: str) -> str:
    """Write the drawing as a page of its own, with a content security policy that allows its own scripts only."""
    layers = [drawing.layer] if drawing.single else None
    document = draw(view, drawing.stacks, layers, begin=drawing.choice, dark=dark)
    policy = f"default-src 'none'; script-src 'nonce-{document.nonce}'; style-src 'unsafe-inline'; base-uri 'none'"
    guarded = f'<head><meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
    before, opening_tag, rest = re.split(r"(<body [^>]*>)", document.html.replace("<head>", guarded, 1), maxsplit=1)
    return before + opening_tag + HEADING.format(escape(one_line(title)), escape(one_line(caption))) + rest


def _data(trace: Trace, stack: AttentionStack) -> DataFiles:
    layers, heads = stack.weights.shape[:2]
    every = tuple((layer, head) for layer in range(layers) for head in range(heads))
    options = ViewOptions(stack.kind, every, words=False, hide=False, show="heatmap", lines=1, scale="blues", focus=None)
    exported = AttentionMap(trace, HeadMap(views.view(stack), every, stack.weights[0, 0], ""), options)
    return weight_files(exported, everything=True, name=STACK_LABELS[stack.kind])


def project_code(title: str, trace: Trace, kinds: Sequence[str]) -> str:
    """Write the code that computes every weight with this project."""
    source, every = trace.attention.query_tokens, [stack.kind for stack in trace.stacks]
    arguments = repr(source.text) + (f", {source.pair!r}" if source.pair else "")
    computed = (
        [
            f"stack = engine.trace({arguments}).stacks[{every.index(kinds[0])}]",
            "weights = stack.weights",
            "",
            "print(stack.query_tokens.tokens, stack.key_tokens.tokens, weights.shape)",
        ]
        if len(kinds) == 1
        else [
            f"trace = engine.trace({arguments})",
            "weights = {stack.kind: stack.weights for stack in trace.stacks}",
            "",
            "for stack in trace.stacks:",
            "    print(stack.kind, stack.query_tokens.tokens, stack.key_tokens.tokens, stack.weights.shape)",
        ]
    )
    first = header(title, trace.model, "from tx_core import load", special_tokens=source.special_tokens)
    return "\n".join([*first, *computed, ""])


def transformers_code(title: str, trace: Trace, kinds: Sequence[str], call: str | None) -> str:
    """Write the code that computes every weight with transformers only. call: bertviz's function for a notebook, if any."""
    if len(kinds) == 1:
        computed = ["weights = torch.stack(list(layers))[:, 0]", "", *_one_drawing(trace, call), "print(weights.shape)"]
    else:
        computed = [
            "weights = {",
            *[f'    "{kind}": torch.stack(list({output_attentions(trace, kind)}))[:, 0],' for kind in kinds],
            "}",
            "",
            *_drawing_of_all(trace, kinds, call),
            "print({kind: one.shape for kind, one in weights.items()})",
        ]
    first = [TRANSFORMERS_COMMENT.format(title=one_line(title)), *import_lines(trace), ""]
    return "\n".join([*first, *run_lines(trace, kinds[0]), *computed, ""])


def _one_drawing(trace: Trace, call: str | None) -> list[str]:
    if call is None or len(trace.stacks) > 1:
        return []
    return _in_a_notebook(call, "layers, tokenizer.convert_ids_to_tokens(inputs.input_ids[0])")


def _drawing_of_all(trace: Trace, kinds: Sequence[str], call: str | None) -> list[str]:
    if call is None:
        return []
    given = [f"{NAMES[kind]}_attention={output_attentions(trace, kind)}" for kind in kinds]
    tokens = [("encoder", "input_ids[0]"), ("decoder", "decoder_input_ids[0]")]
    given += [f"{name}_tokens=tokenizer.convert_ids_to_tokens(inputs.{ids})" for name, ids in tokens]
    return _in_a_notebook(call, ", ".join(given))


def _in_a_notebook(call: str, given: str) -> list[str]:
    return ["# In a notebook, bertviz draws it:", f"# from bertviz import {call}", f"# {call}({given})"]
