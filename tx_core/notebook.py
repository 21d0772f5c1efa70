"""A run in a notebook: the stage of the page Attention, with the very modules of the app, as a widget.

Needs anywidget (requirements-notebook.txt). The browser is sent a run once and looks by itself: another head, token or colour
needs no kernel.
"""

import json
import re

try:
    import anywidget
    import traitlets
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError("view needs anywidget: pip install -r requirements-notebook.txt") from missing

from tx_core.analysis.comparison import most_changed_heads
from tx_core.analysis.packing import pack_whole, sees_nothing_later
from tx_core.settings import ASSETS, app_version
from tx_core.transformer.interventions import write_interventions
from tx_core.transformer.trace import Trace

STAGE = ASSETS / "stage"
MOST_BYTES = 24_000_000
"""Of weights, as they are sent: more is not kept in a browser at once."""
MOST_MOVED = 8


class StageWidget(anywidget.AnyWidget):
    """The stage of a run, as a notebook shows it."""

    _esm = STAGE / "dist" / "attention.js"
    message = traitlets.Bytes().tag(sync=True)
    style = traitlets.Unicode().tag(sync=True)
    texts = traitlets.Dict().tag(sync=True)
    paper = traitlets.Dict().tag(sync=True)


def view(trace: Trace, unchanged: Trace | None = None, *, layer: int = 0, head: int = 0) -> StageWidget:
    """Show a run as the page Attention does: all heads, one head as heatmap and lines, the row in focus, and a sentence on it.

    unchanged: the same run without its interventions; before, after and the difference are then shown in one map.
    layer, head: what is shown first, from 0.

    Raises ValueError where no weights were kept, for a layer or head that is not there, for runs of different sizes, and for
    more than 24 MB of weights, such as those of 289 tokens in BERT base.
    """
    runs = {"run": trace} | ({"before": unchanged} if unchanged else {})
    if any(stack.weights is None for run in runs.values() for stack in run.stacks):
        raise ValueError('the trace must have kept "weights"')
    if len({tuple(stack.weights.shape for stack in run.stacks) for run in runs.values()}) > 1:
        raise ValueError("the unchanged run must be of the same model and text")
    layers, heads = trace.attention.weights.shape[:2]
    if not (0 <= layer < layers and 0 <= head < heads):
        raise ValueError(f"layer and head must be within {layers} × {heads}, counted from 0, got {layer} and {head}")
    size = sum(2 * stack.weights.size for run in runs.values() for stack in run.stacks)
    if size > MOST_BYTES:
        raise ValueError(f"weights of at most {MOST_BYTES:,} bytes are shown, got {size:,}: shorten the text")
    header, texts = (json.loads((STAGE / name).read_text("utf-8")) for name in ("dist/notebook.json", "texts.json"))
    sent = {key: (f"{key} {run!r}", run.stacks) for key, run in runs.items()}
    message = pack_whole(_header(trace, unchanged, layer, head) | header, sent)
    style = (STAGE / "stage.css").read_text("utf-8")
    return StageWidget(message=message, style=style, texts=texts, paper=header["paper"])


def _header(trace: Trace, unchanged: Trace | None, layer: int, head: int) -> dict[str, object]:
    """Return what the stage is told beside the weights: assets/stage/README.md says what it is."""
    read = trace.attention.query_tokens
    pairs = zip(unchanged.stacks, trace.stacks, strict=True) if unchanged else ()
    moved = [most_changed_heads(before.weights, after.weights, MOST_MOVED) for before, after in pairs]
    return {
        "page": "attention",
        "home": "about:blank",  # nothing is fetched
        "arrival": {"number": 0, "restored": False, "place": ""},
        "view": {"stack": trace.attention.kind, "heads": [[layer, head]], "focus": None},
        "address": {"defaults": {}},
        "hidden": ["changes", "share", "forms"],
        "alone": True,
        "linkProblem": "",
        "awaited": False,
        "follows": False,
        "notices": [trace.notice] if trace.notice else [],
        "model": trace.model,
        "text": read.text,
        "pair": read.pair or "",
        "bare": not read.special_tokens,
        "origin": f"{trace.model}; Attention explorer {app_version()};",
        "stem": re.sub(r"[^A-Za-z0-9]+", "-", f"attention-{trace.model}").strip("-"),
        "changes": [{"link": write_interventions([change]), "label": repr(change)} for change in trace.interventions],
        "moved": [[[list(place), round(share, 4)] for place, share in one] for one in moved] or [[] for _ in trace.stacks],
        "nothingMoved": "",
        "padding": 0,
        "canOmitPositions": False,
        "grammar": None,
        "guesses": None,
    } | ({"causal": True} if sees_nothing_later(unchanged or trace) else {})
