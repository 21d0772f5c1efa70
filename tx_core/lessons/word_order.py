"""Does word order matter? Shuffle the words, with positions and without, and compare outputs and predictions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from tx_core.analysis.probabilities import largest, probabilities
from tx_core.engine.bert_engine import BertEngine
from tx_core.transformer.bert import Bert
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import Encoding


@dataclass(frozen=True)
class ShuffleEffect:
    """Outputs for a sentence in order, and shuffled.

    order: which word is at each position after shuffling. shuffled: the outputs for the shuffled order, put back into the
    original one; equal where the model is equivariant.
    """

    order: tuple[int, ...]
    outputs: Float[Tensor, "token hidden"]
    shuffled: Float[Tensor, "token hidden"]

    @property
    def by_token(self) -> tuple[float, ...]:
        """The largest change of each word's output, in the original order."""
        return tuple((self.outputs - self.shuffled).abs().amax(dim=-1).tolist())

    @property
    def greatest_difference(self) -> float:
        """The largest change; 0, up to rounding, for an equivariant model."""
        return max(self.by_token)


def random_order(tokens: int, seed: int, fixed: Sequence[int] = ()) -> tuple[int, ...]:
    """Shuffle all positions but the fixed ones ([CLS], [SEP])."""
    loose = [place for place in range(tokens) if place not in set(fixed)]
    drawn = torch.randperm(len(loose), generator=torch.Generator().manual_seed(seed)).tolist()
    moved = dict(zip(loose, (loose[i] for i in drawn), strict=True))
    return tuple(moved.get(place, place) for place in range(tokens))


@torch.no_grad()
def shuffle_effect(model: Bert, ids: Sequence[int], order: Sequence[int], *, positions: bool) -> ShuffleEffect:
    """Run BERT on a sentence in order and shuffled, with or without position vectors; all tokens are in the first segment."""
    back = torch.tensor(order).argsort()
    rows = torch.tensor([list(ids), [ids[place] for place in order]], device=model.embeddings.words.weight.device)
    changes = [()] * 2 if positions else [(Intervention("no_positions"),)] * 2
    first, second = model(rows, interventions=changes).output.cpu()
    return ShuffleEffect(tuple(order), first, second[back])


NUM_PREDICTIONS = 5


@dataclass(frozen=True)
class BlankGuess:
    """The top predictions at the first blank, with their probabilities."""

    words: tuple[str, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True)
class ShuffleTest:
    """A sentence in order and shuffled, with positions and without.

    Predictions are None where the text has no blank or the model fills none. Without positions, those of the shuffled sentence
    are equal to `without_ordered` up to rounding.
    """

    encoding: Encoding
    order: tuple[int, ...]
    with_positions: ShuffleEffect
    without_positions: ShuffleEffect
    ordered: BlankGuess | None
    shuffled: BlankGuess | None
    without_ordered: BlankGuess | None

    @property
    def tokens_shuffled(self) -> tuple[str, ...]:
        return tuple(self.encoding.tokens[place] for place in self.order)


def shuffle_test(engine: BertEngine, text: str, seed: int) -> ShuffleTest:
    """Shuffle the words of a text between [CLS] and [SEP] and compare outputs and predictions.

    Raises TextProblem if the text cannot be read.
    """
    encoding, guesses = engine.encode(text), [None] * 3
    order = random_order(len(encoding), seed, [place for place, special in enumerate(encoding.special) if special])
    effects = engine.runner.run(
        lambda model, _: [shuffle_effect(model, encoding.ids, order, positions=positions) for positions in (True, False)]
    ).value
    if encoding.blanks and engine.info.fills_blanks:
        blank = encoding.blanks[0]
        ordered = replace(encoding, blanks=(blank,))
        shuffled = replace(encoding, ids=tuple(encoding.ids[place] for place in order), blanks=(order.index(blank),))
        changes = [(), (), (Intervention("no_positions"),)]
        guesses = [_guess(engine, logits) for logits in engine.blank_logits([ordered, shuffled, ordered], interventions=changes)]
    return ShuffleTest(encoding, order, *effects, *guesses)


def _guess(engine: BertEngine, logits: Float[np.ndarray, "1 vocab"]) -> BlankGuess:
    shares = probabilities(logits[0])
    best = largest(shares, NUM_PREDICTIONS)
    return BlankGuess(tuple(map(engine.tokenizer.word, best.tolist())), tuple(shares[best].tolist()))
