"""Interventions, the changes that a caller makes to one run, and their syntax in URLs; `changed_run` applies them.

An intervention is an argument of a call, never a state of the model.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Float

from tx_core.errors import ChangeProblem
from tx_core.transformer.config import AttentionKind

Head = tuple[int, int]
"""Layer and head, counted from 0."""
InterventionKind = Literal[
    "off",
    "uniform",
    "hidden",
    "cut",
    "patch",
    "mean",
    "temperature",
    "sparse",
    "hard",
    "causal",
    "no_padding_mask",
    "no_positions",
]
ChangedPart = Literal["attention", "mlp", "residual"]
"""What is changed of a layer: its attention, its feed-forward sublayer, or the vectors that leave it (the residual stream)."""
MAX_INTERVENTIONS = 60
"""The most interventions that a URL may contain."""
MIN_TEMPERATURE, MAX_TEMPERATURE = 0.01, 100.0
"""The range of temperatures in a URL."""
LEAST_TEMPERATURE, GREATEST_TEMPERATURE = 1e-6, 1e6
"""The range of temperatures at all: beyond it, scores in single precision may overflow, and a temperature may be infinite."""
MAX_PADDING = 64
"""The most tokens of padding that "no_padding_mask" may add."""
NO_LAYER = "This model has {layers} layers: there is no layer {layer:,} to change."
NO_HEAD = "This model has {heads} heads per layer: there is no head {head:,} to change."
NO_TOKEN = "This text has {tokens:,} tokens: there is no token {position:,} to change."
NO_SPACE_FOR_PADDING = "This model reads at most {most:,} tokens: there is no space for {padding} of padding after {tokens:,}."
NO_VECTORS = "There is no other text here, of which something could be put in."
OTHER_VECTORS = "What is put in is of {given[0]} layers and {given[1]:,} tokens, and this run has {run[0]} and {run[1]:,}."
NEEDS_POSITIONS = "This model cannot be run without its positions here."
CANNOT_CHANGE = "{problems} Undo this change, or change something that exists."


_NUMBER = "([1-9][0-9]{0,3})"
_POSITION = "([1-9][0-9]{0,5})"
_HEAD = f"(?:~{_NUMBER}(?:-{_NUMBER})?)"


class ValueRule(NamedTuple):
    """What a kind of intervention takes as its value: the rule in words, its check, and how an address writes it."""

    rule: str
    allows: Callable[[float], bool]
    write: Callable[[float], str]


@dataclass(frozen=True)
class InterventionRule:
    """What a kind of intervention names, and where it acts.

    word, arguments: how an address writes it. positions: what each of its token positions is. setting: the property that it sets,
    for properties of which a layer or a run has only one. everywhere: the kinds of attention that it changes where it names no
    layer. by_query: whether it changes some queries of a layer and not others. parts: what it can change of a layer; of anything
    but "attention" an address writes the name. takes_vectors: whether it puts in `Vectors`; it may name no position then: all.
    """

    word: str
    arguments: str
    positions: tuple[Literal["query", "key"], ...] = ()
    setting: str = ""
    needs_layer: bool = False
    whole_run: bool = False
    everywhere: tuple[AttentionKind, ...] = ("self", "decoder", "cross")
    by_query: bool = False
    value: ValueRule | None = None
    parts: tuple[ChangedPart, ...] = ("attention",)
    takes_vectors: bool = False


_TEMPERATURE = ValueRule(
    f"a number from {LEAST_TEMPERATURE} to {GREATEST_TEMPERATURE:.0e}",
    lambda value: LEAST_TEMPERATURE <= value <= GREATEST_TEMPERATURE,
    repr,
)
_PADDING = ValueRule(
    f"a whole number from 1 to {MAX_PADDING}", lambda value: value in range(1, MAX_PADDING + 1), lambda value: f"{value:.0f}"
)
INTERVENTION_RULES: dict[InterventionKind, InterventionRule] = {
    "off": InterventionRule("off", _HEAD, needs_layer=True, parts=("attention", "mlp")),
    "uniform": InterventionRule("even", _HEAD, needs_layer=True),
    "hidden": InterventionRule("hide", f"~{_POSITION}{_HEAD}?", ("key",), everywhere=("self", "cross")),
    "cut": InterventionRule("cut", f"~{_POSITION}-{_POSITION}{_HEAD}?", ("query", "key"), everywhere=("self",), by_query=True),
    "patch": InterventionRule(
        "patch", f"(?:~{_POSITION})?{_HEAD}", ("query",), needs_layer=True, parts=get_args(ChangedPart), takes_vectors=True
    ),
    "mean": InterventionRule("mean", _HEAD, needs_layer=True, parts=("attention", "mlp"), takes_vectors=True),
    "temperature": InterventionRule(
        "temperature", rf"~([0-9]{{1,3}}(?:\.[0-9]{{1,20}})?)(?:~{_NUMBER})?", setting="temperature", value=_TEMPERATURE
    ),
    "sparse": InterventionRule("sparse", f"(?:~{_NUMBER})?", setting="normaliser"),
    "hard": InterventionRule("hard", f"(?:~{_NUMBER})?", setting="normaliser"),
    "causal": InterventionRule("causal", "", whole_run=True, everywhere=("self",), by_query=True),
    "no_padding_mask": InterventionRule(
        "padding", "~([1-9][0-9]?)", setting="padding", whole_run=True, everywhere=(), value=_PADDING
    ),
    "no_positions": InterventionRule("nopositions", "", whole_run=True, everywhere=()),
}
"""The rule of each kind. The words "even" and "hide" differ from their kinds because old links use them."""
_KINDS = {rule.word: kind for kind, rule in INTERVENTION_RULES.items()}


@dataclass(frozen=True, repr=False)
class Intervention:
    """One change of a run. Layers, heads and token positions are counted from 0.

    A query that is left no key gets zeros. The scores in a trace are those before any intervention on their layer.

    Attributes:
        kind: "off": the head's weights become zero, so that it adds nothing (Michel et al. 2019, section 2.3).
            "uniform": every query spreads its attention evenly over the keys that it may attend to.
            "hidden": no query attends to the token at `positions[0]`; the token itself still attends to others.
            "cut": the query at `positions[0]` does not attend to the key at `positions[1]`.
            "patch": the head's output is that of another run, `Vectors` of which are given with this one; at the token at
                `positions[0]`, or without a position at every token for which they have a number (Vig et al. 2020).
            "mean": the head's output is the same at every token: its mean over the app's sentences, or `Vectors` that are given.
            "temperature": the scores, bias included, are divided by `value`.
            "sparse", "hard": sparsemax (Martins & Astudillo 2016) or argmax in place of the softmax.
        "causal": no token attends to a later one (of an encoder-decoder, in the encoder; its decoder is causal already).
        "no_padding_mask": `value` tokens of padding follow the text, as in a batch with a longer text, and every token
            may attend to them, as when the batch is read without its padding mask. A trace keeps the text's own tokens
            only: what a row of its weights lacks to 1 went to the padding.
        "no_positions": no position embeddings are added, so that the model cannot tell the order of the tokens.
        layer: None for all layers. Those of an encoder-decoder are numbered through its stacks: encoder, decoder,
            cross-attention. There, "hidden" in all layers concerns the encoder's text (encoder and cross-attention),
            "cut" in all layers the encoder only.
        head: None for all heads of the layer. The softmax is changed in all heads of a layer.
        positions: token positions, as many as the rule of the kind names; of "patch" one or none.
        value: the temperature, from `LEAST_TEMPERATURE` to `GREATEST_TEMPERATURE`, or the number of padding tokens, from 1 to
            `MAX_PADDING`; 1.0 for other kinds.
        part: what "off", "patch" and "mean" change in place of the attention: "mlp", what the feed-forward sublayer adds to the
            residual stream; "residual", of "patch" alone, the vector that leaves the layer.

    Raises ValueError for what its kind does not have.
    """

    kind: InterventionKind
    layer: int | None = None
    head: int | None = None
    positions: tuple[int, ...] = ()
    value: float = 1.0
    part: ChangedPart = "attention"

    def __post_init__(self):
        rule = INTERVENTION_RULES.get(self.kind)
        if rule is None:
            raise ValueError(f"kind must be one of {', '.join(INTERVENTION_RULES)}, got {self.kind!r}")
        if any(number is not None and number < 0 for number in (self.layer, self.head, *self.positions)):
            raise ValueError(f"layers, heads and positions must be counted from 0, got {self}")
        if len(self.positions) != len(rule.positions) and not (rule.takes_vectors and not self.positions):
            raise ValueError(f"{self.kind} must have {len(rule.positions)} positions, got {self.positions}")
        if self.layer is None and (self.head is not None or rule.needs_layer):
            raise ValueError(f"a head, and {self.kind} in all heads, must name the layer, got {self}")
        if self.layer is not None and rule.whole_run:
            raise ValueError(f"{self.kind} must be of the whole run, got layer {self.layer}")
        if self.head is not None and rule.setting:
            raise ValueError(f"{self.kind} must be of a whole layer, got head {self.head}")
        if self.part not in rule.parts or (self.head is not None and self.part != "attention"):
            raise ValueError(
                f"{self.kind} must change one of {', '.join(rule.parts)}, of which only attention has heads, got {self}"
            )
        if rule.value and not rule.value.allows(self.value):
            raise ValueError(f"{rule.setting} must be {rule.value.rule}, got {self.value}")
        if not rule.value and self.value != 1:
            raise ValueError(f"{self.kind} must have no value, got {self.value}")

    @property
    def rule(self) -> InterventionRule:
        """The rule of its kind."""
        return INTERVENTION_RULES[self.kind]

    @property
    def replaces(self) -> Literal["", "context", "mlp", "residual"]:
        """Which of a layer's `Vectors` it replaces; "" where it changes the weights or the whole run."""
        if not self.rule.takes_vectors:
            return "mlp" if self.part == "mlp" else ""
        return "context" if self.part == "attention" else self.part

    def __repr__(self) -> str:
        """Return the Python expression that constructs it, defaults omitted."""
        given = [f"{f.name}={getattr(self, f.name)!r}" for f in fields(self)[1:] if getattr(self, f.name) != f.default]
        return f"Intervention({', '.join([repr(self.kind), *given])})"

    @property
    def slot(self) -> tuple:
        """The property that only one intervention can set: a layer's temperature or normaliser, or the padding; else itself."""
        return self.rule.setting or self, self.layer


@dataclass(frozen=True)
class Vectors:
    """What each layer of a run computed, to be put into another run by "patch" or "mean"; NaN where nothing is put in.

    context: the result of each head, before the output projection. mlp: what the feed-forward sublayer adds to the residual
    stream, before a layer norm that follows. residual: the vectors that leave the layer; of the last one, before a layer norm
    that follows all layers.
    """

    context: Float[np.ndarray, "layer head token head_dim"]
    mlp: Float[np.ndarray, "layer token hidden"]
    residual: Float[np.ndarray, "layer token hidden"]


def canonical(interventions: Iterable[Intervention]) -> tuple[Intervention, ...]:
    """Sort the interventions of a run and drop duplicates, so that equal runs compare equal.

    Raises ValueError for two temperatures or two normalisers of one layer, and for padding of two lengths.
    """
    unique = sorted(set(interventions), key=repr)
    if len({one.slot for one in unique}) < len(unique):
        raise ValueError(f"a layer must have one temperature and one normaliser, a run one padding, got {unique}")
    return tuple(unique)


class RunLimits(NamedTuple):
    """The sizes of a run, which bound what an intervention can name.

    sizes: the number of queries and of keys in every layer. given: the vectors that are given with the run, by the kind of
    intervention; None for those that fit any.
    """

    num_heads: int
    sizes: Sequence[tuple[int, int]]
    max_tokens: int
    can_omit_positions: bool
    given: Mapping[str, Vectors | None]


def check_run(interventions: Iterable[Intervention], limits: RunLimits) -> tuple[Intervention, ...]:
    """Return the `canonical` interventions of a run; raise ChangeProblem for what the run does not have."""
    interventions = canonical(interventions)
    missing = [sentence for one in interventions if (sentence := missing_part(one, limits))]
    if missing:
        raise ChangeProblem(CANNOT_CHANGE.format(problems=" ".join(dict.fromkeys(missing))))
    return interventions


def missing_part(intervention: Intervention, limits: RunLimits) -> str:
    """Return a sentence on what a run lacks for an intervention, "" if nothing."""
    layer, head, positions = intervention.layer, intervention.head, intervention.positions
    if layer is not None and layer >= len(limits.sizes):
        return NO_LAYER.format(layers=len(limits.sizes), layer=layer + 1)
    if head is not None and head >= limits.num_heads:
        return NO_HEAD.format(heads=limits.num_heads, head=head + 1)
    queries, keys = limits.sizes[layer or 0]
    padding = unmasked_padding([intervention])
    if padding and keys + padding > limits.max_tokens:
        return NO_SPACE_FOR_PADDING.format(most=limits.max_tokens, padding=padding, tokens=keys)
    if not (limits.can_omit_positions or reads_positions([intervention])):
        return NEEDS_POSITIONS
    if intervention.rule.takes_vectors and intervention.kind not in limits.given:
        return NO_VECTORS
    given = limits.given.get(intervention.kind)
    if given and (len(given.mlp) != len(limits.sizes) or given.mlp.shape[1] not in (1, keys)):
        return OTHER_VECTORS.format(given=given.mlp.shape[:2], run=(len(limits.sizes), keys))
    bounds = {"query": queries, "key": keys}
    for position, axis in zip(positions, intervention.rule.positions, strict=False):
        if position >= (bound := bounds[axis]):
            return NO_TOKEN.format(tokens=bound, position=position + 1)
    return ""


def unmasked_padding(interventions: Iterable[Intervention]) -> int:
    """Return how many tokens of padding follow a text without a mask, 0 for none."""
    return sum(int(one.value) for one in interventions if one.kind == "no_padding_mask")


def reads_positions(interventions: Iterable[Intervention]) -> bool:
    """Return whether a run adds its position embeddings."""
    return all(one.kind != "no_positions" for one in interventions)


def shift_positions(interventions: Iterable[Intervention], position: int, pieces: int) -> tuple[Intervention, ...]:
    """Remap positions after the token at `position` is split into `pieces` tokens.

    An intervention on the replaced token becomes one on each of its pieces.
    """

    def moved(at: int) -> range:
        if at == position:
            return range(position, position + pieces)
        return range(at, at + 1) if at < position else range(at + pieces - 1, at + pieces)

    return tuple(replace(one, positions=at) for one in interventions for at in product(*map(moved, one.positions)))


def first_changed_layer(interventions: Sequence[Intervention], others: Sequence[Intervention], default: int) -> int:
    """Return the first layer at which two runs of the same input differ; the default where they do not."""
    if interventions == others:
        return default
    return min((one.layer or 0 for one in set(interventions) ^ set(others)), default=default)


def effective(interventions: Iterable[Intervention], layer: int, attention: AttentionKind = "self") -> tuple[Intervention, ...]:
    """List the interventions on the attention weights of one layer; its own temperature or normaliser overrides that of all."""
    acting = [
        one
        for one in interventions
        if not one.replaces and (attention in one.rule.everywhere if one.layer is None else one.layer == layer)
    ]
    if len(acting) < 2:
        return tuple(acting)
    own = {one.rule.setting for one in acting if one.layer is not None} - {""}
    return tuple(one for one in acting if one.layer is not None or one.rule.setting not in own)


def write_interventions(interventions: Sequence[Intervention]) -> str:
    """Return interventions as text for a URL, numbers counted from 1.

    off~2-3 (layer 2, head 3), off~2 (all of layer 2), even~2-3, hide~5 (token 5, everywhere), hide~5~2-3,
    cut~4-7 (4 does not attend to 7), cut~4-7~2, patch~5~2-3 (at token 5), patch~2-3, mean~2-3, patch~residual~5~2, off~mlp~2,
    temperature~0.5, temperature~0.5~2, sparse~2, hard, causal, padding~8, nopositions; joined by _.
    """
    return "_".join(map(_write, interventions))


def read_interventions(written: str) -> tuple[Intervention, ...]:
    """Parse interventions from a URL, in its order.

    Raises ValueError for what is not an intervention, for duplicates, contradictions, and more than MAX_INTERVENTIONS.
    """
    parts = written.split("_") if written else []
    if len(parts) > MAX_INTERVENTIONS:
        raise ValueError(f"changes must be at most {MAX_INTERVENTIONS}, got {len(parts)}")
    interventions = tuple(map(_read, parts))
    if len({one.slot for one in interventions}) < len(interventions):
        raise ValueError("changes must not be given twice")
    return interventions


def _write(intervention: Intervention) -> str:
    rule = intervention.rule
    positions = "-".join(str(position + 1) for position in intervention.positions)
    given = rule.value.write(intervention.value) if rule.value else positions
    part = "" if intervention.part == "attention" else f"~{intervention.part}"
    at = "" if intervention.layer is None else f"~{intervention.layer + 1}"
    at += "" if intervention.head is None else f"-{intervention.head + 1}"
    return f"{rule.word}{part}~{given}{at}" if given else f"{rule.word}{part}{at}"


def _read(written: str) -> Intervention:
    word = written.partition("~")[0]
    rule = INTERVENTION_RULES[_KINDS[word]] if word in _KINDS else None
    match = re.fullmatch(f"{word}(?:~({'|'.join(rule.parts)}))?{rule.arguments}", written, re.ASCII) if rule else None
    if match is None:
        raise ValueError("a change must be written like off~2-3, hide~5, cut~4-7, temperature~0.5 or sparse~2")
    kind, (part, *parts) = _KINDS[word], match.groups()
    value = float(parts.pop(0)) if rule.value else 1.0
    if kind == "temperature" and (not MIN_TEMPERATURE <= value <= MAX_TEMPERATURE or value == 1):
        raise ValueError(f"temperature must be within {MIN_TEMPERATURE} and {MAX_TEMPERATURE} and not 1, got {value}")
    positions = tuple(_from_zero(number) for _ in rule.positions if (number := parts.pop(0)) is not None)
    return Intervention(kind, *map(_from_zero, parts), positions=positions, value=value, part=part or "attention")


def _from_zero(number: str | None) -> int | None:
    return None if number is None else int(number) - 1
