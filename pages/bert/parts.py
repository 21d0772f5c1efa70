"""The parts of the page on BERT: each draws its stage, and returns what draws the rest of it below."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import streamlit as st

from pages.bert import texts
from pages.bert.below import drawings_of, export_part, part_numbers, show_differences
from pages.bert.compare import (
    BERT_STAGE,
    TwoRuns,
    about_runs,
    bert_architecture,
    compared_stage,
    run_compare,
    run_untrained,
    take,
)
from pages.bert.inputs import DIMENSIONS_SHOWN, FIELDS, LABEL_HEADS, PAGE, TRAINED, BertInputs, part_controls
from pages.ui.export.attention import attention_exports, shown_map
from pages.ui.export.menu import export_menu
from pages.ui.shell import cache, controls
from pages.ui.shell.address import value_of
from pages.ui.shell.frame import explain
from pages.ui.shell.numbers import whole_percent
from pages.ui.stage.charts import Drawing, bars_drawing, listing_chart, probability_chart
from pages.ui.stage.matrices import Matrix, MatrixStep, Product, Shares
from pages.ui.stage.mount import mount
from pages.ui.stage.packing import RunName, pack_runs, shown_layers
from pages.ui.stage.pictures import About, MatrixSteps, Picture, pictures_stage
from pages.ui.stage.view_options import drop_missing
from tx_core.engine.bert_engine import BertEngine
from tx_core.errors import ExplorerError
from tx_core.lessons.families import FAMILIES
from tx_core.lessons.labels import head_input
from tx_core.transformer.bert import random_head
from tx_core.transformer.trace import Trace

Below = Callable[[], None]
LABEL_STEPS = {
    "read": MatrixStep("read", texts.READ_SIGN, texts.READ, ("vectors", "read"), ("", "→"), ("read", "vectors")),
    "logits": MatrixStep("logits", "· W + b", texts.LOGITS_TITLE, ("read", "logits"), ("", "→"), ("logits",), numbers=True),
    "shares": MatrixStep("shares", "softmax", texts.SHARES, ("logits", "shares"), ("", "→"), ("shares",), numbers=True),
}


def draw_compare(inputs: BertInputs, engine: BertEngine) -> Below:
    """Draw ours and Hugging Face's."""
    runs = run_compare(inputs, engine)
    compared_stage(inputs, runs)

    def below() -> None:
        show_differences(inputs, engine, runs)
        st.markdown(texts.TASKS)
        export_part(inputs, partial(drawings_of, runs))

    return below


def draw_untrained(inputs: BertInputs, engine: BertEngine) -> Below:
    """Draw the trained BERT and an untrained one."""
    runs = run_untrained(inputs, engine)
    compared_stage(inputs, runs)
    return lambda: export_part(inputs, partial(drawings_of, runs))


def draw_labels(inputs: BertInputs, engine: BertEngine) -> Below:
    """Draw what a classification head makes of the sentence, step by step."""
    trace = cache.trace_with(engine, *inputs.sentences, keep=("hidden",))
    read, matrices = trace.attention.query_tokens, _label_matrices(inputs, engine, trace)
    logits = next(one.values for one in matrices if one.name == "logits")
    shapes = {"hidden": (1, *trace.hidden.shape[1:]), "logits": (1, *logits.shape[inputs.kind != "every" :])}
    said = [texts.TRAINED_HEAD if inputs.kind == TRAINED else texts.UNTRAINED_HEAD, texts.LOGITS.format(**shapes)]
    if inputs.kind in (TRAINED, "first") and not read.special_tokens:
        said.append(texts.FIRST_TOKEN_READ.format(token=read.tokens[0]))
    steps = [LABEL_STEPS[name] for name in ("read", "logits", "shares")]
    shown = MatrixSteps(matrices, steps, texts.TOKENS, first_step="logits", text=inputs.text)
    pictures = [Picture(shown, " ".join(said)), *([_maxima(read.tokens, trace)] if inputs.kind == "max" else [])]
    numbers = part_numbers(inputs)
    about = About(numbers.title, numbers.source, architecture=_drawn(engine.info.num_layers, "head"))
    pictures_stage(PAGE, FIELDS, part_controls(inputs), pictures, about)
    return lambda: export_part(inputs, lambda: [drawing for picture in pictures for drawing in picture.drawings])


def _drawn(layers: int, lit: str = "") -> Mapping[str, object]:
    """Return the architecture for a part without a block to choose."""
    return bert_architecture(layers, {}, lit=lit, field="")


def _label_matrices(inputs: BertInputs, engine: BertEngine, trace: Trace) -> list[Matrix]:
    """Return the last hidden states, what the head reads of them, its logits, and their softmax."""
    hidden, tokens = np.ascontiguousarray(trace.hidden[-1]), trace.attention.query_tokens.tokens
    head, labels = engine.model.label_head, engine.info.labels
    if inputs.kind != TRAINED:
        head = random_head(LABEL_HEADS[inputs.kind], hidden.shape[1], inputs.labels, inputs.seed)
        labels = tuple(texts.LABEL_COLUMN.format(number=number) for number in range(1, inputs.labels + 1))
    weight, bias = head.label.weight.detach().cpu().numpy().T, head.label.bias.detach().cpu().numpy()
    read = head_input(head, hidden)
    rows = tokens if inputs.kind == "every" else (texts.SENTENCE_ROW,)
    logits = np.ascontiguousarray(read @ weight + bias, np.float32)
    grown = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares = (grown / grown.sum(axis=1, keepdims=True)).astype(np.float32)
    dimensions = tuple(str(number) for number in range(1, hidden.shape[1] + 1))
    look = {"shown": DIMENSIONS_SHOWN[1], "group": "vectors"}
    return [
        Matrix("vectors", texts.VECTORS, "", hidden, tokens, dimensions, "token", "dimension", alt=texts.VECTORS_ALT, **look),
        Matrix("read", texts.READ, "", read, rows, dimensions, "", "dimension", alt=texts.READ_ALT[inputs.kind], **look),
        Matrix(
            "weight", "W", "", np.ascontiguousarray(weight), dimensions, labels, "dimension", "label", group="weight", shown=0
        ),
        Matrix(
            "logits",
            texts.LOGITS_TITLE,
            "· W + b",
            logits,
            rows,
            labels,
            "",
            "",
            Product("read", "weight", bias=tuple(bias.tolist())),
            group="logits",
            alt=texts.LOGITS_ALT,
        ),
        Matrix(
            "shares",
            texts.SHARES,
            "softmax",
            shares,
            rows,
            labels,
            "",
            "",
            Shares("logits"),
            group="shares",
            alt=texts.SHARES_ALT,
        ),
    ]


def _maxima(tokens: Sequence[str], trace: Trace) -> Picture:
    """Draw which token each dimension of the pooled vector is from."""
    counts = np.bincount(trace.hidden[-1].argmax(axis=0), minlength=len(tokens)).tolist()
    total, best = sum(counts), max(range(len(counts)), key=counts.__getitem__)
    shares = [count / total for count in counts]
    said = texts.MAXIMA.format(total=total, token=tokens[best], count=counts[best])
    details = [texts.MAXIMA_COUNT.format(count=count) for count in counts]
    drawing = bars_drawing(probability_chart(texts.MAXIMA_CHART, tokens, shares, limit=max(shares)))
    return Picture(drawing, said, row=1, details=details)


def draw_family(inputs: BertInputs, engine: BertEngine) -> Below:
    """Draw the sizes of BERT and of what came after it; of one that was loaded, its attention."""
    chosen = FAMILIES[inputs.family]
    loaded = inputs.load and chosen.name is not None and _loaded(inputs, chosen.name)
    if not loaded:
        about = About(chosen.title, {"text": inputs.text}, architecture=_drawn(chosen.sizes.num_layers))
        pictures_stage(PAGE, FIELDS, part_controls(inputs), [_sizes(inputs, engine)], about)

    def below() -> None:
        title = texts.FAMILY_TITLE.format(title=chosen.title, paper=chosen.paper)
        st.markdown("\n".join([title, "", *(f"- {change}" for change in chosen.changed)]))
        st.markdown(texts.THREE_FAMILIES)
        if loaded:
            export_menu(PAGE, attention_exports(shown_map(PAGE, loaded)))

    return below


def _sizes(inputs: BertInputs, engine: BertEngine) -> Picture:
    """Return a table of sizes, of which a click on a row chooses a model."""
    names = ("num_layers", "num_heads", "hidden_size", "vocab_size", "in_embeddings", "in_blocks", "parameters")
    numbers = [[getattr(family.sizes, name) for name in names] for family in FAMILIES.values()]
    rows = [[family.title, *(f"{number:,}" for number in row)] for family, row in zip(FAMILIES.values(), numbers, strict=True)]
    titles = tuple(family.title for family in FAMILIES.values())
    chart = listing_chart(texts.SIZES, ["", *texts.SIZE_COLUMNS], rows)
    drawing = Drawing(chart, titles, texts.SIZE_COLUMNS, np.array(numbers, np.float64))
    chosen = FAMILIES[inputs.family]
    share = whole_percent(chosen.sizes.parameters / FAMILIES["bert"].sizes.parameters)
    template = texts.PARAMETERS if inputs.family == "bert" else texts.PARAMETERS_OF_BERT
    said = f"{chosen.title}: {template.format(parameters=chosen.sizes.parameters, share=share)}"
    if chosen.name is None:
        tokens = len(engine.encode(*inputs.sentences))
        said += " " + texts.NOT_OFFERED.format(title=chosen.title, tokens=tokens, hidden=chosen.sizes.hidden_size)
    return Picture(drawing, said, chooses="family", choices=tuple(FAMILIES))


def _loaded(inputs: BertInputs, name: str) -> Trace | None:
    """Draw the attention of a model that is loaded for it; explain why where it cannot be."""
    try:
        with controls.wait_for(name):
            reader = cache.engine(name, special_tokens=not inputs.bare)
            trace = cache.trace_with(reader, inputs.text, inputs.pair)
    except ExplorerError as problem:
        explain(problem)
        return None
    for missing in drop_missing(PAGE, *trace.attention.weights.shape[:3]):
        st.info(missing)
    run = RunName(name, inputs.text, inputs.pair, inputs.bare)
    told = about_runs(inputs, TwoRuns(trace, None, texts.STATES["family"]))
    layers = shown_layers(trace, "self", value_of(PAGE, "heads"))

    def pack(header: Mapping[str, object]) -> bytes:
        return pack_runs({**header, **told(header)}, run, trace, None, layers)

    mount(PAGE, BERT_STAGE, FIELDS, pack, take)
    return trace


PARTS: dict[str, Callable[[BertInputs, BertEngine], Below]] = {
    "compare": draw_compare,
    "random": draw_untrained,
    "labels": draw_labels,
    "family": draw_family,
}
