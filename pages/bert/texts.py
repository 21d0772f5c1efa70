"""What is said of BERT before anything is drawn: text, equation and code."""

from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.shell.source_code import show_source
from tx_core.lessons import families
from tx_core.transformer import bert, heads

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.engine.bert_engine import BertEngine


def compare(engine: "BertEngine") -> None:
    """Ours and the library's, layer by layer."""
    st.markdown(
        "BERT is **embeddings, blocks and a head**. Here it is, whole: these lines ran wherever this app names the built-in "
        "model or another BERT. To show that nothing is missing, load the same checkpoint into the transformers library's own "
        "BERT, give both the same sentence, and compare every number of every layer."
    )
    st.latex(r"\max_{\text{token},\,i}\;\bigl|\,h^{\text{ours}}_{\text{token},i} - h^{\text{library}}_{\text{token},i}\,\bigr|\;")
    show_source(bert.Bert, bert.BertEmbeddings, bert.MaskedWordHead)


def random(engine: "BertEngine") -> None:
    """An untrained one beside the trained one."""
    st.markdown(
        "The same program with **random weights** is what BERT was before its first step of training. It runs just as well and "
        "knows nothing: every head spreads its attention evenly, every word is about as likely as any other. All that you see "
        "in a trained head was learned."
    )
    st.latex(r"w \sim \mathcal{N}(0,\ 0.02^2) \qquad b = 0\;")
    show_source(bert.random_bert)


def labels(engine: "BertEngine") -> None:
    """Heads for labels."""
    st.markdown(
        "The encoder gives a vector for every token. What is done with them is a **head**: a label for the sentence from the "
        "vector of [CLS], a label for every token, or a label from the greatest value of each dimension over all tokens."
    )
    st.latex(r"\text{logits} = W h_{\text{[CLS]}} + b")
    st.latex(r"\text{logits}_t = W h_t + b")
    st.latex(r"\text{logits} = W \max_t h_t + b\;")
    show_source(heads.LabelHead, heads.first_token, heads.every_token, heads.max_pooled, heads.max_pool)


def family(engine: "BertEngine") -> None:
    """What came after BERT."""
    st.markdown(
        "RoBERTa, ALBERT, ELECTRA and DistilBERT kept the blocks and changed what stands **around** them: the data, the task, "
        "what is shared, how deep. The attention that you see on these pages is the same in all of them."
    )
    st.latex(r"\text{block} = 4\,(d^2 + d) + 2\,d\,m + m + d + 4\,d\;")
    st.caption("The parameters of one block: d numbers a token, m of them inside feed-forward.")
    show_source(families.Sizes)
