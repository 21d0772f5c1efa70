"""Six ways of telling positions: what is said of each, its formula, and the code that computes it."""

from collections.abc import Callable
from dataclasses import dataclass

from tx_core.lessons import position_encodings
from tx_core.transformer import positions, relative


@dataclass(frozen=True)
class Way:
    """What is said of a way to tell positions, and the functions that compute it."""

    name: str
    told: str
    formula: str
    code: tuple[Callable[..., object], ...]


WAYS = {
    "sinusoidal": Way(
        "Sinusoids",
        "Each pair of dimensions is a sine and a cosine of its own speed, from fast to very slow, like the hands of a clock. "
        "They are **added** to the word vectors. The original transformer (2017) **computed** them by this formula and never "
        "learned them; it tried a learned table as well, and found the results nearly the same.",
        r"\begin{gathered} P_{t,\,2i} = \sin\!\bigl(t / 10000^{2i/d}\bigr) \\ P_{t,\,2i+1} = \cos\!\bigl(t / 10000^{2i/d}\bigr)"
        r"\end{gathered}\;",
        (positions.sinusoids, positions.frequencies),
    ),
    "learned": Way(
        "Learned",
        "BERT has a table with one vector for each position, learned like the vectors of words and **added** to them. This is "
        "the real table of the model you choose. Positions after its last row do not exist for it.",
        r"x_t = W[\text{token}_t] + P[t]",
        (position_encodings.learned_table,),
    ),
    "shaw": Way(
        "Shaw",
        "Nothing is added to words. Each **distance** has a learned vector that the query is matched with, and all distances "
        "beyond 16 share one (Shaw et al. 2018). The vectors here are random, as before training.",
        r"s_{ij} = \frac{q_i \cdot (k_j + a_{j-i})}{\sqrt d}\;",
        (relative.clipped_distances, relative.shaw_bias),
    ),
    "t5": Way(
        "T5",
        "Distances are sorted into 32 **buckets**: near ones each have their own, far ones share. Each head adds one learned "
        "number for each bucket to its scores (Raffel et al. 2020). The numbers here are random, as before training.",
        r"s_{ij} = q_i \cdot k_j + b_{\text{bucket}(j - i)}\;",
        (relative.t5_buckets, relative.t5_bias),
    ),
    "rotary": Way(
        "Rotary",
        "Queries and keys are **turned**, pair by pair of dimensions, by an angle that grows with the position. When two meet, "
        "only the difference of their angles is left: the distance (Su et al. 2021; Llama and most newer models).",
        r"s_{ij} = \frac{(R_i\,q_i) \cdot (R_j\,k_j)}{\sqrt d} = \frac{q_i \cdot R_{j-i}\,k_j}{\sqrt d}\;",
        (relative.rotary_angles, relative.rotate),
    ),
    "alibi": Way(
        "ALiBi",
        "Each head takes something off a score for every token in between: some heads much, so that they look near, others "
        "little. Nothing is learned, and longer texts than in training still work (Press et al. 2022).",
        r"s_{ij} = \frac{q_i \cdot k_j}{\sqrt d} - m_{\text{head}}\,|i - j|\;",
        (relative.alibi_slopes, relative.alibi_bias),
    ),
}
