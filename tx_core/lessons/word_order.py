"""Does word order matter to a trained BERT? Its words shuffled, with its positions and without, and what it then predicts."""

from dataclasses import dataclass

from torch import nn

from tx_core.engine.bert_engine import BertEngine
from tx_core.lessons.equivariance import ShuffleEffect, bert_shuffle_effect, logits_at, random_order
from tx_core.transformer.trace import Encoding

BEST = 5


@dataclass(frozen=True)
class Guess:
    """What a model would put at the first blank: its favourite words and their probabilities."""

    words: tuple[str, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True)
class OrderTest:
    """The words in order and shuffled, with positions and without.

    Guesses are None where the text has no blank or the model fills none; without_shuffled equals without_ordered
    up to rounding.
    """

    encoding: Encoding
    order: tuple[int, ...]
    with_positions: ShuffleEffect
    without_positions: ShuffleEffect
    ordered: Guess | None
    shuffled: Guess | None
    without_ordered: Guess | None
    without_shuffled: Guess | None

    @property
    def tokens_shuffled(self) -> tuple[str, ...]:
        """The tokens as they stand after shuffling."""
        return tuple(self.encoding.tokens[place] for place in self.order)

    @property
    def nbytes(self) -> int:
        """The memory of the outputs, in bytes."""
        effects = (self.with_positions, self.without_positions)
        return sum(effect.outputs.nbytes + effect.shuffled.nbytes for effect in effects)


def order_test(engine: BertEngine, text: str, seed: int) -> OrderTest:
    """Shuffle the words of a text between [CLS] and [SEP], which stay, and compare what the model makes of them.

    Raises TextProblem when the text cannot be read.
    """
    encoding = engine.encode(text)
    order = random_order(len(encoding), seed, [place for place, special in enumerate(encoding.special) if special])
    mixed = tuple(encoding.ids[place] for place in order)

    def compute(model: nn.Module, device: str) -> OrderTest:
        def guess(ids: tuple[int, ...], place: int, positions: bool) -> Guess:
            best = logits_at(model, ids, [place], positions=positions)[0].softmax(-1).topk(BEST)
            return Guess(tuple(engine.tokenizer.word(piece) for piece in best.indices.tolist()), tuple(best.values.tolist()))

        effects = [bert_shuffle_effect(model, encoding.ids, order, positions=positions) for positions in (True, False)]
        if not encoding.blanks or not engine.fills_blanks:
            return OrderTest(encoding, order, *effects, None, None, None, None)
        blank = encoding.blanks[0]
        places = ((encoding.ids, blank), (mixed, order.index(blank)))
        guesses = [guess(ids, place, positions) for positions in (True, False) for ids, place in places]
        return OrderTest(encoding, order, *effects, *guesses)

    return engine.placement.run(compute)[0]
