"""BERT's successors: what each family changed, its sizes, and its attention on the reader's sentence."""

import pandas
import streamlit as st

from pages.bert import texts
from pages.ui.export.attention import attention_exports
from pages.ui.export.menu import export_menu
from pages.ui.panels.attention_panel import attention_panel
from pages.ui.panels.view_options import drop_missing
from pages.ui.shell import cache, controls
from pages.ui.shell.address import widget_binding, widget_key
from pages.ui.shell.frame import explain, show_engine
from pages.ui.shell.numbers import whole_percent
from pages.ui.shell.source_code import show_source
from tx_core.engine.bert_engine import BertEngine
from tx_core.errors import ExplorerError
from tx_core.lessons import families
from tx_core.lessons.families import FAMILIES


def introduce(engine: BertEngine) -> None:
    """Say what the successors of BERT changed, and show how their parameters are counted."""
    st.markdown(texts.FAMILY)
    st.latex(texts.FAMILY_EQUATION)
    st.caption(texts.FAMILY_EQUATION_NOTE)
    show_source(families.Sizes)


def draw_family(page: str, engine: BertEngine, text: str, pair: str) -> None:
    """Let the reader choose a family, and show what it changed, its sizes and its attention."""
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
            trace = cache.trace(chosen.name, text, pair)
    except ExplorerError as problem:
        explain(problem)
        return
    show_engine(st.empty(), chosen.title, trace.device)
    stack = trace.attention
    for missing in drop_missing(page, *stack.weights.shape[:3]):
        st.info(missing)
    shown = attention_panel(page, stack, (chosen.name, trace.device, text, pair))
    export_menu(page, attention_exports(page, trace, shown))
