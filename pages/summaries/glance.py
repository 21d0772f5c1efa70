"""All heads of a run at a glance: a table of layers × heads, coloured by what each head does."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages import contents
from pages.summaries import export
from pages.ui.canvas import head_kinds
from pages.ui.canvas.attention_view import heads_to_link
from pages.ui.canvas.head_cells import Cells, distance_cells, kind_cells, spread_cells
from pages.ui.canvas.head_table import HeadCell, LegendEntry, chosen_head, head_table
from pages.ui.export.menu import export_menu
from pages.ui.panels.choices import NO_EXPLANATION, ask_head, tell
from pages.ui.shell import cache
from pages.ui.shell.address import widget_binding, widget_key
from pages.ui.shell.controls import head_name
from pages.ui.shell.source_code import show_source
from tx_core.analysis import measures, patterns
from tx_core.errors import TextProblem

if TYPE_CHECKING:
    from tx_core.engine.engine import Engine
    from tx_core.transformer.trace import AttentionStack

COLOURS = {"pattern": "Kind of head", "entropy": "How widely it looks", "distance": "How far it looks"}


@dataclass(frozen=True)
class HeadSummary:
    """Everything that is said of the heads in one text; entropy from 0 (one token) to 1 (all alike), distance in tokens."""

    sums: patterns.PatternSums
    named: tuple[patterns.HeadPattern, ...]
    entropy: Float[np.ndarray, "layer head"]
    distance: Float[np.ndarray, "layer head"]

    @property
    def nbytes(self) -> int:
        """The memory of the numbers, in bytes."""
        return self.sums.nbytes + self.entropy.nbytes + self.distance.nbytes + 200 * len(self.named)


def summarise(stack: "AttentionStack") -> HeadSummary:
    """Name every head of a run and measure it, over the text's own tokens."""
    asked = ~np.array(stack.query_tokens.special)
    if not asked.any():
        raise TextProblem("This text holds special tokens only, and heads are told by what words do: type a word.")
    sums = patterns.pattern_sums(stack.weights, stack.query_tokens)
    own = [layer[:, asked] for layer in stack.weights]  # a layer at a time, for long texts
    apart = [measures.distance(layer)[:, asked].mean(axis=-1) for layer in stack.weights]
    wide = [measures.relative_entropy(layer).mean(axis=-1) for layer in own]
    return HeadSummary(sums, patterns.name_heads(sums), np.stack(wide), np.stack(apart))


def summary_of(page: str, model: str, device: str, text: str, pair: str, stack: "AttentionStack") -> HeadSummary:
    """Give the summary of a run, from the cache where it is known."""
    return cache.remember((page, "heads", model, device, text, pair or None), lambda: summarise(stack))


def glance(page: str, engine: "Engine", text: str, pair: str) -> None:
    """The table, the chosen head in words, all numbers."""
    trace = cache.trace(engine.name, text, pair)
    stack = trace.attention
    found = summary_of(page, engine.name, engine.device, text, pair, stack)
    st.markdown(
        "Every cell is a head. **Hue and word tell what it mostly does, depth of colour how clearly.** Choose one to read more."
    )
    st.segmented_control(
        "Colour by", list(COLOURS), format_func=COLOURS.get, required=True, **widget_binding(widget_key(page, "colour"))
    )
    drawn = _table(page, stack, found)
    _chosen(page, engine, text, pair, stack, found)
    _numbers(page, stack, found)
    show_source(patterns.kind_targets, patterns.pattern_sums, measures.entropy, measures.distance)
    tell(
        "The table tells where attention goes in this one text, by rules made by people; a head may do something else in another "
        f"text, and the rules know a few habits only. {NO_EXPLANATION}",
        trace,
    )
    sums = found.sums
    measured = {"spread": found.entropy, "distance": found.distance, "shares": sums.shares, "kinds": np.array(sums.kinds)}
    export_menu(page, {"All heads": lambda: export.glance_export(trace, *drawn, head_rows(stack, found), measured)})


def _table(
    page: str, stack: "AttentionStack", found: HeadSummary
) -> tuple[str, list[list[HeadCell]], list[LegendEntry], tuple[int, int]]:
    """Draw the table; give what it shows: by what it is coloured, in words, its cells, its legend and the chosen head."""
    name = widget_key(page, "table")
    layers, heads = found.entropy.shape

    def take() -> None:
        if (head := chosen_head(name, layers, heads)) is not None:
            st.session_state[widget_key(page, "heads")] = [head]

    colour = st.session_state[widget_key(page, "colour")]
    cells, legend = _cells(stack, found, colour)
    rows = [cells[start : start + heads] for start in range(0, len(cells), heads)]
    chosen = st.session_state[widget_key(page, "heads")][0]
    chosen = chosen if chosen[0] < layers and chosen[1] < heads else (0, 0)
    head_table(
        rows, legend, chosen, label=f"{COLOURS[colour]}: a row for each layer, a column for each head", key=name, on_choose=take
    )
    return COLOURS[colour], rows, legend, chosen


def _cells(stack: "AttentionStack", found: HeadSummary, colour: str) -> Cells:
    if colour == "pattern":
        return kind_cells(
            found.named,
            stack.query_tokens,
            lambda head: (f"{head.confidence:.2f}", head.confidence),
            lambda head: f", confidence {head.confidence:.2f}",
        )
    if colour == "entropy":
        return spread_cells(found.entropy)
    return distance_cells(found.distance, measures.even_distance(len(stack.query_tokens)))


def _chosen(page: str, engine: "Engine", text: str, pair: str, stack: "AttentionStack", found: HeadSummary) -> None:
    asked, told = st.columns([2, 5], gap="medium")
    with asked:
        layer, head = ask_head(page, *found.entropy.shape)
    looks = head_kinds.looks(stack.query_tokens)
    pattern = found.named[layer * found.entropy.shape[1] + head]
    with told:
        st.text(
            f"{head_name((layer, head))} looks at {looks[pattern.kind].aim} (confidence {pattern.confidence:.2f} of 1). "
            f"Second: {looks[pattern.second].aim} ({pattern.second_score:.2f}). "
            f"It spreads its attention to {found.entropy[layer, head]:.2f} of the widest possible, and looks "
            f"{found.distance[layer, head]:.1f} tokens away on average."
        )
        address = {"text": text, "pair": pair, "model": engine.name, "heads": heads_to_link([(layer, head)])}
        st.page_link(
            contents.page("attention").path,
            label="See this head in detail",
            icon=":material/zoom_in:",
            query_params={name: value for name, value in address.items() if value},
        )


def _numbers(page: str, stack: "AttentionStack", found: HeadSummary) -> None:
    opened = st.expander("The numbers as a table", key=widget_key(page, "numbers"), on_change="rerun")
    if opened.open:
        import pandas

        with opened:
            st.caption("Shares are of the attention of the text's own tokens; a link may count for two kinds.")
            st.dataframe(pandas.DataFrame(head_rows(stack, found)), hide_index=True)


def head_rows(stack: "AttentionStack", found: HeadSummary) -> Sequence[dict[str, object]]:
    """List the heads, one row each, with every number that is known of them."""
    looks, shares = head_kinds.looks(stack.query_tokens), found.sums.shares
    return [
        {
            "layer": head.layer + 1,
            "head": head.head + 1,
            "kind": looks[head.kind].word,
            "confidence": round(head.confidence, 3),
            "spread (0 to 1)": round(float(found.entropy[head.layer, head.head]), 3),
            "distance (tokens)": round(float(found.distance[head.layer, head.head]), 2),
        }
        | {
            f"to {looks[kind].word}": round(float(shares[head.layer, head.head, number]), 3)
            for number, kind in enumerate(patterns.AIMED)
        }
        for head in found.named
    ]
