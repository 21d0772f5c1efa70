"""The two kinds of language models in one paragraph and two pictures, wherever a newcomer comes in."""

from collections.abc import Sequence
from html import escape
from itertools import accumulate, pairwise

import streamlit as st

from pages.ui.shell import texts
from pages.ui.shell.frame import page_link

TO_FILL = ("The", "dog", "___", "a", "cat")
TO_WRITE_ON = ("The", "dog", "chased", "a", "___")
"""The words of both pictures, each with one that is sought."""
SOUGHT = "___"
LETTER, GAP, TALLEST = 8.6, 14, 56  # pixels


def show_two_kinds() -> None:
    """Draw both pictures, each with what it shows, and the paragraph on both kinds."""
    with st.container(gap="small"):
        st.markdown(texts.TWO_KINDS)
        pictures = zip((TO_FILL, TO_WRITE_ON), texts.TWO_KINDS_PICTURES, strict=True)
        drawn = [f"<figure>{draw_arcs(words)}<figcaption>{said}</figcaption></figure>" for words, said in pictures]
        st.html(f'<div class="two-kinds">{"".join(drawn)}</div>')
        with st.container(horizontal=True, gap="small"):
            for key, label in texts.TWO_KINDS_LINKS.items():
                page_link(key, label, {}, icon=":material/arrow_forward:")


def draw_arcs(words: Sequence[str]) -> str:
    """Draw words with an arc to the one that is sought from each other one, in elements that `st.html` lets through."""
    ends = list(accumulate(LETTER * max(3, len(word)) + GAP for word in words))
    middles = [(start + end) / 2 for start, end in pairwise([0.0, *ends])]
    sought = middles[words.index(SOUGHT)]
    spans = [(min(one, sought), abs(one - sought)) for one in middles if one != sought]
    arcs = [
        f'<i style="left:{left:.0f}px;width:{wide:.0f}px;height:{min(TALLEST, 0.4 * wide):.0f}px"></i>' for left, wide in spans
    ]
    labels = [f'<span style="left:{one:.0f}px">{escape(word)}</span>' for one, word in zip(middles, words, strict=True)]
    alt = texts.ARCS_ALT.format(words=", ".join(word for word in words if word != SOUGHT))
    size = f"width:{ends[-1]:.0f}px"
    return f'<div role="img" aria-label="{escape(alt)}" style="{size}">{"".join(arcs)}{"".join(labels)}</div>'
