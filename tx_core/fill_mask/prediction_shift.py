"""The effect of interventions on a prediction: the top words before and after, with probabilities and ranks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tx_core.analysis.probabilities import rank_of, total_variation
from tx_core.engine.engine import Engine
from tx_core.fill_mask.predictions import (
    Prediction,
    blank_logits_of,
    encode_with_blanks,
    listed,
    nucleus,
    prediction_of,
    tempered,
)
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import Encoding, Trace


@dataclass(frozen=True)
class EntryShift:
    """One vocabulary entry at a blank, before and after the interventions; ranks among all entries are counted from 1."""

    prediction: Prediction
    before: float
    rank_before: int
    rank_after: int
    listed_after: bool

    @property
    def after(self) -> float:
        return self.prediction.probability


@dataclass(frozen=True)
class BlankShift:
    """The change at one blank.

    moved: the top entries before or after, by their rank after. variation: total variation distance of the two distributions, 0
    to 1 (Levin & Peres 2017, section 4.1).
    """

    number: int
    moved: tuple[EntryShift, ...]
    variation: float


def shift_predictions(
    engine: Engine,
    text: str,
    interventions: Sequence[Intervention],
    *,
    top_k: int = 10,
    temperature: float = 1.0,
    top_p: float = 1.0,
    traces: tuple[Trace, Trace] | None = None,
) -> tuple[BlankShift, ...]:
    """Predict with and without interventions and compare the top predictions.

    top_k, temperature and top_p as for `fill_mask.predict`. traces: runs of the text without and with the interventions that
    kept "blank_logits"; without them, the model runs. Raises what `predict` raises, and ChangeProblem.
    """
    encoding = encode_with_blanks(engine, text)
    if traces is None:
        answered = engine.blank_logits([encoding, encoding], interventions=[(), interventions])
    else:
        answered = [blank_logits_of(engine, encoding, trace=trace) for trace in traces]
    return _shift(engine, text, encoding, answered, (top_k, temperature, top_p))


def compare_texts(
    engine: Engine, text: str, second: str, *, top_k: int = 10, temperature: float = 1.0, top_p: float = 1.0
) -> tuple[BlankShift, ...]:
    """Compare the predictions of two texts, the first blank with the first and so on: before is `text`, after is `second`.

    Blanks without a partner are left out. Raises what `predict` raises.
    """
    encodings = [encode_with_blanks(engine, each) for each in (text, second)]
    answered = [engine.blank_logits([encoding])[0] for encoding in encodings]  # separately, so that neither text is padded
    return _shift(engine, second, encodings[1], answered, (top_k, temperature, top_p))


def _shift(
    engine: Engine,
    text: str,
    encoding: Encoding,
    answered: Sequence[Float[np.ndarray, "_blank vocab"]],
    lists: tuple[int, float, float],
) -> tuple[BlankShift, ...]:
    """Compare the logits before and after at each blank. lists: how many entries are listed, the temperature and top_p."""
    top_k, temperature, top_p = lists
    blanks = []
    for number, (*rows, place) in enumerate(zip(*answered, encoding.blanks, strict=False)):
        shares = [nucleus(tempered(logits, temperature), top_p) for logits in rows]
        before, after = (listed(share, top_k) for share in shares)
        opens = encoding.starts_sentence(place)
        moved = [
            EntryShift(
                prediction_of(engine.tokenizer, text, number, opens, entry, shares[1][entry].item()),
                shares[0][entry].item(),
                *(rank_of(logits, entry) for logits in rows),
                entry in after,
            )
            for entry in dict.fromkeys(after + before)
        ]
        moved.sort(key=lambda one: (not one.listed_after, one.rank_after))
        blanks.append(BlankShift(number, tuple(moved), float(total_variation(*shares))))
    return tuple(blanks)
