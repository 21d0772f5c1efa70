"""What comes next: the probabilities of the token that follows a text, and writing on, token by token.

Temperature, top-k and top-p apply in this order, as in the transformers library's `generate`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from tx_core.engine.engine import Engine
from tx_core.engine.tokenizer import Tokenizer
from tx_core.errors import ModelUnavailable
from tx_core.fill_mask.predictions import MAX_TOP_K, Prediction, listed, nucleus, tempered
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import Encoding

NO_NEXT_WORD = "{title} does not predict the next word. Choose a model that writes, such as the built-in one or GPT-2."


@dataclass(frozen=True)
class Sampling:
    """How the next token is drawn; the default is from the model's own probabilities.

    temperature: divides the logits before the softmax; above 0. top_k: of how many of the most likely tokens one is drawn; 0 for
    all. top_p: of the fewest tokens that reach this share together (Holtzman et al. 2020); 1 for all.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0

    def __post_init__(self):
        if self.top_k < 0:
            raise ValueError(f"top_k must be 0 or more, got {self.top_k}")

    def shares(self, logits: Float[np.ndarray, "vocab"]) -> Float[np.ndarray, "vocab"]:
        """Return the probability with which each token is drawn."""
        share = tempered(logits, self.temperature)
        if 0 < self.top_k < len(share):
            kept = np.zeros_like(share)
            best = listed(share, self.top_k)
            kept[best] = share[best]
            share = kept / kept.sum()
        return nucleus(share, self.top_p)


def next_words(
    engine: Engine,
    text: str,
    *,
    listed_words: int = 10,
    sampling: Sampling = Sampling(),
    written: Sequence[int] = (),
    interventions: Sequence[Intervention] = (),
) -> tuple[Prediction, ...]:
    """List the tokens that most likely follow a text, best first.

    written: ids of tokens that already follow it, as `write_words` returns them.
    Raises ModelUnavailable for a model that predicts no next token, TextProblem for a text that cannot be read, and ChangeProblem
    for interventions on what the text does not have.
    """
    if not 1 <= listed_words <= MAX_TOP_K:
        raise ValueError(f"listed_words must be within 1 and {MAX_TOP_K}, got {listed_words}")
    encoding = read_text(engine, text, written)
    share = sampling.shares(next_logits(engine, encoding, [len(encoding) - 1], interventions)[0])
    first = not len(encoding)
    return tuple(next_word(engine.tokenizer, entry, float(share[entry]), first=first) for entry in listed(share, listed_words))


def next_word(tokenizer: Tokenizer, entry: int, probability: float, *, first: bool = False) -> Prediction:
    """Describe a token that may come next. first: whether nothing stands before it."""
    joins = tokenizer.joins(entry, first=first)
    return Prediction(entry, tokenizer.spelling(entry), tokenizer.readable(entry), joins, probability)


def read_text(engine: Engine, text: str, written: Sequence[int] = ()) -> Encoding:
    """Read a text and the tokens that follow it; raise ModelUnavailable for a model that predicts no next token."""
    if not engine.info.predicts_next:
        raise ModelUnavailable(NO_NEXT_WORD.format(title=engine.title))
    return engine.encode(text, None, written)


def next_logits(
    engine: Engine, encoding: Encoding, places: Sequence[int], interventions: Sequence[Intervention] = ()
) -> Float[np.ndarray, "place vocab"]:
    """Return the logits of what follows each of these tokens, in one run of the model."""
    return engine.blank_logits([replace(encoding, blanks=tuple(places))], interventions=[tuple(interventions)])[0]


def write_words(
    engine: Engine,
    text: str,
    count: int,
    *,
    seed: int,
    sampling: Sampling = Sampling(),
    written: Sequence[int] = (),
    interventions: Sequence[Intervention] = (),
) -> tuple[int, ...]:
    """Write up to `count` tokens behind a text; return the ids of those written before and of these.

    Each is drawn by its probability, with a number that follows from the seed and the token's position alone: writing one token
    ten times is writing ten. Writing ends with a special token, such as [SEP] at the end of a text, and where the model can read
    no more. Raises what `next_words` raises.
    """
    for _ in range(count):
        encoding = read_text(engine, text, written)
        ended = written and engine.tokenizer.is_special(written[-1])
        if ended or len(encoding) >= engine.info.max_tokens:
            break
        share = sampling.shares(next_logits(engine, encoding, [len(encoding) - 1], interventions)[0])
        drawn = np.random.default_rng([seed, len(encoding)]).random()
        written = (*written, draw(share, drawn))
    return tuple(written)


def draw(share: Float[np.ndarray, "vocab"], number: float) -> int:
    """Return the token whose part of the interval from 0 to 1, the likeliest first, holds a number."""
    order = np.argsort(-share, kind="stable")
    order = order[share[order] > 0]
    return int(order[min(np.searchsorted(share[order].cumsum(), number, side="right"), len(order) - 1)])
