"""What an encoder-decoder is, in words, equations and code."""

import streamlit as st

from pages.ui.shell.source_code import show_source

TEXT = """
The **encoder** reads the whole source, and every token of it may look at every other. The **decoder** writes the target one
token at a time: each token looks back at what is already written, then over at what the encoder made of the source, the
**cross-attention** (*S*: within the source, *T*: within the target, *C*: from target to source). Give it a task that needs no
data, such as copying numbers, and one can watch it find out where to look.
"""
EQUATION = r"""
\begin{aligned}
S &= \text{attend}(X,\, X,\, X)\;\\
T &= \text{attend}(Y,\, Y,\, Y \mid \text{causal})\;\\
C &= \text{attend}(T,\, S,\, S)\;
\end{aligned}\;
"""


def tell_task() -> None:
    """Say what an encoder-decoder is, in words, equations and code."""
    from tx_core.training import copy_task
    from tx_core.transformer import decoder, seq2seq

    st.markdown(TEXT)
    st.latex(EQUATION)
    show_source(seq2seq.Seq2Seq, decoder.DecoderBlock, copy_task.train, seq2seq.greedy_decode)
