"""What is said of the parts of a block before anything is drawn: text, equation and code."""

from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.shell.source_code import show_source
from tx_core.lessons import bert_steps, residual_stream
from tx_core.transformer import attention, bert, encoder, layers

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.engine.bert_engine import BertEngine


def embeddings(engine: "BertEngine") -> None:
    """Token, position and segment."""
    st.markdown(
        "A token comes in as a number. Three tables are looked up: one row for the **word**, one for the **position** it "
        "stands at, one for the **segment**, the sentence it belongs to. The three are added up and normed. That is all that "
        "the first block gets to know."
    )
    st.latex(r"x_t = \text{LayerNorm}\bigl(W[\text{id}_t] + P[t] + S[s_t]\bigr)")
    show_source(bert.BertEmbeddings)


def heads(engine: "BertEngine") -> None:
    """One head, many heads, concatenation, projection."""
    size, count = engine.model.config.hidden_size, engine.num_heads
    width = size // count
    st.markdown(
        f"One **head** squeezes the {size} numbers of a token into {width} and attends with these. So the block has {count} of "
        f"them, each with projections of its own. Their answers are laid **end to end**, {count} × {width} = {size} numbers "
        "again, and the **output projection** mixes them."
    )
    st.latex(r"\text{head}_h = \text{softmax}\!\left(\frac{Q_h K_h^\top}{\sqrt{" + str(width) + r"}}\right) V_h\;")
    st.latex(r"\text{output} = [\,\text{head}_1 \mid \dots \mid \text{head}_{" + str(count) + r"}\,]\; W + b")
    show_source(layers.MultiHeadAttention, attention.split_heads, attention.merge_heads)


def feed_forward(engine: "BertEngine") -> None:
    """Widen, bend, narrow, and the same as a convolution."""
    config = engine.model.config
    st.markdown(
        "Attention has moved information between tokens; **feed-forward** works on each token by itself. A linear layer makes "
        f"{config.intermediate_size:,} numbers of {config.hidden_size}, a bend lets the positive ones through, a second linear "
        "layer goes back. Every position is treated alike, so this is also a **convolution of width 1** over the sentence."
    )
    st.latex(r"\text{FFN}(x) = \text{GELU}(x W_1 + b_1)\, W_2 + b_2\;")
    st.latex(r"\text{GELU}(z) = z\,\Phi(z)")
    st.latex(r"\text{ReLU}(z) = \max(0, z)")
    show_source(layers.FeedForward, layers.gelu, bert_steps.feed_forward_as_convolution)


def norm(engine: "BertEngine") -> None:
    """Layer norm by hand."""
    st.markdown(
        "Numbers that are added up block after block would drift. **Layer norm** brings every token's vector back: take its mean "
        "away, divide by its standard deviation, then stretch and shift each dimension by what the model learned (γ and β)."
    )
    st.latex(r"y_i = \gamma_i\,\frac{x_i - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta_i \qquad \varepsilon = 10^{-12}")
    st.latex(r"\mu = \tfrac{1}{d}\textstyle\sum_i x_i \quad \sigma^2 = \tfrac{1}{d}\textstyle\sum_i (x_i - \mu)^2")
    show_source(layers.layer_norm, bert_steps.norm_steps)


def depth(engine: "BertEngine") -> None:
    """Pre-norm, post-norm, skip connections."""
    st.markdown(
        "A part of a block does not replace what it reads, it **adds** to it: the skip connection. The norm can stand after the "
        "sum (**post-norm**, as in BERT) or before the part (**pre-norm**, as in GPT-2 and later models). With two or three "
        "blocks that hardly matters; with 24 it does."
    )
    st.latex(r"\text{post-norm: } x \leftarrow \text{LayerNorm}\bigl(x + \text{part}(x)\bigr)")
    st.latex(r"\text{pre-norm: } x \leftarrow x + \text{part}\bigl(\text{LayerNorm}(x)\bigr)")
    show_source(layers.EncoderBlock, residual_stream.without_skips)


def journey(engine: "BertEngine") -> None:
    """A word's vector from block to block."""
    st.markdown(
        "The encoder is embeddings and blocks in a row, and it has **a vector for every token at every depth**. Follow a few "
        "tokens: how far has a vector turned away from what it was at the start, and how much does each block turn it?"
    )
    st.latex(r"h^{(0)} = \text{Embeddings}(\text{text})")
    st.latex(r"h^{(\ell)} = \text{Block}_\ell\bigl(h^{(\ell-1)}\bigr)")
    st.latex(r"\cos(a, b) = \frac{a \cdot b}{\lVert a \rVert\,\lVert b \rVert}")
    show_source(encoder.Encoder, residual_stream.word_journey)
