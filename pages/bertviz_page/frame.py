"""A view of bertviz as the picture of the page: which stacks and layers it gets, and what is too much for a browser.

Its stage saves it as a web page (assets/stage/pictures/toolbar.js); the weights that it draws and the code are offered below.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from pages.bertviz_page import texts, views
from pages.bertviz_page.framed import PATH, is_published, publish, secret_word
from pages.ui.export.attention import AttentionMap, weight_files
from pages.ui.export.computation import Computation, call, each, load_call, named, sentences_of
from pages.ui.export.menu import export_menu
from pages.ui.export.part import Part
from pages.ui.export.records import Export, PartNumbers
from pages.ui.export.texts import TITLE_WITHOUT_STAGE
from pages.ui.shell import cache, controls
from pages.ui.shell.address import set_values, value_of
from pages.ui.shell.fields import StageFields, choice_field
from pages.ui.stage.browser_texts import CONTROLS
from pages.ui.stage.charts import Drawing as ChartDrawing
from pages.ui.stage.controls import Control, numbered
from pages.ui.stage.inputs import SentenceInputs, input_fields, note_reading
from pages.ui.stage.pictures import Picture
from pages.ui.stage.texts import STACK_LABELS
from tx_core.engine.engine import Engine
from tx_core.errors import TextProblem
from tx_core.transformer.trace import AttentionStack, Trace

FIELDS = StageFields(
    own=(
        *input_fields(texts.FIRST_TEXT, "pair"),
        choice_field("picture", tuple(texts.VIEWS)),
        choice_field("stack", tuple(STACK_LABELS)),
    ),
    looks=views.FIELDS,
)
MAX_SENT_NUMBERS = 600_000
"""Numbers sent at once: twelve layers of twelve heads on 64 tokens, about 2 s until drawn on a small machine."""
MAX_MODEL_LINES = 150_000
"""Lines of the model view drawn at once, about 3 s: 32 tokens in twelve layers of twelve heads."""
MAX_LAYER_LINES = 200_000
"""Lines of one layer: 128 tokens in twelve heads, 3 to 4 s."""


@dataclass(frozen=True)
class Drawing:
    """A view of bertviz on a run.

    kinds: of attention, among which the reader chooses; one where all are in it. layer: the one layer that it holds, from 0;
    None for all.
    """

    view: str
    trace: Trace
    stacks: Sequence[AttentionStack]
    kinds: Sequence[str]
    layer: int | None
    address: str
    dark: bool
    notes: Sequence[str]

    @property
    def layers(self) -> int:
        """How many layers there are to choose from."""
        return len(self.stacks[0].weights)

    @property
    def partial(self) -> Mapping[str, Sequence[str]]:
        """The looks of which not all was sent, as `pictures_stage` takes them."""
        return {} if self.layer is None else {"layer": [str(self.layer + 1)]}

    @property
    def kind(self) -> str:
        """The one kind of attention that it shows; "" where it shows all there are."""
        return self.stacks[0].kind if len(self.stacks) < len(self.trace.stacks) else ""

    @property
    def picture(self) -> Picture:
        """The document in its frame."""
        title = texts.ALT.format(view=texts.VIEWS[self.view].lower(), tokens=len(self.trace.attention.query_tokens))
        drawn = range(self.layers) if self.layer is None else [self.layer]
        chart = {"kind": "framed", "title": title, "address": self.address, "view": self.view, "dark": self.dark}
        chart |= views.extent(self.view, self.stacks, drawn) | {"forgets": {"token": "0"}}  # none is opened of another text
        return Picture(ChartDrawing(chart, (), (), np.empty((0, 0))))

    @property
    def title(self) -> str:
        """Name the view, the one kind of attention or the one layer that it shows, and the model."""
        attention = STACK_LABELS[self.kind].lower() if self.kind else ""
        layer = "" if self.layer is None else texts.EXPORT_LAYER.format(layer=self.layer + 1)
        parts = texts.EXPORT_TITLE.format(view=texts.VIEWS[self.view]), attention, layer, controls.model_title(self.trace.model)
        return ", ".join(filter(None, parts))


def view_part(inputs: SentenceInputs, engine: Engine) -> Part:
    """Draw the view that is asked for, explain it, and offer its weights and their code. Raises ExplorerError."""
    page = inputs.page
    drawing = draw_view(page, inputs, engine)
    trace, layer = drawing.trace, 0 if drawing.layer is None else drawing.layer + 1
    note_reading(inputs, trace, drawing.notes)
    numbers = PartNumbers(drawing.title, inputs.about(attention=drawing.kind, layer=layer), ())
    return Part(
        [drawing.picture],
        numbers,
        [texts.DESCRIPTIONS[drawing.view]],
        lambda: show_below(page, drawing, numbers),
        partial=drawing.partial,
        notes=[texts.EXPORT_COUNTED_FROM_0],
        controls=view_controls(drawing),
    )


def draw_view(page: str, inputs: SentenceInputs, engine: Engine) -> Drawing:
    """Run the model, and draw the view that is asked for.

    Raises ExplorerError where the text cannot be read, or the drawing would be too much for a browser.
    """
    view = value_of(page, "picture")
    keep = ("weights", "query", "key", "scores") if view == "neuron" else ("weights",)
    trace, notes = cache.trace_with(engine, inputs.text, inputs.pair, keep=keep), []
    kinds = kinds_offered(view, trace)
    if value_of(page, "stack") not in kinds:
        set_values(page, {"stack": kinds[0]})
    stacks = [one for one in trace.stacks if not kinds[1:] or one.kind == value_of(page, "stack")]
    if len(kinds) < len(trace.stacks) and kinds[1:]:
        notes.append(texts.NO_CROSS_ATTENTION)
    layers = len(stacks[0].weights)
    single = one_layer_only(view, stacks)
    if (layer := value_of(page, "layer")) > layers:
        notes.append(texts.LAST_LAYER.format(layers=layers, layer=layer))
        set_values(page, {"layer": layers})
    if single:
        notes.append(texts.ONE_LAYER.format(layers=layers))
    only, dark = value_of(page, "layer") - 1 if single else None, st.context.theme.type == "dark"
    return Drawing(view, trace, stacks, kinds, only, f"{PATH}/{_published(view, trace, stacks, only, dark)}", dark, notes)


def kinds_offered(view: str, trace: Trace) -> list[str]:
    """Return the kinds of attention to choose from: one where bertviz draws all together."""
    counts = {len(stack.weights) for stack in trace.stacks}
    if view != "neuron" and len(counts) == 1:
        return [trace.stacks[0].kind]
    return [stack.kind for stack in trace.stacks if view != "neuron" or stack.kind != "cross"]


def view_controls(drawing: Drawing | None = None) -> list[Control]:
    """Return the controls of the stage: the view, and where there are several, the kind of attention and the layer."""
    found = [Control("picture", "segments", texts.ASK_VIEW, tuple(texts.VIEWS.items()), apart=True)]
    if drawing and drawing.kinds[1:]:
        found.append(Control("stack", "list", CONTROLS["stack"], tuple((kind, STACK_LABELS[kind]) for kind in drawing.kinds)))
    if drawing and drawing.layer is not None:
        found.append(Control("layer", "list", CONTROLS["layer"], numbered(drawing.layers, CONTROLS["layerNumber"])))
    return found


def show_below(page: str, drawing: Drawing, about: PartNumbers) -> None:
    """Explain the numbers of the view, and offer the weights that are drawn and the code that computes them."""
    st.caption(texts.COUNTED_FROM_0)
    if drawing.view == "neuron" and has_bias(drawing.stacks[0]):
        st.caption(texts.BIAS)
    export_menu(page, {texts.VIEWS[drawing.view]: lambda: bertviz_export(drawing, about)}, TITLE_WITHOUT_STAGE)


def has_bias(stack: AttentionStack) -> bool:
    """Return whether scores are more than scaled products of queries and keys: T5 adds a bias by distance."""
    scales = np.array(stack.scales or (stack.query.shape[-1] ** -0.5,) * len(stack.query))
    products = stack.query @ stack.key.swapaxes(-1, -2) * scales[:, None, None, None]
    return not np.allclose(products, stack.scores, rtol=1e-3, atol=1e-3)


def _published(view: str, trace: Trace, stacks: Sequence[AttentionStack], only: int | None, dark: bool) -> str:
    """Return the word under which the drawing is published. only: the one layer that it holds, None for all."""
    read = trace.attention.query_tokens
    kinds = [stack.kind for stack in stacks]
    word = secret_word(trace.model, trace.device, read.text, read.pair, read.special_tokens, view, kinds, only, dark)
    if not is_published(word):
        try:
            publish(word, views.draw(view, stacks, None if only is None else [only], dark=dark))
        except ValueError as full:
            raise TextProblem(texts.TOO_LARGE) from full
    return word


def one_layer_only(view: str, stacks: Sequence[AttentionStack]) -> bool:
    """Whether all layers at once would be too heavy for a browser. Raises TextProblem if a single layer would be, too."""
    cells = sum(stack.weights[0].size for stack in stacks)  # of a layer
    sent = 2 * cells if view != "neuron" and any(1 in stack.query_tokens.segments for stack in stacks) else cells
    if view == "neuron":
        sent += stacks[0].query[0].size + stacks[0].key[0].size
    lines = stacks[0].weights[0, 0].size if view == "neuron" else cells
    if sent > MAX_SENT_NUMBERS or lines > MAX_LAYER_LINES:
        _, heads, queries, keys = max((stack.weights.shape for stack in stacks), key=lambda shape: shape[2] * shape[3])
        raise TextProblem(texts.TOO_HEAVY.format(heads=heads, queries=queries, keys=keys))
    layers = len(stacks[0].weights)
    return sent * layers > MAX_SENT_NUMBERS or (view == "model" and lines * layers > MAX_MODEL_LINES)


def bertviz_export(drawing: Drawing, about: PartNumbers) -> Export:
    """Return data and code of a drawing."""
    trace, kinds = drawing.trace, [stack.kind for stack in drawing.stacks]
    tables = {
        STACK_LABELS[stack.kind]: weight_files(
            AttentionMap(trace, tuple(np.ndindex(stack.weights.shape[:2])), stack.kind), everything=True
        )
        for stack in drawing.stacks
    }
    return Export(replace(about, shown=numbers(trace, kinds)), tables)


def numbers(trace: Trace, kinds: Sequence[str]) -> list[Computation]:
    """Return the computation of every weight."""
    read, every = trace.attention.query_tokens, [stack.kind for stack in trace.stacks]
    run = named("trace", load_call(trace.model, read.special_tokens).trace(*sentences_of(read)))
    if len(kinds) == 1:
        stack = run.stacks[every.index(kinds[0])]
        return [stack.query_tokens.tokens, stack.key_tokens.tokens, named("weights", stack.weights).shape]
    weights = named("weights", call(dict, each(run.stacks, lambda stack: (stack.kind, stack.weights))))
    return [each(weights.items(), lambda item: (item[0], item[1].shape))]
