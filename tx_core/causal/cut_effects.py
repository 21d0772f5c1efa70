"""Cut effects: what a prediction loses without one token looking at another in one layer (attention knockout)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from tx_core.analysis.probabilities import log_probabilities
from tx_core.engine.engine import Engine
from tx_core.errors import ModelUnavailable
from tx_core.fill_mask.predictions import blank_logits_in_batches, encode_with_blanks
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import Encoding


@dataclass(frozen=True)
class CutEffects:
    """What the prediction at one token loses with each pair of query and key cut, in one layer, in all of its heads.

    Attributes:
        place: The token whose prediction it is: a blank, or the last token of a model that predicts the next one.
        word, entry, probability: The most likely word of the run without cuts, its vocabulary id, and its probability there.
        effect: The fall of its log-odds, in nats; negative where the cut helps it. NaN for queries and layers that were not asked
            for; 0 where nothing can change: a token that the query may not attend to, and any other query of the last layer.
        after, first: Its probability with the cut, and the most likely entry with it.
    """

    encoding: Encoding
    place: int
    word: str
    entry: int
    probability: float
    effect: Float[np.ndarray, "layer query key"]
    after: Float[np.ndarray, "layer query key"]
    first: Int[np.ndarray, "layer query key"]


def cut_effects(
    engine: Engine,
    text: str,
    *,
    blank: int = 0,
    interventions: Sequence[Intervention] = (),
    queries: Sequence[int] | None = None,
    layers: Sequence[int] | None = None,
    written: Sequence[int] = (),
) -> CutEffects:
    """Cut each pair of tokens in each layer, one at a time, and measure the prediction (Geva et al. 2023, section 5).

    Of an encoder-decoder the pairs of its encoder are cut. A run begins at the layer of its cut: what lies below is unchanged.

    blank: which of the text's blanks; ignored by a model that predicts the next token. queries: the tokens whose attention is
    cut; None for all. Arcs into the blank alone take a layer × key runs. layers: the layers in which it is cut; None for all.
    written: tokens that the model wrote behind the text. Raises TextProblem and ModelUnavailable as `predict` does; ValueError
    for a blank, a query or a layer that is not there.
    """
    row = read_prediction(engine, text, blank, written)
    place, count, tokens = row.blanks[0], engine.info.num_layers, len(row)
    asked = _checked("queries", queries, tokens)
    within = _checked("layers", layers, count)
    pairs = [
        (layer, query, key)
        for query in asked
        for layer in within
        if layer < count - 1 or query == place
        for key in range(query + 1 if engine.info.predicts_next else tokens)
    ]
    cuts = [Intervention("cut", layer, positions=(query, key)) for layer, query, key in pairs]
    entry, odds, shares, firsts = _measure(engine, row, interventions, cuts)
    effect, after = np.full((count, tokens, tokens), np.nan), np.full((count, tokens, tokens), np.nan)
    first = np.full((count, tokens, tokens), entry)
    measured_rows = np.ix_(list(within), list(asked))
    effect[measured_rows], after[measured_rows] = 0.0, shares[0]
    if pairs:
        at = tuple(np.array(pairs).T)
        effect[at] = odds[0] - odds[1:]
        after[at], first[at] = shares[1:], firsts[1:]
    return CutEffects(
        row,
        place,
        engine.tokenizer.readable(entry) or engine.tokenizer.word(entry),
        entry,
        float(shares[0]),
        effect,
        after,
        first,
    )


def _checked(name: str, numbers: Sequence[int] | None, end: int) -> Sequence[int]:
    """Return numbers from 0 to `end` - 1, all where none are given; raise ValueError for any other."""
    if any(number not in range(end) for number in numbers or ()):
        raise ValueError(f"{name} must be within 0 and {end - 1}, got {numbers}")
    return range(end) if numbers is None else numbers


def head_effects(
    engine: Engine,
    text: str,
    layer: int,
    pair: tuple[int, int] | None = None,
    *,
    blank: int = 0,
    interventions: Sequence[Intervention] = (),
    written: Sequence[int] = (),
) -> Float[np.ndarray, "head"]:
    """Return what the prediction loses by each head of a layer alone, as `CutEffects.effect` measures it.

    pair: the query and the key that are cut in the head; None to switch it off.
    """
    kind, positions = ("off", ()) if pair is None else ("cut", pair)
    cuts = [Intervention(kind, layer, head, positions=positions) for head in range(engine.info.num_heads)]
    _, odds, _, _ = _measure(engine, read_prediction(engine, text, blank, written), interventions, cuts)
    return odds[0] - odds[1:]


def read_prediction(engine: Engine, text: str, blank: int = 0, written: Sequence[int] = ()) -> Encoding:
    """Encode a text with the token whose prediction is asked for as its only blank: of a model that writes on, the last one.

    Raises TextProblem and ModelUnavailable as `predict` does; ValueError for a blank that is not there.
    """
    if engine.info.predicts_next:
        encoding = engine.encode(text, written=written)
        return replace(encoding, blanks=(len(encoding) - 1,))
    if not engine.info.fills_blanks:
        raise ModelUnavailable(
            f"{engine.title} predicts no word, so nothing can be said of what its prediction depends on: choose another model."
        )
    encoding = encode_with_blanks(engine, text)
    if blank not in range(len(encoding.blanks)):
        raise ValueError(f"blank must be within 0 and {len(encoding.blanks) - 1}, got {blank}")
    return replace(encoding, blanks=(encoding.blanks[blank],))


def _measure(
    engine: Engine, row: Encoding, shared: Sequence[Intervention], cuts: Sequence[Intervention]
) -> tuple[int, Float[np.ndarray, "run"], Float[np.ndarray, "run"], Int[np.ndarray, "run"]]:
    """Run a row without cuts and with each of them.

    Returns the most likely entry of the first run, and of every run the log odds and the probability of this entry, and its own.
    """
    changes = [tuple(shared), *((*shared, cut) for cut in cuts)]
    entry, logs, odds, firsts = None, [], [], []
    for answered in blank_logits_in_batches(engine, [row] * len(changes), changes):
        found = log_probabilities(np.concatenate(answered))
        entry = int(found[0].argmax()) if entry is None else entry
        logs.append(found[:, entry].copy())
        firsts.append(found.argmax(axis=-1))
        found[:, entry] = -np.inf
        odds.append(logs[-1] - np.log(np.exp(found).sum(axis=-1)))  # all others, summed: 1 − p would round to 0
    return entry, np.concatenate(odds), np.exp(np.concatenate(logs)), np.concatenate(firsts)
