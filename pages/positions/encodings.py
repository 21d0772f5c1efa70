"""The table of position encodings: what the page says of each, which controls it offers, and the code.

To add one, add it to the table of the core (`tx_core.lessons.position_encodings`), which computes it, and its entry here: the
page and its tests read both.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tx_core.lessons import position_encodings
from tx_core.lessons.position_encodings import SHAW_LIMIT, T5_BUCKETS
from tx_core.transformer import positions


@dataclass(frozen=True)
class EncodingView:
    """What the page says of an encoding of the core, and offers with it.

    Attributes:
        name: what its button says.
        formula: in LaTeX; 10000 in it stands for the chosen base.
        has_sizes: whether the reader chooses width and base.
        of_model: whether the vectors are those of a model, which the reader chooses.
        head_views: the views for which the reader chooses a head.
        curve_name: names a curve of what is added to scores.
        curve_note: explains these curves.
        max_curves: how many of them are drawn, None for all.
    """

    name: str
    text: str
    formula: str
    code: tuple[Callable[..., object], ...]
    map_title: str
    has_sizes: bool = False
    of_model: bool = False
    head_views: frozenset[str] = frozenset()
    curve_name: str = "head {number}"
    curve_note: str = "What each head adds to a score, by the distance from the query to the key (negative: the key comes first)."
    max_curves: int | None = None


ENCODING_VIEWS = {
    "sinusoidal": EncodingView(
        name="Sinusoids",
        text="Each pair of dimensions is a sine and a cosine with its own frequency, from fast to very slow, like the hands of "
        "a clock. They are **added** to the word vectors. The original transformer (2017) **computed** them and did not learn "
        "them; it also tried a learned table, with nearly the same results.",
        formula=r"\begin{gathered} P_{t,\,2i} = \sin\!\bigl(t / 10000^{2i/d}\bigr) \\ "
        r"P_{t,\,2i+1} = \cos\!\bigl(t / 10000^{2i/d}\bigr)\end{gathered}\;",
        code=(positions.sinusoids, positions.frequencies),
        map_title="The vector of each position",
        has_sizes=True,
    ),
    "learned": EncodingView(
        name="Learned",
        text="BERT has a table with one vector per position, learned like the word vectors and **added** to them. This is the "
        "actual table of the model that you choose. Positions after its last row do not exist for the model.",
        formula=r"x_t = W[\text{token}_t] + P[t]",
        code=(position_encodings.learned_table,),
        map_title="The vector of each position",
        of_model=True,
        head_views=frozenset({"effect"}),
    ),
    "shaw": EncodingView(
        name="Shaw",
        text="Nothing is added to words. Each **distance** has a learned vector that the query is matched with; on either side, "
        f"all distances from {SHAW_LIMIT} on share one (Shaw et al. 2018). The vectors here are random, as before training.",
        formula=r"s_{ij} = \frac{q_i \cdot (k_j + a_{j-i})}{\sqrt d}\;",
        code=(positions.clipped_distances, positions.shaw_bias),
        map_title=f"Distances, clipped at {SHAW_LIMIT}",
        curve_name="word {number}",
        curve_note="What each word adds to a score, by the distance from the query to the key (negative: the key comes first).",
        max_curves=2,
    ),
    "t5": EncodingView(
        name="T5",
        text=f"Distances are sorted into {T5_BUCKETS} **buckets**: short ones have their own, long ones share. Each head adds "
        "one learned number per bucket to its scores, which T5 does not divide by √d (Raffel et al. 2020). The numbers here are "
        "random, as before training.",
        formula=r"s_{ij} = q_i \cdot k_j + b_{\text{bucket}(j - i)}\;",
        code=(positions.t5_buckets, positions.t5_bias),
        map_title="The bucket of each distance",
        head_views=frozenset({"similarity", "effect"}),
    ),
    "rotary": EncodingView(
        name="Rotary",
        text="Queries and keys are **rotated**, pair by pair of dimensions, by an angle that grows with the position. In their "
        "dot product only the difference of the angles remains: the distance (Su et al. 2021; Llama and many newer models).",
        formula=r"s_{ij} = \frac{(R_i\,q_i) \cdot (R_j\,k_j)}{\sqrt d} = \frac{q_i \cdot R_{j-i}\,k_j}{\sqrt d}\;",
        code=(positions.rotary_angles, positions.rotate),
        map_title="Cosines, then sines, of the angles",
        has_sizes=True,
    ),
    "alibi": EncodingView(
        name="ALiBi",
        text="Each head lowers a score by the same amount for every step of distance: some heads by a lot, so that they attend "
        "to near tokens, others by little. Nothing is learned, and texts longer than in training still worked in its authors' "
        "tests (Press et al. 2022).",
        formula=r"s_{ij} = \frac{q_i \cdot k_j}{\sqrt d} - m_{\text{head}}\,|i - j|\;",
        code=(positions.alibi_slopes, positions.alibi_bias),
        map_title="What is added to each score",
        head_views=frozenset({"map", "similarity", "effect"}),
    ),
}
"""By the names that links give them, in the order of the buttons."""


LENGTHS = range(4, 129)
WIDTHS = range(4, 257, 2)
BASES = (10, 100, 1000, 10_000, 100_000)
MAX_DRAWN_DIMENSIONS = 8
