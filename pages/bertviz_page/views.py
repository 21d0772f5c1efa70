"""The only module that calls bertviz (Vig 2019): its head, model and neuron views, drawn from a run of ours.

bertviz loads jQuery, d3 and require.js from a CDN, writes token text into a script unescaped, sends its JSON twice, and loads
models of its own for the neuron view. Here the libraries come from installed packages, tokens are escaped, the JSON is sent once,
and a stand-in model hands out the queries, keys and weights of our run.

A choice within a drawing is the browser's (assets/stage/views/framed.js): from 0 as bertviz counts; links count from 1.
"""

import importlib.util
import json
import secrets
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from bertviz import head_view, model_view
from bertviz.neuron_view import show as neuron_view
from torch import Tensor

from pages.bertviz_page import texts
from pages.bertviz_page.framed import Document
from pages.ui.shell.fields import flag_field, number_field, numbers_field
from pages.ui.stage.view_options import MAX_LAYERS_OR_HEADS
from tx_core.transformer.trace import AttentionStack, Encoding

MAX_NEURON_TOKENS = 1000
"""More tokens than bertviz is asked to draw."""
NUM_PAIR_FILTERS = 5
"""The filters of bertviz for two sentences: everything, each within itself, and from each to the other."""


FIELDS = (
    number_field("layer", 1, 1, MAX_LAYERS_OR_HEADS),
    number_field("head", 1, 1, MAX_LAYERS_OR_HEADS),
    numbers_field("heads", (), (1, MAX_LAYERS_OR_HEADS), sign="_", empty=""),
    number_field("filter", 1, 1, NUM_PAIR_FILTERS),
    flag_field("enlarged"),
    number_field("token", 0, 0, MAX_NEURON_TOKENS),
)
"""heads: those on in the head view, none for all. enlarged: a head of the model view. token: opened in the neuron view, or 0."""


def extent(view: str, stacks: Sequence[AttentionStack], layers: Sequence[int]) -> dict[str, object]:
    """Return what a drawing of these layers, from 0, offers: them, and the number of heads, filters and tokens.

    height: the pixels that it takes on a phone, where bertviz's own size is kept, with the menus above it.
    """
    tokens, heads = stacks[0].query_tokens, stacks[0].weights.shape[1]
    is_pair = [stack.kind for stack in stacks] == ["self"] and second_sentence(tokens)
    filters = NUM_PAIR_FILTERS if is_pair else len(stacks)
    rows = max(len(stack.query_tokens) for stack in stacks)
    thumbnails = len(layers) * (10 + 84 / heads * rows)
    heights = {"head": 98 + 22.5 * rows, "model": 30 + max(38 + thumbnails, 55 + 18 * rows), "neuron": 184 + 26 * rows}
    return {"layers": list(layers), "heads": heads, "filters": filters, "tokens": len(tokens), "height": heights[view]}


def second_sentence(tokens: Encoding) -> int | None:
    """Return the position where the second sentence begins; None without one, or without segments."""
    place = tokens.segments.index(1) if 1 in tokens.segments else None
    return place if place and tokens.segments == (0,) * place + (1,) * (len(tokens) - place) else None


ASSETS = Path(__file__).parents[2] / "assets" / "bertviz"
LIBRARIES = (("xstatic.pkg.jquery", "data/jquery.min.js"), ("mpld3", "js/d3.v5.min.js"))
DECIMALS = 3
END = "\n</script>"
MARKERS = {"head": "const params = ", "model": "const params = ", "neuron": "window.bertviz_params = "}
DIVIDED = "dotProduct / Math.sqrt(config.vectorSize)"
"""Where the neuron view scales a product: not every model divides by √d."""
SCRIPT = '<script type="text/javascript">'
OURS = {
    "Layer: <": f"{texts.LAYER}: <",
    "Layer: </span>": f"{texts.LAYER}: </span>",
    "Head: </span>": f"{texts.HEAD}: </span>",
    '.text("Layers")': f'.text("{texts.LAYERS}")',
    '.text("Heads")': f'.text("{texts.HEADS}")',
    "MATRIX_WIDTH = 115;": "MATRIX_WIDTH = lineWidth();",
}
"""What is changed in markup and scripts of bertviz, never in what it is given: its numbers say where they begin, and the lines of
its head view are as long as there is room (assets/bertviz/start.js)."""


def draw(view: str, stacks: Sequence[AttentionStack], layers: Sequence[int] | None, *, dark: bool) -> Document:
    """Draw one of bertviz's views, "head", "model" or "neuron", as a document that loads nothing from any server.

    stacks: all of an encoder-decoder, or one; the neuron view takes one, with queries and keys. layers: those to send, from
    0, None for all. It starts with the choice in the name of its frame.
    """
    mode = "dark" if dark else "light"
    if view == "head":
        written = head_view(**_attentions(stacks), include_layers=layers, html_action="return", prettify_tokens=False)
    elif view == "model":
        written = model_view(
            **_attentions(stacks), include_layers=layers, display_mode=mode, html_action="return", prettify_tokens=False
        )
    else:
        (stack,) = stacks
        chosen = range(len(stack.weights)) if layers is None else layers
        stand_in = StandIn(stack, chosen)
        causal = not np.triu(stack.weights, 1).any()
        text = stack.query_tokens.text
        written = neuron_view(stand_in, "gpt2", stand_in, text, display_mode=mode, html_action="return")
        scales = stack.scales or (stack.query.shape[-1] ** -0.5,) * len(stack.weights)
        script = written.data.replace(DIVIDED, f"dotProduct * {json.dumps([scales[layer] for layer in chosen])}[config.layer]")
        return _document(view, script, mode, bidirectional=not causal, first_layer=chosen[0])
    return _document(view, written.data, mode)


class StandIn:
    """A model and tokenizer for bertviz's neuron view that hand out what a run of ours computed."""

    def __init__(self, stack: AttentionStack, layers: Sequence[int]):
        self._tokens = stack.query_tokens
        self._layers = [
            {"attn": _tensor(stack.weights[layer]), "queries": _tensor(stack.query[layer]), "keys": _tensor(stack.key[layer])}
            for layer in layers
        ]

    def eval(self) -> None:
        """Do nothing: bertviz calls it before a run."""

    def __call__(self, _ids: Tensor) -> tuple[list[dict[str, Tensor]]]:
        """Return the record of every layer as the last part of an output."""
        return (self._layers,)

    def tokenize(self, _text: str) -> list[str]:
        """Return the tokens of the run, special ones included."""
        return list(self._tokens.tokens)

    def convert_tokens_to_ids(self, _tokens: list[str]) -> list[int]:
        """Return the ids of the run."""
        return list(self._tokens.ids)


def _attentions(stacks: Sequence[AttentionStack]) -> dict[str, Any]:
    """Name weights and tokens by the arguments of bertviz's head and model views."""
    kinds = {stack.kind: stack for stack in stacks}
    if set(kinds) == {"self"}:
        (stack,) = stacks
        tokens = stack.query_tokens
        return {"attention": _layers(stack), "tokens": list(tokens.tokens), "sentence_b_start": second_sentence(tokens)}
    named: dict[str, Any] = {}
    for kind, stack in kinds.items():
        named[f"{'encoder' if kind == 'self' else kind}_attention"] = _layers(stack)
        named["encoder_tokens" if kind == "self" else "decoder_tokens"] = list(stack.query_tokens.tokens)
        named["decoder_tokens" if kind == "decoder" else "encoder_tokens"] = list(stack.key_tokens.tokens)
    return named


def _layers(stack: AttentionStack) -> list[Tensor]:
    return [_tensor(layer) for layer in stack.weights]


def _tensor(layer: np.ndarray) -> Tensor:
    """Return a layer as a batch of one, rounded in double precision: single precision would write 17 digits."""
    return torch.from_numpy(layer.astype(np.float64).round(DECIMALS))[None]


def _document(view: str, written: str, mode: str, *, bidirectional: bool = True, first_layer: int = 0) -> Document:
    """Make a page of bertviz's markup, script and local libraries; the neuron view counts the layers that it is given from 0."""
    nonce = secrets.token_urlsafe(16)
    markup, _, script = written.partition("</script>")[2].partition(SCRIPT)
    scripts = [
        *_libraries(),
        _own_script(script, MARKERS[view], bidirectional=bidirectional),
        *([f'document.querySelector("#layer").options[0].text = "{first_layer}";'] if first_layer else []),
        *((ASSETS / file).read_text("utf-8") for file in ("tell_choice.js", "tell_height.js")),
    ]
    return Document(
        "\n".join(
            [
                "<!doctype html>",
                f'<html lang="en" class="{mode}">',
                f'<head><meta charset="utf-8"><title>bertviz: {view} view</title>',
                f"<style>{(ASSETS / 'drawing.css').read_text('utf-8')}</style></head>",
                f'<body class="{mode} {view}">',
                _adapted(markup.strip()),
                *(f'<script nonce="{nonce}">\n{code}\n</script>' for code in scripts),
                "</body>",
                "</html>",
            ]
        ),
        nonce,
    )


def _own_script(script: str, marker: str, *, bidirectional: bool) -> str:
    """Return bertviz's script with its data once, escaped so that no token can end its string.

    marker: what stands before the data. Visitors' text comes after it only, and the data are parsed as JSON.
    """
    before, _, rest = script.partition(marker)
    data, end = json.JSONDecoder().raw_decode(rest)
    after = rest[end:]
    if "bidirectional" in data:  # the stand-in had to call itself a GPT-2 to bring special tokens of its own
        data["bidirectional"] = bidirectional
    if after.startswith(";"):
        after = ";\n" + after.partition("\n")[2]  # the rest of the line holds the data once more, in a comment
        return _adapted(before) + marker + _begun(data) + _adapted(after).removesuffix("\n").removesuffix(END)
    code = after.partition(SCRIPT)[2]
    return marker + _begun(data) + ";\n" + _adapted(code).removesuffix("\n").removesuffix(END)


def _adapted(code: str) -> str:
    """Change what is ours of bertviz's markup or script."""
    for theirs, ours in OURS.items():
        code = code.replace(theirs, ours)
    return code


def _begun(data: object) -> str:
    """Pass the data, without any character that HTML could interpret, to assets/bertviz/start.js, which begins the drawing."""
    written = json.dumps(data, separators=(",", ":"))
    escaped = written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return f"begin({escaped})"


@cache
def _libraries() -> tuple[str, ...]:
    """Read jQuery and d3 from the packages that ship them (never imported), and our replacement for require.js."""
    paths = [Path(importlib.util.find_spec(package).submodule_search_locations[0]) / file for package, file in LIBRARIES]
    return tuple(file.read_text("utf-8") for file in (*paths, ASSETS / "start.js"))
