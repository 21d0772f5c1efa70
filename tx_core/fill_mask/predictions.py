"""Predictions for the blanks of a text: the top vocabulary entries of each, and the best fillings of all blanks jointly."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from tx_core.analysis.probabilities import largest, log_probabilities, probabilities
from tx_core.engine.engine import Engine, no_head
from tx_core.engine.progress import begin_runs, count_runs, run_seconds, share_of_layers
from tx_core.engine.tokenizer import Tokenizer
from tx_core.errors import TextProblem
from tx_core.fill_mask.blanks import MAX_BLANKS, fill_blanks, widen_blank
from tx_core.transformer.interventions import Intervention, Vectors
from tx_core.transformer.trace import Encoding, Trace

MAX_TOP_K = 50
SUM_TOLERANCE = 1e-9
"""Rounding error allowed when a sum of probabilities is compared with top_p."""
TOKENS_AT_ONCE, ROWS_AT_ONCE = 4096, 64
SECONDS_AT_ONCE = 2.0
NUMBERS_AT_ONCE = 60_000_000  # of logits in a batch: 240 MB; the library's models compute those of all tokens

NO_BLANK = "There is no blank to fill: write [MASK] or ___ where a word should go."
TOO_MANY_BLANKS = "This text has {count:,} blanks and at most {maximum} are filled at a time: put words into {excess:,} of them."


@dataclass(frozen=True)
class Prediction:
    """One vocabulary entry at a blank, or behind a text.

    piece: as the vocabulary spells it (##ing, ␣plan). word: as a reader does (ing, plan). joins: whether it continues the word
    before it. sentence: the text with this blank filled and the others left blank; "" for what may come next.
    """

    id: int
    piece: str
    word: str
    joins: bool
    probability: float
    sentence: str = ""

    @property
    def label(self) -> str:
        """The word, with ## before one that continues the word on its left; the piece where it has none."""
        return f"##{self.word}" if self.joins else self.word or self.piece


@dataclass(frozen=True)
class BlankPredictions:
    """The top predictions at one blank, counted from 0, best first. rest: the probability of all other entries together."""

    number: int
    place: int
    predictions: tuple[Prediction, ...]
    rest: float


@dataclass(frozen=True)
class Filling:
    """The predictions at every blank of a text, each blank on its own."""

    encoding: Encoding
    blanks: tuple[BlankPredictions, ...]


def predict(
    engine: Engine,
    text: str,
    *,
    top_k: int = 10,
    temperature: float = 1.0,
    top_p: float = 1.0,
    interventions: Sequence[Intervention] = (),
    trace: Trace | None = None,
) -> Filling:
    """List the top_k entries at every blank, with the softmax over the whole vocabulary as probability.

    Of a model that predicts the next token, those that may follow the text; `next_words` can continue from there.

    With several blanks, each list is computed while the others are still masked, so the lists are independent of each other
    (`fill_jointly` fills them together).

    temperature and top_p change what is shown, not the model: logits are divided by the temperature before the
    softmax (above 1 flattens the list, below 1 sharpens it; Ackley, Hinton and Sejnowski 1985), and with top_p
    below 1 only the fewest entries that reach it together are kept and share 100 % among themselves
    (Holtzman et al. 2020, section 3.1).

    trace: a run of the text with these interventions that kept "blank_logits", not of a model that writes; without one, it runs.

    Raises TextProblem without a blank, with more than MAX_BLANKS and for a text that cannot be read;
    ModelUnavailable for a model without a masked-word head; ChangeProblem for interventions on what the text does not have.
    """
    if not 1 <= top_k <= MAX_TOP_K:
        raise ValueError(f"top_k must be within 1 and {MAX_TOP_K}, got {top_k}")
    if engine.info.predicts_next:
        encoding, written = engine.encode(text), ""
        encoding = replace(encoding, blanks=(len(encoding) - 1,))
    else:
        encoding, written = encode_with_blanks(engine, text), text
    logits = blank_logits_of(engine, encoding, interventions, trace)
    blanks = []
    for number, place in enumerate(encoding.blanks):
        share = nucleus(tempered(logits[number], temperature), top_p)
        opens = not engine.info.predicts_next and encoding.starts_sentence(place)
        predictions = tuple(
            prediction_of(engine.tokenizer, written, number, opens, entry, share[entry].item()) for entry in listed(share, top_k)
        )
        rest = max(0.0, 1.0 - sum(prediction.probability for prediction in predictions))
        blanks.append(BlankPredictions(number, place, predictions, rest))
    return Filling(encoding, tuple(blanks))


def blank_logits_of(
    engine: Engine, encoding: Encoding, interventions: Sequence[Intervention] = (), trace: Trace | None = None
) -> Float[np.ndarray, "blank vocab"]:
    """Return the logits at the blanks of one text: those in its trace, or without a trace, those of a run."""
    if trace is None:
        return engine.blank_logits([encoding], interventions=[interventions])[0]
    if trace.blank_logits is None:
        raise ValueError("the trace must have kept the part blank_logits")
    return trace.blank_logits


def prediction_of(tokenizer: Tokenizer, text: str, blank: int, opens: bool, entry: int, probability: float) -> Prediction:
    """Return an entry at a blank. opens: whether the blank begins its sentence."""
    return Prediction(
        id=entry,
        piece=tokenizer.word(entry),
        word=tokenizer.readable(entry),
        joins=tokenizer.joins(entry, first=opens),
        probability=probability,
        sentence=fill_blanks(text, tokenizer, {blank: entry}),
    )


def tempered(logits: Float[np.ndarray, "vocab"], temperature: float) -> Float[np.ndarray, "vocab"]:
    """Return the softmax of logits divided by a temperature; raise ValueError unless it is above 0."""
    if not temperature > 0:
        raise ValueError(f"temperature must be above 0, got {temperature}")
    return probabilities(logits.astype(np.float64) / temperature)


def nucleus(share: Float[np.ndarray, "vocab"], top_p: float) -> Float[np.ndarray, "vocab"]:
    """Return the probabilities of the fewest entries that reach top_p, rescaled to sum 1 (Holtzman et al. 2020, section 3.1)."""
    if not 0 < top_p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, got {top_p}")
    if top_p == 1:
        return share
    order = np.argsort(-share, kind="stable")
    kept = order[: 1 + np.searchsorted(share[order].cumsum(), top_p - SUM_TOLERANCE)]
    rescaled = np.zeros_like(share)
    rescaled[kept] = share[kept] / share[kept].sum()
    return rescaled


def listed(share: Float[np.ndarray, "vocab"], top_k: int) -> list[int]:
    """List the entries with the largest probabilities, best first; those of probability 0 are left out."""
    return largest(share, min(top_k, int((share > 0).sum()))).tolist()


def encode_with_blanks(engine: Engine, text: str) -> Encoding:
    """Encode a text that has blanks; raises what `predict` raises."""
    if not engine.info.fills_blanks:
        raise no_head(engine.title)
    encoding = engine.encode(text)
    if not encoding.blanks:
        raise TextProblem(NO_BLANK)
    if len(encoding.blanks) > MAX_BLANKS:
        count = len(encoding.blanks)
        raise TextProblem(TOO_MANY_BLANKS.format(count=count, maximum=MAX_BLANKS, excess=count - MAX_BLANKS))
    return encoding


def blank_logits_in_batches(
    engine: Engine,
    rows: Sequence[Encoding],
    interventions: Sequence[Sequence[Intervention]] = (),
    vectors: Mapping[str, Vectors] = {},
) -> Iterator[tuple[Float[np.ndarray, "_blank vocab"], ...]]:
    """Compute the logits of many rows, each with its interventions, in batches of bounded memory. vectors: what these put in.

    The runs are counted for who watches (`watch_runs`).
    """
    tokens = max(map(len, rows))
    at_once = rows_at_once(engine, tokens)
    share = share_of_layers(engine) if all(row is rows[0] for row in rows) else 1.0
    begin_runs(len(rows), run_seconds(engine, tokens, len(rows) * share))
    for start in range(0, len(rows), at_once):
        part = slice(start, start + at_once)
        answered = engine.blank_logits(rows[part], interventions=interventions[part], vectors=vectors)
        count_runs(len(answered))
        yield answered


def rows_at_once(engine: Engine, tokens: int) -> int:
    """Return how many rows a batch may have so that its memory stays bounded, and its progress is told every few seconds."""
    most = NUMBERS_AT_ONCE // (tokens * engine.tokenizer.vocab_size), int(SECONDS_AT_ONCE / run_seconds(engine, tokens))
    return max(1, min(ROWS_AT_ONCE, TOKENS_AT_ONCE // tokens, *most))


MAX_BEAMS = 32


@dataclass(frozen=True)
class JointFilling:
    """One way to fill all blanks.

    conditionals: the probability of each entry given those before it, with later blanks still masked.
    """

    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    words: tuple[str, ...]
    conditionals: tuple[float, ...]
    probability: float
    sentence: str


@dataclass(frozen=True)
class _Beam:
    row: Encoding
    ids: tuple[int, ...] = ()
    logs: tuple[float, ...] = ()


def fill_jointly(engine: Engine, text: str, *, best: int = 5, beams: int = 8) -> tuple[JointFilling, ...]:
    """List the best joint fillings of all blanks, best first.

    Blanks are filled from left to right, and the model runs again with each word in place; the score is the product of the
    probabilities on the way. A masked language model defines no joint probability: another order may give another product
    (Ghazvininejad et al. 2019 discuss orders). Only the `beams` most probable beginnings are followed, so with few beams the best
    filling can be missed. Each blank takes one batch of at most `beams` rows.

    Raises what `fill_mask.predict` raises.
    """
    if not 1 <= best <= beams <= MAX_BEAMS:
        raise ValueError(f"best and beams must be 1 ≤ best ≤ beams ≤ {MAX_BEAMS}, got {best} and {beams}")
    start = encode_with_blanks(engine, text)
    followed = [_Beam(start)]
    for place in start.blanks:
        followed = _extend(engine, followed, place, beams)
    return tuple(
        JointFilling(
            ids=beam.ids,
            pieces=tuple(map(engine.tokenizer.word, beam.ids)),
            words=tuple(map(engine.tokenizer.readable, beam.ids)),
            conditionals=tuple(np.exp(beam.logs).tolist()),
            probability=np.exp(sum(beam.logs)).item(),
            sentence=fill_blanks(text, engine.tokenizer, dict(enumerate(beam.ids))),
        )
        for beam in followed[:best]
    )


def _extend(engine: Engine, followed: list[_Beam], place: int, beams: int) -> list[_Beam]:
    """Extend all beams by one blank and keep the best."""
    asked = [replace(beam.row, blanks=(place,)) for beam in followed]
    logs = [log_probabilities(logits[0]) for batch in blank_logits_in_batches(engine, asked) for logits in batch]
    totals = np.stack(logs) + np.array([[sum(beam.logs)] for beam in followed])
    top = largest(totals.ravel(), min(beams, totals.size)).tolist()
    extended = []
    for beam, entry in (divmod(index, totals.shape[1]) for index in top):
        parent = followed[beam]
        row = widen_blank(parent.row, engine.tokenizer, place, (entry,))
        conditionals = (*parent.logs, logs[beam][entry].item())
        extended.append(_Beam(row, (*parent.ids, entry), conditionals))
    return extended
