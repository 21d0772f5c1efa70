"""What stands below the stage: the part in words, its formula and code, its numbers, and every tensor of the model."""

from collections.abc import Callable, Sequence
from dataclasses import asdict

import streamlit as st

from pages.bert import texts
from pages.bert.compare import TwoRuns, differences
from pages.bert.inputs import LABEL_HEADS, PAGE, TRAINED, BertInputs, chosen_head
from pages.ui.export.computation import Computation, call, each, load_call, named
from pages.ui.export.menu import offer_drawings
from pages.ui.export.records import PartNumbers
from pages.ui.shell.address import widget_key
from pages.ui.shell.frame import show_source
from pages.ui.shell.level import is_hidden, show_formula
from pages.ui.shell.numbers import small_number
from pages.ui.stage import charts
from pages.ui.stage.charts import Drawing
from pages.ui.stage.sources import reading, source
from tx_core.engine import catalogue
from tx_core.engine.bert_engine import BertEngine
from tx_core.lessons import families, parity, untrained
from tx_core.lessons.bert_parts import tensor_shapes
from tx_core.lessons.labels import FINE_TUNED, label_shares
from tx_core.transformer import bert

LARGER = "bert-base-uncased"
"""The model whose size the page names beside the built-in one's."""
FROM_0 = "layer and head, counted from 0"
EQUATIONS = {
    "compare": (texts.COMPARE_EQUATION,),
    "random": (texts.RANDOM_EQUATION,),
    "labels": texts.LABELS_EQUATIONS,
    "family": (texts.FAMILY_EQUATION,),
}
SOURCES = {
    "compare": (bert.Bert, bert.BertEmbeddings, bert.MaskedWordHead),
    "random": (bert.random_bert,),
    "labels": (bert.LabelHead, bert.Pooler, bert.first_token, bert.every_token, bert.max_pooled, bert.max_pool),
    "family": (families.Sizes,),
}


def explain_part(inputs: BertInputs, draw_rest: Callable[[], None]) -> None:
    """Explain the part in words, draw the rest of it, and show its formula and its code."""
    with st.container(key=widget_key(PAGE, "prose")):
        st.markdown(texts.INTRODUCTIONS[inputs.part])
    draw_rest()
    if not is_hidden("formulas"):
        with st.expander(texts.FORMULA, icon=":material/function:"):
            for equation in EQUATIONS[inputs.part]:
                show_formula(equation)
            if inputs.part == "family":
                st.caption(texts.FAMILY_EQUATION_NOTE)
    show_source(*SOURCES[inputs.part])


def show_differences(inputs: BertInputs, engine: BertEngine, runs: TwoRuns) -> None:
    """Show how far ours and the library's are apart, part by part."""
    if runs.other is None:
        return
    found = differences(inputs, engine)
    hidden, weights, logits = st.columns(3)
    hidden.metric(texts.MAX_HIDDEN, small_number(max(found.hidden)))
    weights.metric(texts.MAX_WEIGHTS, small_number(max(found.weights)))
    logits.metric(texts.MAX_LOGITS, small_number(found.logits))
    box = st.expander(texts.DIFFERENCES, icon=":material/table:", key=widget_key(PAGE, "differences"), on_change="rerun")
    if not box.open:
        return
    places = [texts.EMBEDDINGS, *(texts.LAYER_ROW.format(number=number + 1) for number in range(engine.info.num_layers))]
    rows = zip(places, map(small_number, found.hidden), ["", *map(small_number, found.weights)], strict=True)
    with box:
        st.dataframe([dict(zip(texts.DIFFERENCE_COLUMNS, row, strict=True)) for row in rows], hide_index=True)


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


def export_part(inputs: BertInputs, drawn: Callable[[], Sequence[Drawing]]) -> None:
    """Offer the numbers, data and code of the part. drawn: makes what it draws."""
    offer_drawings(PAGE, lambda: part_numbers(inputs), drawn)


def drawings_of(runs: TwoRuns) -> list[Drawing]:
    """Return both maps of the head and what differs between them, for a table and for export."""
    layer, head = chosen_head()
    stack = runs.trace.attention
    tokens, ours = stack.query_tokens.tokens, stack.weights[layer, head]
    maps = [(runs.states["after"], "weights", ours)]
    if runs.other is not None:
        theirs = runs.other.weights[layer, head]
        maps += [(runs.states["before"], "weights", theirs), (runs.states["difference"], "signed", ours - theirs)]
    return [charts.matrix_drawing(title, kind, cells, tokens, tokens) for title, kind, cells in maps]


def part_numbers(inputs: BertInputs) -> PartNumbers:
    """Return what the part computes, for export."""
    special, (layer, head) = not inputs.bare, chosen_head()
    shown, used = NUMBERS[inputs.part](inputs, load_call(inputs.model, special))
    named_values = {"layer": layer + 1, "head": head + 1, "seed": inputs.seed, "kind": inputs.kind, "labels": inputs.labels}
    pair = {"pair": inputs.pair} if inputs.pair else {}
    values = {name: named_values[name] for name in used}
    about = source(inputs.model, text=inputs.text, **pair, **reading(special), **values)
    title = texts.EXPORT_TRAINED if inputs.model == FINE_TUNED else texts.EXPORT_TITLES[inputs.part]
    return PartNumbers(title.format(**named_values), about, shown, texts.EXPORT_RESULTS[inputs.part])


Shown = tuple[Sequence[Computation], tuple[str, ...]]
"""What is shown, and the settings that it depends on."""


def _compare(inputs: BertInputs, engine: Computation) -> Shown:
    place, checkpoint = chosen_head(), call(getattr, catalogue, "MODELS").joinpath(catalogue.DEFAULT)
    both = named("both", call(parity.compare_with_library, engine, checkpoint, *inputs.sentences))
    ours, theirs = (named(name, getattr(both, name)[place], FROM_0) for name in ("ours", "theirs"))
    return [both.hidden, both.weights, both.logits, ours - theirs], ("layer", "head")


def _random(inputs: BertInputs, engine: Computation) -> Shown:
    place = chosen_head()
    engines = [engine, named("untrained", call(untrained.untrained_engine, engine, inputs.seed))]
    weights = each(engines, lambda one: one.trace(*inputs.sentences).attention.weights[place])
    return [named("weights", weights, FROM_0)], ("layer", "head", "seed")


def _labels(inputs: BertInputs, engine: Computation) -> Shown:
    trace = named("trace", engine.trace(*inputs.sentences, keep=("hidden",)))
    if inputs.kind == TRAINED:
        logits = named("logits", engine.label_logits(trace.hidden[-1]))
        return [logits, named("shares", call(label_shares, logits))], ()
    asked = LABEL_HEADS[inputs.kind], inputs.labels, inputs.seed
    scores = named("scores", call(untrained.predict_labels, trace, *asked))
    shares = named("shares", scores.shares.reshape(-1, scores.shares.shape[-1]))
    return [scores.logits, shares], ("kind", "labels", "seed")


NUMBERS: dict[str, Callable[[BertInputs, Computation], Shown]] = {"compare": _compare, "random": _random, "labels": _labels}
