"""A small encoder for classification, and the words that it reads.

Text becomes lower-case words; the model has word vectors, sinusoidal positions, blocks, max pooling and a label head.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from tx_core.errors import TextProblem
from tx_core.lessons.labels import NO_WORD
from tx_core.transformer.bert import LabelHead, max_pooled
from tx_core.transformer.config import BertConfig
from tx_core.transformer.layers import Encoder, EncoderRun, draw_weights
from tx_core.transformer.positions import sinusoids
from tx_core.transformer.trace import Encoding, plain_encoding

PADDING, UNKNOWN = 0, 1
_WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


def split_words(text: str) -> list[str]:
    """Split a text into words and punctuation, in lower case: “Don't!” becomes don't and !"""
    return _WORD.findall(text.lower())


def build_vocabulary(texts: Iterable[str], most_words: int) -> dict[str, int]:
    """Return the ids of the most frequent words, ties in alphabetical order, from 2: 0 is padding, 1 any unknown word."""
    counts = Counter(word for text in texts for word in split_words(text))
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    return {word: number for number, word in enumerate(ordered[:most_words], start=2)}


def encode_words(text: str, numbers: dict[str, int], most: int) -> Encoding:
    """Encode a sentence; unknown words keep their spelling and are marked.

    numbers: the ids of the known words. Raises TextProblem for no word at all or more than `most`.
    """
    words = split_words(text)
    if not words:
        raise TextProblem(NO_WORD)
    if len(words) > most:
        raise TextProblem(f"This model reads {most} words at the most, the text has {len(words):,}: shorten it.")
    ids = [numbers.get(word, UNKNOWN) for word in words]
    return plain_encoding(words, ids, unknown=[place for place, number in enumerate(ids) if number == UNKNOWN])


def training_ids(texts: Sequence[str], numbers: dict[str, int], most: int) -> list[tuple[int, ...]]:
    """Encode many texts for training, truncated to `most` words; an empty text becomes one unknown word."""
    rows = (tuple(numbers.get(word, UNKNOWN) for word in split_words(text)[:most]) for text in texts)
    return [row or (UNKNOWN,) for row in rows]


@dataclass(frozen=True)
class ClassifierSettings:
    """The size of the classifier and the settings of its training; the vocabulary has at most most_words + 2 ids.

    Raises ValueError with the rule and the value.
    """

    most_words: int
    most_tokens: int
    hidden_size: int
    num_layers: int
    num_heads: int
    intermediate_size: int
    dropout: float
    batch_size: int
    epochs: int
    learning_rate: float
    seed: int

    def __post_init__(self) -> None:
        if self.hidden_size % 2:
            raise ValueError(f"hidden_size must be even for sinusoidal positions, got {self.hidden_size}")
        self.sizes(len("ab"))

    def sizes(self, vocab_size: int) -> BertConfig:
        """The encoder's sizes with this vocabulary, checked as a BERT's are."""
        return BertConfig(
            vocab_size,
            self.hidden_size,
            self.num_layers,
            self.num_heads,
            self.intermediate_size,
            self.most_tokens,
            "relu",
            1e-5,
            self.dropout,
            1,
        )


OPINIONS = ClassifierSettings(
    most_words=50_000,
    most_tokens=40,
    hidden_size=32,
    num_layers=1,
    num_heads=2,
    intermediate_size=128,
    dropout=0.0,
    batch_size=32,
    epochs=8,
    learning_rate=5e-3,
    seed=0,
)
"""For short opinions, which take seconds to learn."""


class Classifier(nn.Module):
    """Word vectors and sinusoidal positions, encoder blocks, and a label from max-pooled vectors."""

    def __init__(self, config: BertConfig, labels: int):
        super().__init__()
        self.words = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=PADDING)
        self.register_buffer("waves", sinusoids(config.max_positions, config.hidden_size), persistent=False)
        self.encoder = Encoder(config)
        self.head = LabelHead(max_pooled, config.hidden_size, labels, config.dropout)

    def forward(
        self, ids: Int[Tensor, "batch token"], mask: Bool[Tensor, "..."] | None = None, *, keep: Sequence[str] = ()
    ) -> tuple[Float[Tensor, "batch label"], EncoderRun]:
        """Return the logits and what the encoder was asked to keep. mask: True = a real word."""
        run = self.encoder(self.words(ids) + self.waves[: ids.shape[1]], mask, keep=keep)
        return self.head(run.output, mask), run


def random_classifier(config: BertConfig, labels: int, seed: int) -> Classifier:
    """Initialise a classifier: matrices as in Glorot & Bengio 2010, normal word vectors, zero biases."""
    return draw_weights(Classifier(config, labels), seed, lambda name: 1.0 if name.startswith("words") else None)
