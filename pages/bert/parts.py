"""The parts of the page on BERT: each is computed and drawn; what cannot be computed is raised before anything is drawn."""

from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np
import streamlit as st

from pages.bert import texts
from pages.bert.compare import bert_architecture, show_compared
from pages.bert.inputs import DIMENSIONS_SHOWN, FIELDS, LABEL_HEADS, PAGE, TRAINED, BertInputs, part_controls
from pages.ui.export.computation import call, engine_call, named
from pages.ui.export.part import Part, show_part
from pages.ui.export.records import PartNumbers
from pages.ui.shell import cache
from pages.ui.shell.address import widget_key
from pages.ui.shell.frame import page_link
from pages.ui.shell.numbers import whole_percent
from pages.ui.stage.charts import bars_drawing, listing_drawing
from pages.ui.stage.matrices import Matrix, MatrixNames, MatrixStep, MatrixSteps, Origin, cell_origin, operand
from pages.ui.stage.pictures import Picture
from tx_core.analysis.probabilities import probabilities
from tx_core.engine import catalogue
from tx_core.engine.bert_engine import BertEngine
from tx_core.lessons import families, untrained
from tx_core.lessons.bert_parts import tensor_shapes
from tx_core.lessons.families import FAMILIES
from tx_core.lessons.labels import head_input
from tx_core.transformer import bert
from tx_core.transformer.bert import random_head
from tx_core.transformer.trace import Trace

LARGER = "bert-base-uncased"
"""The model whose size the page names beside the built-in one's."""
LABEL_STEPS = (
    MatrixStep("read", texts.READ_SIGN, texts.READ, "vectors → read"),
    MatrixStep("logits", "· W + b", texts.LOGITS_TITLE, "read → logits", numbers=True),
    MatrixStep("shares", "softmax", texts.SHARES, "logits → shares", numbers=True),
)
LABEL_CODE = (bert.LabelHead, bert.Pooler, bert.first_token, bert.every_token, bert.max_pooled, bert.max_pool)


def labels_part(inputs: BertInputs, engine: BertEngine) -> None:
    """Compute what a classification head makes of the sentence, step by step."""
    trace = cache.trace_with(engine, *inputs.sentences, keep=("hidden",))
    read, matrices = trace.attention.query_tokens, _label_matrices(inputs, engine, trace)
    logits = next(one.values for one in matrices if one.name == "logits")
    shapes = {"hidden": (1, *trace.hidden.shape[1:]), "logits": (1, *logits.shape[inputs.kind != "every" :])}
    said = [texts.TRAINED_HEAD if inputs.kind == TRAINED else texts.UNTRAINED_HEAD, texts.LOGITS.format(**shapes)]
    if inputs.kind in (TRAINED, "first") and not read.special_tokens:
        said.append(texts.FIRST_TOKEN_READ.format(token=read.tokens[0]))
    shown = MatrixSteps(matrices, LABEL_STEPS, texts.TOKENS, "logits", inputs.text)
    pictures = [Picture(shown, " ".join(said)), *([_maxima(read.tokens, trace)] if inputs.kind == "max" else [])]
    part = Part(
        pictures,
        _label_numbers(inputs),
        [texts.LABELS],
        formulas=texts.LABELS_EQUATIONS,
        sources=LABEL_CODE,
        architecture=bert_architecture(engine.info.num_layers, lit="head", field=""),
    )
    show_part(PAGE, FIELDS, part, part_controls(inputs))


def _label_numbers(inputs: BertInputs) -> PartNumbers:
    trace = named("trace", engine_call(inputs).trace(*inputs.sentences, keep=("hidden",)))
    if inputs.kind == TRAINED:
        logits = named("logits", engine_call(inputs).label_logits(trace.hidden[-1]))
        return inputs.numbers([logits, named("shares", call(probabilities, logits))])
    asked = LABEL_HEADS[inputs.kind], inputs.labels, inputs.seed
    scores = named("scores", call(untrained.predict_labels, trace, *asked))
    shares = named("shares", scores.shares.reshape(-1, scores.shares.shape[-1]))
    return inputs.numbers([scores.logits, shares], "kind", "labels", "seed")


def _label_matrices(inputs: BertInputs, engine: BertEngine, trace: Trace) -> list[Matrix]:
    """Return the last hidden states, what the head reads of them, its logits, and their softmax."""
    hidden, tokens = trace.hidden[-1], trace.attention.query_tokens.tokens
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
    said = {"vectors": (texts.VECTORS, "", texts.VECTORS_ALT), "read": (texts.READ, "", texts.READ_ALT[inputs.kind])}
    of_tokens, of_rows = (MatrixNames(names, said, DIMENSIONS_SHOWN[1]) for names in (tokens, rows))
    vectors = of_tokens.by_token("vectors", hidden, group="vectors")
    what_it_reads = replace(of_rows.by_token("read", read, group="vectors"), row_kind="")

    def of_labels(name: str, title: str, formula: str, values: np.ndarray, origin: Origin, alt: str) -> Matrix:
        return Matrix(name, title, formula, values, rows, labels, "", "", origin, group=name, alt=alt)

    product = cell_origin("product", "read", "weight", bias=bias.tolist())
    return [
        vectors,
        what_it_reads,
        operand("weight", weight),
        of_labels("logits", texts.LOGITS_TITLE, "· W + b", logits, product, texts.LOGITS_ALT),
        of_labels("shares", texts.SHARES, "softmax", shares, cell_origin("shares", "logits", how="softmax"), texts.SHARES_ALT),
    ]


def _maxima(tokens: Sequence[str], trace: Trace) -> Picture:
    """Draw which token each dimension of the pooled vector is from."""
    counts = np.bincount(trace.hidden[-1].argmax(axis=0), minlength=len(tokens)).tolist()
    total, best = sum(counts), max(range(len(counts)), key=counts.__getitem__)
    shares = [count / total for count in counts]
    said = texts.MAXIMA.format(total=total, token=tokens[best], count=counts[best])
    details = [texts.MAXIMA_COUNT.format(count=count) for count in counts]
    drawing = bars_drawing(texts.MAXIMA_CHART, tokens, shares, limit=max(shares))
    return Picture(drawing, said, row=1, details=details)


def family_part(inputs: BertInputs, engine: BertEngine) -> None:
    """Compare the sizes of BERT and of what came after it, and lead to the attention of the one that is chosen."""
    chosen = FAMILIES[inputs.family]
    title = texts.FAMILY_TITLE.format(title=chosen.title, paper=chosen.paper)
    prose = [texts.FAMILY, "\n".join([title, "", *(f"- {change}" for change in chosen.changed)])]
    numbers = PartNumbers(chosen.title, {"text": inputs.text}, ())

    def lead_on() -> None:
        if chosen.name is not None:
            view = inputs.in_link(text=inputs.text, pair=inputs.pair) | {"model": chosen.name}
            page_link("attention", texts.SEE_ATTENTION.format(title=chosen.title), view, icon=":material/arrow_forward:")

    part = Part(
        [_sizes(inputs, engine)],
        numbers,
        prose,
        lead_on,
        [texts.FAMILY_EQUATION],
        texts.FAMILY_EQUATION_NOTE,
        sources=(families.Sizes,),
        architecture=bert_architecture(chosen.sizes.num_layers, field=""),
    )
    show_part(PAGE, FIELDS, part, part_controls(inputs))


def _sizes(inputs: BertInputs, engine: BertEngine) -> Picture:
    """Return a table of sizes, of which a click on a row chooses a model."""
    names = ("num_layers", "num_heads", "hidden_size", "vocab_size", "in_embeddings", "in_blocks", "parameters")
    numbers = [[getattr(family.sizes, name) for name in names] for family in FAMILIES.values()]
    rows = [[family.title, *(f"{number:,}" for number in row)] for family, row in zip(FAMILIES.values(), numbers, strict=True)]
    drawing = listing_drawing(texts.SIZES, ["", *texts.SIZE_COLUMNS], rows, np.array(numbers, np.float64))
    chosen = FAMILIES[inputs.family]
    share = whole_percent(chosen.sizes.parameters / FAMILIES["bert"].sizes.parameters)
    template = texts.PARAMETERS if inputs.family == "bert" else texts.PARAMETERS_OF_BERT
    said = f"{chosen.title}: {template.format(parameters=chosen.sizes.parameters, share=share)}"
    if chosen.name is None:
        tokens = len(engine.encode(*inputs.sentences))
        said += " " + texts.NOT_OFFERED.format(title=chosen.title, tokens=tokens, hidden=chosen.sizes.hidden_size)
    return Picture(drawing, said, chooses="family", choices=tuple(FAMILIES))


PARTS = {"compare": show_compared, "labels": labels_part, "family": family_part}


def show_tensors(engine: BertEngine) -> None:
    """List the configuration and every tensor of the model; built only when it is opened."""
    box = st.expander(texts.TENSORS, icon=":material/data_object:", key=widget_key(PAGE, "tensors"), on_change="rerun")
    if not box.open:
        return
    with box:
        config = asdict(engine.model.config)
        st.markdown(texts.CONFIGURATION.format(model=engine.title))
        st.dataframe({texts.FIELD: list(config), texts.VALUE: list(map(str, config.values()))}, hide_index=True)
        tensors = tensor_shapes(engine.model)
        st.markdown(texts.TENSORS_COUNTED.format(count=len(tensors), total=sum(size for _, _, size in tensors)))
        rows = [{texts.TENSOR: name, texts.SHAPE: " × ".join(map(str, shape)), texts.SIZE: size} for name, shape, size in tensors]
        st.dataframe(rows, hide_index=True, column_config={texts.SIZE: st.column_config.NumberColumn(format="localized")})


def explain_built_in(engine: BertEngine) -> None:
    """Explain why the page computes with the built-in model only, and link to pages that run BERT base."""
    ours = sum(parameter.nbytes for parameter in engine.model.parameters()) / 1e6
    st.caption(texts.BUILT_IN_ONLY.format(ours=ours, base=catalogue.card(LARGER).megabytes))
