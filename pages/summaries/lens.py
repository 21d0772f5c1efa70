"""What the model would answer at a token if it had to stop after each layer."""

from typing import TYPE_CHECKING

import pandas
import streamlit as st

from pages.summaries import export
from pages.ui.canvas.lines import depths, draw_lines
from pages.ui.export.menu import export_menu
from pages.ui.panels.attention_table import numbered
from pages.ui.panels.choices import ask_token, tell
from pages.ui.shell import cache
from pages.ui.shell.numbers import percent
from pages.ui.shell.source_code import show_source
from tx_core.analysis import logit_lens

if TYPE_CHECKING:
    from tx_core.engine.engine import Engine

TEXTS = {False: ("masked-word head", "at a blank"), True: ("head for the next token", "after a token")}
"""What the head is and where it answers, by whether it predicts what follows."""


def lens(page: str, engine: "Engine", text: str, pair: str) -> None:
    """A table of answers by layer, and the way of the final one."""
    head, where = TEXTS[engine.predicts_next]
    st.markdown(
        f"The {head} reads an answer off the vectors of the last layer. **Let it read those of every layer before**, "
        f"as if the model had to answer early: {where} one sees the answer come up."
    )
    st.latex(r"p_\ell = \mathrm{softmax}\bigl(\mathrm{head}(h_\ell)\bigr)")
    show_source(logit_lens.logit_lens)
    trace = cache.trace(engine.name, text, pair, keep=("hidden",))
    encoding = trace.attention.query_tokens
    place = ask_token(page, encoding, "Token", last=engine.predicts_next)
    found = cache.remember(
        (page, "lens", engine.name, engine.device, text, pair or None, place), lambda: logit_lens.logit_lens(engine, trace, place)
    )
    table = _table(found)
    st.dataframe(table, key=f"{page}_lens")
    label = numbered(encoding.tokens)[place]
    told = (
        f"{'After' if engine.predicts_next else 'At'} {label} the model's own answer, {found.answer}, has "
        f"{percent(float(found.probability[-1]))} after the last layer; it is first from {_first_from(found)} on."
    )
    st.text(told)
    series, most = {"probability": found.probability.tolist()}, float(found.probability.max())
    steps, limits = depths(engine.num_layers), (-0.04 * most, 1.08 * most)
    draw_lines(f"{page}_lens_line", "Probability of the final answer", steps, series, limits)
    tell(
        "The head was trained to read the last layer only: a strange word early on may mean that the layer speaks another "
        "language, not that it knows nothing. What a layer lets one read off need not be what later layers use "
        "(nostalgebraist 2020; Belrose et al. 2023)."
    )
    rows = [[name, *cells] for name, cells in zip(table.index, table.to_numpy().tolist(), strict=True)]
    export_menu(
        page,
        {"Early answers": lambda: export.lens_export(trace, found, ["", *table.columns], rows, steps, limits, told)},
    )


def _table(found: "logit_lens.LayerAnswers") -> pandas.DataFrame:
    rows = [f"after layer {depth}" if depth else "embeddings" for depth in range(len(found.words))]
    cells = [
        [f"{word} {percent(float(share))}" for word, share in zip(words, shares, strict=True)] + [f"{rank:,}"]
        for words, shares, rank in zip(found.words, found.shares, found.rank.tolist(), strict=True)
    ]
    columns = [f"{number}." for number in range(1, found.shares.shape[1] + 1)]
    return pandas.DataFrame(cells, index=rows, columns=[*columns, "rank of the final answer"])


def _first_from(found: "logit_lens.LayerAnswers") -> str:
    depth = len(found.rank)
    while depth and found.rank[depth - 1] == 1:
        depth -= 1
    return f"layer {depth}" if depth else "the embeddings"
