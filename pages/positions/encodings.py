"""The table of position encodings: what the page says of each, which controls it offers, and the code.

To add one, add it to the table of the core (`tx_core.lessons.position_encodings`), which computes it, and its entry here: the
page and its tests read both.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pages.positions import texts
from pages.ui.export.computation import Computation, call, each, evaluate, load_call, named
from pages.ui.export.records import PartNumbers
from pages.ui.stage.sources import source
from tx_core.engine import catalogue
from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.catalogue import DEFAULT
from tx_core.lessons import position_encodings
from tx_core.lessons.position_encodings import BIAS_HEADS, SHAW_LIMIT, T5_BUCKETS, PositionEncoding
from tx_core.transformer import positions


@dataclass(frozen=True)
class Choice:
    """What the reader chooses.

    Attributes:
        scheme: the key of an encoding.
        length: number of positions.
        width: number of dimensions.
        base: of the frequencies.
        head: of the model or of the bias, from 0.
        dims: dimensions whose waves are drawn, from 0.
        engine: the model that a learned table is taken from.
    """

    scheme: str
    length: int
    width: int
    base: float
    head: int
    dims: tuple[int, ...]
    engine: BertEngine

    @property
    def encoding(self) -> PositionEncoding:
        """The encoding in the table of the core."""
        return position_encodings.ENCODINGS[self.scheme]

    @property
    def _entry(self) -> Computation:
        return call(getattr, position_encodings, "ENCODINGS")[self.scheme]

    @property
    def vectors(self) -> Computation:
        """The vector of each position, for an encoding that has some."""
        return self._entry.vectors(self.length, self.width, self.base, load_call(self.engine.name))

    @property
    def pairs(self) -> Computation:
        """The class of each distance, or what one head adds to each score, for an encoding without vectors."""
        if self.encoding.distances:
            return self._entry.distances(self.length)
        return call(position_encodings.biases, self.scheme, self.length)[self.head]

    @property
    def scores(self) -> Computation:
        """The scores of a sentence of one word repeated, with what the encoding changes of them."""
        settings = self.scheme, self.length, self.width, self.base, self.head
        return call(position_encodings.encoding_scores, *settings, load_call(self.engine.name))

    @property
    def profile(self) -> Computation:
        """How similar two positions are, or their score, by their distance."""
        of_words = self.encoding.adds_to == "word vectors"
        pairs = call(positions.similarity, self.vectors) if of_words else self.scores.scores
        return call(position_encodings.distance_profile, pairs)

    def curves(self, most: int | None) -> Computation:
        """Return what each head, or each of the first `most` biases, adds to a score by distance."""
        added = call(position_encodings.biases, self.scheme, self.length)[:most]
        return each(added, lambda bias: call(position_encodings.distance_profile, bias).mean)

    def computed(self, computation: Computation) -> Any:
        """Run a computation with the engine that is loaded."""
        return evaluate(computation, engine=self.engine)


@dataclass(frozen=True)
class EncodingView:
    """What the page says of an encoding of the core, and offers with it.

    Attributes:
        name: what its button says.
        text: an explanation, in Markdown.
        formula: in LaTeX; 10000 in it stands for the chosen base.
        code: the functions that compute it.
        map_title: stands above its map.
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

    def num_heads(self, engine: BertEngine) -> int:
        """Count the heads that the reader can choose from."""
        return engine.info.num_heads if self.of_model else position_encodings.BIAS_HEADS


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
        "dot product only the difference of the angles remains: the distance (Su et al. 2021; Llama and most newer models).",
        formula=r"s_{ij} = \frac{(R_i\,q_i) \cdot (R_j\,k_j)}{\sqrt d} = \frac{q_i \cdot R_{j-i}\,k_j}{\sqrt d}\;",
        code=(positions.rotary_angles, positions.rotate),
        map_title="Cosines, then sines, of the angles",
        has_sizes=True,
    ),
    "alibi": EncodingView(
        name="ALiBi",
        text="Each head lowers a score by the same amount for every step of distance: some heads by a lot, so that they attend "
        "to near tokens, others by little. Nothing is learned, and texts longer than in training still work (Press et al. 2022).",
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
CARDS = tuple(card for card in catalogue.catalogue() if card.family == "bert")
BERTS = tuple(card.name for card in CARDS)
MAX_POSITION_HEADS = max(BIAS_HEADS, *(card.num_heads for card in CARDS))
MAX_DRAWN_DIMENSIONS = 8


def dimensions_from_link(written: str) -> list[int]:
    """Read dimensions as a link writes them, 0-4-20; raise ValueError for nonsense."""
    dims = [int(dim) for dim in written.split("-") if dim.isascii() and dim.isdigit() and len(dim) < 5]
    if dimensions_to_link(dims) != written or len(dims) > MAX_DRAWN_DIMENSIONS or len(set(dims)) < len(dims):
        raise ValueError("dims must be written like 0-4-20")
    return dims


def dimensions_to_link(dims: list[int]) -> str:
    """Write dimensions for a link."""
    return "-".join(map(str, dims))


def encoding_numbers(view: str, choice: Choice) -> PartNumbers:
    """Return what one view of an encoding is computed of."""
    encoding = ENCODING_VIEWS[choice.scheme]
    numbers = {"map": _map, "waves": _waves, "similarity": lambda one: one.profile.mean, "effect": _effect}[view](choice)
    title = texts.EXPORT_ENCODING.format(encoding=encoding.name, view=texts.VIEWS[view])
    names = ("scheme", "length", "width", "base", "head")
    about = {name: getattr(choice, name) for name in names} | {"head": choice.head + 1}
    if encoding.of_model:
        about = source(choice.engine.name) | about
    axes = "position, dimension" if view == "map" and choice.encoding.vectors else AXES[view]
    return PartNumbers(title, about, [named("numbers", numbers, axes)], texts.EXPORT_RESULT)


AXES = {
    "map": "query, key",
    "waves": "a row per curve",
    "similarity": "by distance, from the far left to the far right",
    "effect": "query, key",
}
"""The axes of the numbers of each view; a map of vectors has others."""


def _map(choice: Choice) -> Computation:
    return choice.vectors if choice.encoding.vectors else choice.pairs


def _waves(choice: Choice) -> Computation:
    if choice.encoding.vectors:
        return choice.vectors[:, [dim for dim in choice.dims if dim < choice.width]].T
    return choice.curves(ENCODING_VIEWS[choice.scheme].max_curves)


def _effect(choice: Choice) -> Computation:
    run = named("run", choice.scores)
    return run.scores - run.scores.mean()


def requirements_numbers(length: int, width: int, base: float) -> PartNumbers:
    """Return what the measured requirements are computed of."""
    table = named("table", call(position_encodings.learned_table, load_call(DEFAULT)))
    checked = named("checked", call(position_encodings.check_encodings, width, base, table, length))
    numbers = each(checked.values(), lambda criteria: each(criteria, lambda criterion: criterion.value))
    about = source(DEFAULT, length=length, width=width, base=base)
    shown = [call(list, checked), named("numbers", numbers)]
    return PartNumbers(texts.EXPORT_REQUIREMENTS.format(length=length), about, shown, texts.EXPORT_RESULT)
