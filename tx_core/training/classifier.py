"""Train a small encoder to classify sentences, and predict with it."""

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from tx_core.engine.device import sole_use
from tx_core.engine.progress import Progress
from tx_core.lessons.labels import LabelPrediction
from tx_core.training.classifier_data import LabelledTexts
from tx_core.training.classifier_model import (
    PADDING,
    Classifier,
    ClassifierSettings,
    build_vocabulary,
    encode_words,
    random_classifier,
    training_ids,
)
from tx_core.training.loop import train
from tx_core.transformer.attention import padding_mask
from tx_core.transformer.bert import max_pool
from tx_core.transformer.trace import AttentionStack, Trace

PROBED_MOMENTS = 20


@dataclass(frozen=True)
class ClassifierScore:
    """The score on texts that were not trained on. loss: mean cross-entropy, in nats."""

    loss: float
    accuracy: float
    names: tuple[str, ...]
    confusion: Int[np.ndarray, "truth given"]


@dataclass
class ClassifierTraining:
    """A training run that can be stopped after any batch.

    probe: the sentence that its records classify; "" for none.
    """

    settings: ClassifierSettings
    data: LabelledTexts
    vocabulary: dict[str, int]
    model: Classifier
    device: str
    train_rows: list[tuple[int, ...]]
    test_rows: list[tuple[int, ...]]
    done: int = 0
    probe: str = ""

    @cached_property
    def optimiser(self) -> torch.optim.AdamW:
        """AdamW; made by the first batch, since it imports torch's compiler, 70 MB."""
        return torch.optim.AdamW(self.model.parameters(), lr=self.settings.learning_rate)

    @property
    def batches_an_epoch(self) -> int:
        return math.ceil(len(self.train_rows) / self.settings.batch_size)

    @property
    def batches(self) -> int:
        return self.batches_an_epoch * self.settings.epochs

    @property
    def work(self) -> float:
        """Roughly the multiply-adds of the whole run; a batch costs at least a hundred million in overhead."""
        weights = sum(value.numel() for name, value in self.model.named_parameters() if "words" not in name)
        tokens = sum(map(len, self.train_rows)) * self.settings.epochs
        return 3.0 * weights * tokens + 1e8 * self.batches

    def updates(self) -> Generator[Progress, None, None]:
        """Train, yielding one record per batch, until all are done."""
        return train(self, train_classifier_batch)

    def probe_and_test(self) -> tuple[LabelPrediction | None, ClassifierScore | None]:
        """Return what the model makes of the probe, after every twentieth of the run, and at the end of an epoch its score."""
        is_kept = self.done % max(1, self.batches // PROBED_MOMENTS) == 0 or self.done == self.batches
        probe = classify(self, self.probe) if self.probe and is_kept else None
        return probe, evaluate_classifier(self) if self.done % self.batches_an_epoch == 0 else None


def start_training(settings: ClassifierSettings, data: LabelledTexts, device: str = "cpu") -> ClassifierTraining:
    """Build the vocabulary from the training texts and initialise the model from the seed."""
    vocabulary = build_vocabulary(data.train_texts, settings.most_words)
    with sole_use(device):
        model = random_classifier(settings.sizes(len(vocabulary) + 2), len(data.names), settings.seed).to(device)
    return ClassifierTraining(
        settings,
        data,
        vocabulary,
        model,
        device,
        training_ids(data.train_texts, vocabulary, settings.most_tokens),
        training_ids(data.test_texts, vocabulary, settings.most_tokens),
    )


def train_classifier_batch(training: ClassifierTraining) -> dict[str, float]:
    """Train on the next batch; return its loss (cross-entropy, in nats) and its accuracy."""
    settings = training.settings
    epoch, place = divmod(training.done, training.batches_an_epoch)
    generator = torch.Generator().manual_seed(settings.seed * 1_000_003 + epoch)
    shuffled = torch.randperm(len(training.train_rows), generator=generator).tolist()
    order = shuffled[place * settings.batch_size : (place + 1) * settings.batch_size]
    labels = torch.tensor([training.data.train_labels[at] for at in order], device=training.device)
    training.model.train()
    logits = score_labels(training, [training.train_rows[at] for at in order])
    loss = nn.functional.cross_entropy(logits, labels)
    training.optimiser.zero_grad()
    loss.backward()
    training.optimiser.step()
    training.model.eval()
    return {"loss": loss.item(), "accuracy": float((logits.argmax(-1) == labels).float().mean())}


def score_labels(training: ClassifierTraining, rows: Sequence[tuple[int, ...]]) -> Float[Tensor, "batch label"]:
    """Compute the logits of texts of different lengths, padding masked."""
    ids = pad_sequence([torch.tensor(row, dtype=torch.long) for row in rows], batch_first=True, padding_value=PADDING)
    mask = padding_mask([len(row) for row in rows])
    return training.model(ids.to(training.device), mask.to(training.device))[0]


@torch.no_grad()
def evaluate_classifier(training: ClassifierTraining) -> ClassifierScore:
    """Classify the test texts and count predictions by true label."""
    rows, size = training.test_rows, 256
    logits = torch.cat([score_labels(training, rows[at : at + size]).cpu() for at in range(0, len(rows), size)])
    truth, given, labels = torch.tensor(training.data.test_labels), logits.argmax(-1), len(training.data.names)
    counts = torch.bincount(truth * labels + given, minlength=labels**2).view(labels, labels)
    loss, accuracy = float(nn.functional.cross_entropy(logits, truth)), float(counts.diagonal().sum() / counts.sum())
    return ClassifierScore(loss, accuracy, training.data.names, counts.numpy())


@torch.no_grad()
def classify(training: ClassifierTraining, text: str) -> LabelPrediction:
    """Classify a sentence. Raises TextProblem when it has no word or too many."""
    encoding = encode_words(text, training.vocabulary, training.settings.most_tokens)
    with sole_use(training.device):
        ids = torch.tensor([encoding.ids], device=training.device)
        logits, run = training.model(ids, keep=("weights", "scores"))
        parts = {part: torch.cat([layer[part] for layer in run.layers]).cpu().numpy() for part in ("weights", "scores")}
        probabilities = tuple(logits[0].softmax(-1).tolist())
        contributions = word_contributions(training.model, run.output).cpu().numpy()
    trace = Trace("classifier", training.device, (AttentionStack("self", encoding, encoding, **parts),))
    return LabelPrediction(training.data.names, probabilities, contributions, trace)


def word_contributions(model: Classifier, hidden: Float[Tensor, "1 token hidden"]) -> Float[Tensor, "label token"]:
    """Split each logit among the words: a dimension counts for the word that has its maximum."""
    values, winners = max_pool(hidden)
    parts = model.head.label.weight * values  # label, hidden
    parts = parts - parts.mean(dim=0)
    return parts.new_zeros(len(parts), hidden.shape[1]).index_add(1, winners[0], parts)
