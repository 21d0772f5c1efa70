"""The inside of an encoder-decoder of any sizes: its three masks, and every tensor of one run by its shape."""

from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.panels.training import size_problem
from pages.ui.shell import cache
from pages.ui.shell.address import number_field, widget_key

if TYPE_CHECKING:  # the core imports torch: the title is painted without it
    from tx_core.lessons.seq2seq_shapes import ShapesRun

SIZES = {
    "size_batch": ("Batch", 16, 1, 32),
    "source": ("Source tokens", 10, 1, 16),
    "target": ("Target tokens", 12, 1, 16),
    "pad_source": ("Padding in the source", 2, 0, 8),
    "pad_target": ("Padding in the target", 3, 0, 8),
    "hidden": ("Width", 512, 8, 512),
    "depth": ("Layers", 6, 1, 12),
    "split": ("Heads", 8, 1, 16),
    "words": ("Vocabulary", 100, 4, 1000),
}
FIELDS = tuple(number_field(name, usual, least, most) for name, (_, usual, least, most) in SIZES.items())
TEXT = """
Three attentions, three masks. The source's padding is hidden **twice**: from the encoder, and from the decoder when it looks
over. The target's mask also hides the future, or the decoder could read off the word that it should guess.
"""


def tell_masks() -> None:
    """Say what the three masks are for, in words, equations and code."""
    from pages.ui.shell.source_code import show_source
    from tx_core.transformer import decoder, masks, seq2seq

    st.markdown(TEXT)
    st.latex(r"M_S = M_C = P_{\text{source}}\;")
    st.latex(r"M_T = P_{\text{target}} \wedge \text{causal}\;")
    show_source(masks.padding_mask, masks.causal_mask, seq2seq.Seq2Seq.decode, decoder.DecoderBlock.forward)


def inside(page: str) -> None:
    """The three masks, and the shape of every tensor."""
    from pages.encoder_decoder import pictures

    with st.expander("Sizes", icon=":material/tune:"):
        columns = st.columns(3)
        for place, (name, (label, _, least, most)) in enumerate(SIZES.items()):
            columns[place % 3].number_input(f"{label} ({least} to {most})", least, most, key=widget_key(page, name))
    found = shapes(page)
    pictures.show_masks(page, found)
    st.markdown(f"Every tensor of one run, in the order in which they are made. **{found.parameters:,}** parameters.")
    pictures.show_shapes(found)


def shapes(page: str) -> "ShapesRun":
    """Run an encoder-decoder of the chosen sizes; raise TextProblem where they do not fit one another."""
    from tx_core.lessons import seq2seq_shapes
    from tx_core.transformer.config import Seq2SeqConfig

    held = {name: st.session_state[widget_key(page, name)] for name in SIZES}
    try:
        sizes = seq2seq_shapes.BatchSizes(
            held["size_batch"], held["source"], held["target"], held["pad_source"], held["pad_target"]
        )
        config = Seq2SeqConfig(
            vocab_size=held["words"],
            hidden_size=held["hidden"],
            num_layers=held["depth"],
            num_heads=held["split"],
            intermediate_size=4 * held["hidden"],
            max_positions=16,
            positions="sinusoidal",
            norm_first=False,
            activation="relu",
            layer_norm_eps=1e-5,
            dropout=0.0,
        )
    except ValueError as rule:
        raise size_problem(rule, {"hidden_size": "Width", "num_heads": "Heads"}) from rule
    return cache.remember((page, "shapes", *held.values()), lambda: seq2seq_shapes.run_shapes(config, sizes))
