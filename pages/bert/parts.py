"""The parts of the page on BERT: beside Hugging Face's, beside an untrained one, with heads on top, and its successors."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas
import streamlit as st

from pages.bert import texts
from pages.ui.canvas import drawings, prefetch
from pages.ui.canvas.attention_view import Wall, attention_map, chosen_heads, head_wall
from pages.ui.canvas.charts import probability_chart, show_bars
from pages.ui.canvas.mask_grid import Heatmap, matrices
from pages.ui.canvas.packing import thumbnails
from pages.ui.export.attention import attention_exports
from pages.ui.export.computation import Computation, call, each, named
from pages.ui.export.lessons import PartCode, draw_and_export, part_numbers
from pages.ui.export.menu import export_menu
from pages.ui.panels.attention_panel import attention_panel
from pages.ui.panels.view_options import drop_missing
from pages.ui.shell import cache, controls, readiness
from pages.ui.shell.address import widget_binding, widget_key
from pages.ui.shell.controls import ask_option
from pages.ui.shell.frame import explain, show_engine, show_source
from pages.ui.shell.level import is_hidden, show_formula
from pages.ui.shell.numbers import small_number, whole_percent
from tx_core.engine import catalogue
from tx_core.engine.bert_engine import BertEngine
from tx_core.errors import ExplorerError
from tx_core.fill_mask import blanks, predictions
from tx_core.lessons import families, parity, untrained
from tx_core.lessons.families import FAMILIES
from tx_core.transformer import bert
from tx_core.transformer.trace import Trace

MAX_HEAD_SEEDS = 20
CHECKPOINT = catalogue.MODELS / catalogue.DEFAULT
LARGER = "bert-base-uncased"
"""The model whose size the page names beside the built-in one's."""
POLL_SECONDS = 0.5
LABEL_HEADS = {"first": "first token", "every": "every token", "max": "max-pooled"}
"""The heads of the core, by their names in the address."""


def explain_built_in(engine: BertEngine) -> None:
    """Explain why the page computes with the built-in model only, and link to pages that run BERT base."""
    ours = sum(parameter.nbytes for parameter in engine.model.parameters()) / 1e6
    st.caption(texts.BUILT_IN_ONLY.format(ours=ours, base=catalogue.card(LARGER).megabytes))


def introduce_comparison(engine: BertEngine) -> None:
    """Explain what BERT consists of, and show all its code."""
    st.markdown(texts.COMPARE)
    show_formula(texts.COMPARE_EQUATION)
    show_source(bert.Bert, bert.BertEmbeddings, bert.MaskedWordHead)


def draw_comparison(page: str, engine: BertEngine, text: str, pair: str) -> None:
    """Compare our BERT and Hugging Face's layer by layer, as soon as the library is there."""
    if library.status.state != "ready":
        _wait_for_library()
        return
    key = (page, "parity", cache.engine_key(engine), text, pair)
    differences = cache.get_or_compute(key, lambda: parity.compare_with_library(engine, CHECKPOINT, text, pair or None))
    hidden, weights, logits = st.columns(3)
    hidden.metric(texts.MAX_HIDDEN, small_number(max(differences.hidden)))
    weights.metric(texts.MAX_WEIGHTS, small_number(max(differences.weights)))
    logits.metric(texts.MAX_LOGITS, small_number(differences.logits))
    rows = [texts.EMBEDDINGS, *(texts.LAYER_ROW.format(number=number + 1) for number in range(engine.info.num_layers))]
    cells = zip(map(small_number, differences.hidden), ["", *map(small_number, differences.weights)], strict=True)
    st.dataframe(pandas.DataFrame(cells, index=rows, columns=texts.DIFFERENCE_COLUMNS), key=widget_key(page, "layers"))
    _side_by_side(page, differences)


def _load_library() -> readiness.Status:
    """Import transformers and run its BERT once, which takes seconds; later runs are fast."""
    engine = catalogue.load(catalogue.DEFAULT, weights=True)
    parity.compare_with_library(engine, CHECKPOINT, readiness.WARMUP_SENTENCE)
    return readiness.Status("ready", model=engine.title, device=engine.device)


library = readiness.Warmup(_load_library)
"""Hugging Face's BERT, loaded in the background when the first reader comes."""


def _wait_for_library() -> None:
    if library.status.state == "asleep":
        library.start()
    if library.status.state == "failed":
        st.text(texts.LIBRARY_FAILED)
    else:
        _watch_library()


@st.fragment(run_every=POLL_SECONDS)
def _watch_library() -> None:
    """Show a placeholder until the library is loaded, then rerun the page."""
    if library.status.state != "warming up":
        st.rerun()
    st.caption(f":material/hourglass_top: {texts.LOADING_LIBRARY}")
    st.skeleton()  # assets/page.css gives it the height of the comparison


def _side_by_side(page: str, differences: parity.Parity) -> None:
    layer, head = _choose_head(page, *differences.ours.shape[:2])
    ours, theirs = differences.ours[layer, head], differences.theirs[layer, head]
    tokens, largest = differences.encoding.tokens, small_number(float(np.abs(ours - theirs).max()))
    alt, note = (text.format(largest=largest) for text in (texts.DIFFERENCE_ALT, texts.DIFFERENCE_NOTE))
    drawn = [
        Heatmap(texts.THEIRS, "weights", theirs, texts.THEIRS_ALT, note=texts.ROWS_SUM_TO_1),
        Heatmap(texts.DIFFERENCE, "signed", ours - theirs, alt, note=note),
        Heatmap(texts.OURS, "weights", ours, texts.OURS_ALT, note=texts.ROWS_SUM_TO_1),
    ]  # where there is space for one only, it is the last
    matrices(tokens, tokens, drawn, key=widget_key(page, "parity"))


def _choose_head(page: str, num_layers: int, num_heads: int) -> tuple[int, int]:
    with st.container(horizontal=True, gap="medium"):
        st.segmented_control(texts.LAYER, range(1, num_layers + 1), required=True, **widget_binding(widget_key(page, "layer")))
        st.segmented_control(texts.HEAD, range(1, num_heads + 1), required=True, **widget_binding(widget_key(page, "head")))
    return _head(page)


def _head(page: str) -> tuple[int, int]:
    """Return the chosen (layer, head), counted from 0."""
    return st.session_state[widget_key(page, "layer")] - 1, st.session_state[widget_key(page, "head")] - 1


def introduce_untrained(engine: BertEngine) -> None:
    """Explain what an untrained BERT is, and show how its weights are drawn."""
    st.markdown(texts.RANDOM)
    show_formula(texts.RANDOM_EQUATION)
    show_source(bert.random_bert)


def draw_untrained(page: str, engine: BertEngine, text: str, pair: str) -> None:
    """Compare the trained BERT with an untrained one."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        _seed_input(page)
    untrained_one = untrained.untrained_engine(engine, st.session_state[widget_key(page, "seed")])
    runs = (("trained", engine), ("untrained", untrained_one))
    for column, (name, runner) in zip(st.columns(2, gap="large"), runs, strict=True):
        with column:
            st.subheader(texts.MODELS[name])
            _draw_attention(page, name, runner, text, pair)
            _draw_words(page, name, runner, text, pair)


def _seed_input(page: str) -> None:
    seed = widget_binding(widget_key(page, "seed"))
    st.number_input(texts.SEED, 1, MAX_HEAD_SEEDS, width=150, help=texts.SEED_HELP, **seed)


def _draw_attention(page: str, name: str, runner: BertEngine, text: str, pair: str) -> None:
    trace = cache.trace_with(runner, text, pair)
    weights, tokens = trace.attention.weights, trace.attention.query_tokens.tokens
    wall = widget_key(page, f"wall_{name}")
    layer, head = _head(page)

    def store_head() -> None:
        if chosen := chosen_heads(wall, *weights.shape[:2]):
            st.session_state[widget_key(page, "layer")], st.session_state[widget_key(page, "head")] = (
                number + 1 for number in chosen[-1]
            )

    shown_run = (page, cache.engine_key(runner), text, pair)
    small = cache.get_or_compute((*shown_run, "small"), lambda: thumbnails(weights))
    maps_path = prefetch.offer_head_maps(shown_run, weights)
    head_wall(small, [(layer, head)], scale="blues", key=wall, on_choose=store_head, maps_path=maps_path)
    shown = weights[layer, head]
    sizes = {"largest": shown.max(), "uniform": 1 / len(tokens)}
    description = texts.ATTENTION[name].format(layer=layer + 1, head=head + 1, **sizes)
    st.text(description)
    attention_map(
        tokens,
        tokens,
        shown,
        alt=description,
        scale="blues",
        strongest=30,
        show="heatmap",
        key=widget_key(page, f"map_{name}"),
        wall=Wall(wall, ((layer, head),), maps_path),
    )


def _draw_words(page: str, name: str, runner: BertEngine, text: str, pair: str) -> None:
    if pair or not blanks.text_parts(text) or not runner.encode(text).blanks:
        st.caption(texts.NO_BLANK)
        return
    words = predictions.predict(runner, text, top_k=5).blanks[0].predictions
    st.markdown(texts.LIKELY_WORDS)
    shares = [word.probability for word in words]
    chart = probability_chart(texts.LIKELY_WORDS_ALT[name], [word.piece for word in words], shares, limit=1.0)
    show_bars(chart, [word.sentence for word in words], key=widget_key(page, f"words_{name}"))


def introduce_labels(engine: BertEngine) -> None:
    """Explain what a classification head is, and show the code of three."""
    st.markdown(texts.LABELS)
    for equation in texts.LABELS_EQUATIONS:
        show_formula(equation)
    show_source(bert.LabelHead, bert.first_token, bert.every_token, bert.max_pooled, bert.max_pool)


def draw_labels(page: str, engine: BertEngine, text: str, pair: str) -> None:
    """Show what a classification head makes of the sentence."""
    counts = range(2, untrained.MAX_UNTRAINED_LABELS + 1)
    ask_option(texts.LABEL_KIND, texts.LABEL_KINDS, **widget_binding(widget_key(page, "kind")))
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        st.segmented_control(texts.LABEL_COUNT, counts, required=True, **widget_binding(widget_key(page, "labels")))
        _seed_input(page)
    kind, count, seed = (st.session_state[widget_key(page, name)] for name in ("kind", "labels", "seed"))
    trace = cache.trace_with(engine, text, pair, keep=("hidden",))
    scores = untrained.predict_labels(trace, LABEL_HEADS[kind], count, seed)
    st.info(texts.UNTRAINED_HEAD)
    read = trace.attention.query_tokens
    if kind == "first" and not read.special_tokens:
        st.text(texts.FIRST_TOKEN_READ.format(token=read.tokens[0]))
    st.markdown(texts.LOGITS.format(hidden=(1, *trace.hidden.shape[1:]), logits=tuple(scores.logits.shape)))
    _show_labels(page, trace, scores)
    if scores.wins:
        _draw_maxima(page, trace, scores.wins)


def _show_labels(page: str, trace: Trace, scores: untrained.LabelScores) -> None:
    tokens = trace.attention.query_tokens.tokens
    logits, shares = (part.reshape(-1, part.shape[-1]).numpy() for part in (scores.logits, scores.shares))
    rows = [texts.TOKEN_ROW.format(number=number + 1, token=token) for number, token in enumerate(tokens)]
    if len(logits) == 1 != len(tokens):
        rows = [texts.SENTENCE_ROW]
    numbers = range(1, logits.shape[1] + 1)
    columns = [name.format(number=number) for name in (texts.LOGIT_COLUMN, texts.SOFTMAX_COLUMN) for number in numbers]
    labels = [texts.LABEL_COLUMN.format(number=number) for number in numbers]
    drawings.note(lambda: [drawings.matrix_drawing(texts.LABEL_SHARES, "weights", shares, rows, labels)])
    table = pandas.DataFrame(np.hstack([logits, shares]), index=rows, columns=columns)
    st.dataframe(table.round(3), key=widget_key(page, "answers"))


def _draw_maxima(page: str, trace: Trace, counts: tuple[int, ...]) -> None:
    tokens, total = trace.attention.query_tokens.tokens, sum(counts)
    best = max(range(len(counts)), key=counts.__getitem__)
    st.text(texts.MAXIMA.format(total=total, token=tokens[best], count=counts[best]))
    shares = [count / total for count in counts]
    chart = probability_chart(texts.MAXIMA_CHART, tokens, shares, limit=max(shares))
    show_bars(chart, [texts.MAXIMA_COUNT.format(count=count) for count in counts], key=widget_key(page, "wins"))


def introduce_families(engine: BertEngine) -> None:
    """Explain what the successors of BERT changed, and show how their parameters are counted."""
    st.markdown(texts.FAMILY)
    show_formula(texts.FAMILY_EQUATION)
    if not is_hidden("formulas"):
        st.caption(texts.FAMILY_EQUATION_NOTE)
    show_source(families.Sizes)


def draw_family(page: str, engine: BertEngine, text: str, pair: str) -> None:
    """Draw the choice of a model family, and what it changed, its sizes and its attention."""
    st.segmented_control(
        texts.FAMILY_LABEL,
        list(FAMILIES),
        format_func=lambda name: FAMILIES[name].title,
        required=True,
        **widget_binding(widget_key(page, "family")),
    )
    name = st.session_state[widget_key(page, "family")]
    chosen = FAMILIES[name]
    title = texts.FAMILY_TITLE.format(title=chosen.title, paper=chosen.paper)
    st.markdown("\n".join([title, "", *(f"- {change}" for change in chosen.changed)]))
    _show_sizes(page, name)
    _show_attention(page, name, engine, text, pair)


def _show_sizes(page: str, name: str) -> None:
    rows = [
        (
            one.sizes.num_layers,
            one.sizes.num_heads,
            one.sizes.hidden_size,
            one.sizes.vocab_size,
            one.sizes.in_embeddings,
            one.sizes.in_blocks,
            one.sizes.parameters,
        )
        for one in FAMILIES.values()
    ]
    titles = [texts.CHOSEN_ROW.format(title=one.title) if other == name else one.title for other, one in FAMILIES.items()]
    st.dataframe(
        pandas.DataFrame(rows, index=titles, columns=texts.SIZE_COLUMNS),
        key=widget_key(page, "sizes"),
        column_config={column: st.column_config.NumberColumn(format="localized") for column in texts.SIZE_COLUMNS},
    )
    parameters = FAMILIES[name].sizes.parameters
    share = whole_percent(parameters / FAMILIES["bert"].sizes.parameters)
    sentence = texts.PARAMETERS if name == "bert" else texts.PARAMETERS_OF_BERT
    st.caption(sentence.format(parameters=parameters, share=share))


def _show_attention(page: str, name: str, engine: BertEngine, text: str, pair: str) -> None:
    chosen = FAMILIES[name]
    if chosen.name is None:
        tokens = len(engine.encode(text, pair or None))
        st.info(texts.NOT_OFFERED.format(title=chosen.title, tokens=tokens, hidden=chosen.sizes.hidden_size))
        return
    st.toggle(
        texts.LOAD.format(title=chosen.title),
        **widget_binding(widget_key(page, "load")),
        help=texts.LOAD_HELP,
    )
    if not st.session_state[widget_key(page, "load")]:
        return
    try:
        with controls.wait_for(chosen.name):
            reader = cache.engine(chosen.name, special_tokens=engine.tokenizer.special_tokens)
            trace = cache.trace_with(reader, text, pair)
    except ExplorerError as problem:
        explain(problem)
        return
    show_engine(st.empty(), chosen.title, trace.device)
    stack = trace.attention
    for missing in drop_missing(page, *stack.weights.shape[:3]):
        st.info(missing)
    shown = attention_panel(page, stack, (chosen.name, trace.device, reader.tokenizer.special_tokens, text, pair))
    export_menu(page, attention_exports(page, trace, shown))


EXPORTED_FIELDS = ("layer", "head", "seed", "kind", "labels")
FROM_0 = "layer and head, counted from 0"
Shown = tuple[Sequence[Computation], tuple[str, ...]]
"""What is shown, and the fields that it depends on."""


def with_export(part: str, draw: Callable[..., None]) -> Callable[..., None]:
    """Return `draw` followed by an export menu of what it drew."""

    def draw_part(page: str, engine: BertEngine, text: str, pair: str) -> None:
        engine.encode(text, pair or None)  # what cannot be read is explained at once, and needs no space
        with st.container(key=widget_key(page, f"{part}_part")):  # assets/page.css keeps the space of the comparison
            code = PartCode(texts.EXPORT_TITLES[part], texts.EXPORT_RESULTS[part], NUMBERS[part])
            asked = page, engine, text, pair
            draw_and_export(page, lambda: part_numbers(code, EXPORTED_FIELDS, *asked), draw, *asked)

    return draw_part


def _compare(values: dict, engine: Computation, sentences: tuple[str, ...]) -> Shown:
    place, checkpoint = (values["layer"] - 1, values["head"] - 1), call(getattr, catalogue, "MODELS").joinpath(catalogue.DEFAULT)
    both = named("both", call(parity.compare_with_library, engine, checkpoint, *sentences))
    ours, theirs = (named(name, getattr(both, name)[place], FROM_0) for name in ("ours", "theirs"))
    return [both.hidden, both.weights, both.logits, ours - theirs], ("layer", "head")


def _random(values: dict, engine: Computation, sentences: tuple[str, ...]) -> Shown:
    place = (values["layer"] - 1, values["head"] - 1)
    engines = [engine, named("untrained", call(untrained.untrained_engine, engine, values["seed"]))]
    weights = each(engines, lambda one: one.trace(*sentences).attention.weights[place])
    return [named("weights", weights, FROM_0)], ("layer", "head", "seed")


def _labels(values: dict, engine: Computation, sentences: tuple[str, ...]) -> Shown:
    trace = named("trace", engine.trace(*sentences, keep=("hidden",)))
    asked = LABEL_HEADS[values["kind"]], values["labels"], values["seed"]
    scores = named("scores", call(untrained.predict_labels, trace, *asked))
    shares = named("shares", scores.shares.reshape(-1, scores.shares.shape[-1]))
    return [scores.logits, shares], ("kind", "labels", "seed")


NUMBERS: dict[str, Callable[[dict, Computation, tuple[str, ...]], Shown]] = {
    "compare": _compare,
    "random": _random,
    "labels": _labels,
}
