"""What came after BERT: what each family changed, its sizes, and its attention on the reader's sentence."""

from typing import TYPE_CHECKING

import pandas
import streamlit as st

from pages.ui.panels.attention_panel import attention_panel
from pages.ui.panels.view_options import drop_missing
from pages.ui.shell import cache, controls
from pages.ui.shell.address import widget_binding, widget_key
from pages.ui.shell.frame import explain, show_engine
from tx_core.errors import ExplorerError
from tx_core.lessons.families import FAMILIES

if TYPE_CHECKING:
    from tx_core.engine.bert_engine import BertEngine


def family(page: str, engine: "BertEngine", text: str, pair: str) -> None:
    """Let the reader choose a family, and show what it changed, its sizes and its attention."""
    st.segmented_control(
        "Family",
        list(FAMILIES),
        format_func=lambda name: FAMILIES[name].title,
        required=True,
        **widget_binding(widget_key(page, "family")),
    )
    name = st.session_state[widget_key(page, "family")]
    chosen = FAMILIES[name]
    st.markdown(f"**{chosen.title}** ({chosen.paper})\n" + "".join(f"\n- {change}" for change in chosen.changed))
    _sizes(page, name)
    _attention(page, name, engine, text, pair)


def _sizes(page: str, name: str) -> None:
    rows = {
        ("→ " if other == name else "") + one.title: [
            one.sizes.num_layers,
            one.sizes.num_heads,
            one.sizes.hidden_size,
            one.sizes.vocab_size,
            one.sizes.in_embeddings,
            one.sizes.in_blocks,
            one.sizes.parameters,
        ]
        for other, one in FAMILIES.items()
    }
    columns = ["layers", "heads", "hidden", "vocabulary", "in embeddings", "in blocks", "parameters"]
    table = pandas.DataFrame.from_dict(rows, orient="index", columns=columns)
    st.dataframe(
        table,
        key=widget_key(page, "sizes"),
        column_config={column: st.column_config.NumberColumn(format="localized") for column in columns},
    )
    sizes = FAMILIES[name].sizes
    share = sizes.parameters / FAMILIES["bert"].sizes.parameters
    against = "" if name == "bert" else f", {share:.0%} of BERT base"
    st.caption(f"Counted from the published configuration, without heads and pooler: {sizes.parameters:,} parameters{against}.")


def _attention(page: str, name: str, engine: "BertEngine", text: str, pair: str) -> None:
    chosen = FAMILIES[name]
    if chosen.name is None:
        tokens = len(engine.encode(text, pair or None))
        st.info(
            f"{chosen.title} (1.3 GB) is not in the list of models here. On a sentence of {tokens} tokens its last hidden state "
            f"would be (1, {tokens}, {chosen.sizes.hidden_size:,}): {chosen.sizes.hidden_size:,} numbers for every token."
        )
        return
    st.toggle(
        f"Load {chosen.title} and show its attention on this sentence",
        **widget_binding(widget_key(page, "load")),
        help="It is fetched from the model hub, once, where the host can reach it.",
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
    attention_panel(page, stack, (chosen.name, trace.device, text, pair))
