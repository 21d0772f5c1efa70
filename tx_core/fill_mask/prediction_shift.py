"""What interventions do to a prediction: every word that was or is among the favourites, with its rank before and after."""

from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from tx_core.engine.engine import Engine
from tx_core.fill_mask.blanks import fill_blanks
from tx_core.fill_mask.predictions import Prediction, checked_temperature, encode_with_blanks, nucleus
from tx_core.transformer.interventions import Intervention


@dataclass(frozen=True)
class EntryShift:
    """One entry of the vocabulary at a blank; its probability in `prediction` is the one after the changes.

    before: its probability without them. rank_before, rank_after: its place among all entries, from 1.
    listed_before, listed_after: whether it is among the favourites that were asked for.
    """

    prediction: Prediction
    before: float
    rank_before: int
    rank_after: int
    listed_before: bool
    listed_after: bool

    @property
    def after(self) -> float:
        """Its probability with the changes."""
        return self.prediction.probability


@dataclass(frozen=True)
class BlankShift:
    """What changed at one blank: its entries by their rank after the changes.

    variation: the total variation distance of the two distributions, half the sum of all differences: 0 where nothing
    moved, 1 where all probability went elsewhere (Levin & Peres 2017, section 4.1).
    """

    number: int
    moved: tuple[EntryShift, ...]
    variation: float


@dataclass(frozen=True)
class PredictionShift:
    """The changes at all blanks of a text, in one batch with the run without them."""

    blanks: tuple[BlankShift, ...]
    device: str
    notice: str = ""


def shift_predictions(
    engine: Engine,
    text: str,
    interventions: Sequence[Intervention],
    *,
    top_k: int = 10,
    temperature: float = 1.0,
    top_p: float = 1.0,
) -> PredictionShift:
    """Run a text with and without interventions and set the favourites of both beside each other.

    top_k, temperature and top_p as for `fill_mask.predict`. Raises what `predict` raises, and ChangeProblem.
    """
    encoding = encode_with_blanks(engine, text)
    answered = engine.blank_logits([encoding, encoding], interventions=[(), interventions])
    blanks = []
    for number, place in enumerate(encoding.blanks):
        logits = [row[number].double() for row in answered.rows]
        shares = [nucleus((scores / checked_temperature(temperature)).softmax(-1), top_p) for scores in logits]
        listed = [share.topk(min(top_k, int((share > 0).sum()))).indices.tolist() for share in shares]
        moved = [
            EntryShift(
                _prediction(engine, text, number, entry, shares[1], first=encoding.starts_sentence(place)),
                shares[0][entry].item(),
                _rank(logits[0], entry),
                _rank(logits[1], entry),
                entry in listed[0],
                entry in listed[1],
            )
            for entry in dict.fromkeys(listed[1] + listed[0])
        ]
        order = tuple(sorted(moved, key=lambda one: (not one.listed_after, one.rank_after)))
        blanks.append(BlankShift(number, order, total_variation(*shares)))
    return PredictionShift(tuple(blanks), answered.device, answered.notice)


def total_variation(one: Float[Tensor, "vocab"], other: Float[Tensor, "vocab"]) -> float:
    """Give the share of probability that has to move to turn one distribution into the other."""
    return (one - other).abs().sum().item() / 2


def _rank(logits: Float[Tensor, "vocab"], entry: int) -> int:
    return int((logits > logits[entry]).sum()) + 1


def _prediction(engine: Engine, text: str, number: int, entry: int, shares: Float[Tensor, "vocab"], *, first: bool) -> Prediction:
    tokenizer = engine.tokenizer
    return Prediction(
        id=entry,
        piece=tokenizer.word(entry),
        word=tokenizer.readable(entry),
        joins=tokenizer.joins(entry, first=first),
        probability=shares[entry].item(),
        sentence=fill_blanks(text, tokenizer, {number: entry}),
    )
