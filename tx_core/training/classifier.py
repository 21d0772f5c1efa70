"""Train a small encoder to classify sentences, and predict with it.

`python -m tx_core.training.classifier` trains it on generated film reviews.
"""

import argparse
import math
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from tx_core.errors import TextProblem
from tx_core.lessons.padding import pad_batch
from tx_core.settings import host_settings
from tx_core.training.classifier_data import LabelledTexts, imdb, opinions
from tx_core.training.classifier_model import NOTEBOOK, OPINIONS, Classifier, ClassifierSettings, random_classifier
from tx_core.training.words import PADDING, Vocabulary, build_vocabulary, encode_words, training_ids
from tx_core.transformer.heads import max_pool
from tx_core.transformer.masks import padding_mask
from tx_core.transformer.trace import AttentionStack, Trace


@dataclass(frozen=True)
class ClassifierScore:
    """How a model does on texts that it never learned from. confusion counts them by true and given label."""

    loss: float
    accuracy: float
    names: tuple[str, ...]
    confusion: Int[np.ndarray, "truth given"]


@dataclass(frozen=True)
class ClassifierProgress:
    """What training has reached after one batch.

    batch and epoch: counted from 1. loss: cross-entropy of the batch in nats. accuracy: share of the batch labelled
    rightly. test: at the end of an epoch, how it does on the texts held back; else None.
    """

    batch: int
    batches: int
    epoch: int
    loss: float
    accuracy: float
    seconds: float
    test: ClassifierScore | None


@dataclass
class ClassifierTraining:
    """A run that can be stopped after any batch, asked, and gone on with."""

    settings: ClassifierSettings
    data: LabelledTexts
    vocabulary: Vocabulary
    model: Classifier
    optimiser: torch.optim.AdamW
    device: str
    train_rows: list[tuple[int, ...]]
    test_rows: list[tuple[int, ...]]
    done: int = field(default=0)

    @property
    def batches_an_epoch(self) -> int:
        """How many batches it takes to see every training text once."""
        return math.ceil(len(self.train_rows) / self.settings.batch_size)

    @property
    def batches(self) -> int:
        """How many batches the whole run has."""
        return self.batches_an_epoch * self.settings.epochs

    @property
    def finished(self) -> bool:
        """Whether all batches are done."""
        return self.done >= self.batches

    @property
    def work(self) -> float:
        """Roughly the multiply-adds of the whole run; a batch costs at least a hundred million in overhead."""
        weights = sum(value.numel() for name, value in self.model.named_parameters() if "words" not in name)
        tokens = sum(map(len, self.train_rows)) * self.settings.epochs
        return 3.0 * weights * tokens + 1e8 * self.batches

    def steps(self) -> Generator[ClassifierProgress, None, None]:
        """Train on, one record a batch, until all are done or nobody asks for more."""
        return train(self)


def start_training(settings: ClassifierSettings, data: LabelledTexts, device: str = "cpu") -> ClassifierTraining:
    """Build the vocabulary from the training texts alone, and draw the untrained model from the seed."""
    vocabulary = build_vocabulary(data.train_texts, settings.most_words)
    model = random_classifier(settings.sizes(len(vocabulary)), len(data.names), settings.seed).to(device)
    numbers = vocabulary.numbers()
    return ClassifierTraining(
        settings,
        data,
        vocabulary,
        model,
        torch.optim.AdamW(model.parameters(), lr=settings.learning_rate),
        device,
        training_ids(data.train_texts, numbers, settings.most_tokens),
        training_ids(data.test_texts, numbers, settings.most_tokens),
    )


def check_live(training: ClassifierTraining) -> ClassifierTraining:
    """Return the training, or raise TextProblem where it would keep the host too long."""
    if training.work > (limit := host_settings().max_training_multiply_adds):
        raise TextProblem(
            f"This run is {training.work / limit:.1f} times as long as this server allows. "
            "Choose fewer epochs, fewer texts, a smaller width or larger batches."
        )
    return training


def train(training: ClassifierTraining) -> Generator[ClassifierProgress, None, None]:
    """Teach the model; each epoch's order is drawn from the seed and its number, each text once an epoch."""
    settings, began = training.settings, time.monotonic()
    while not training.finished:
        epoch, place = divmod(training.done, training.batches_an_epoch)
        order = epoch_order(training, epoch)[place * settings.batch_size : (place + 1) * settings.batch_size]
        labels = torch.tensor([training.data.train_labels[at] for at in order], device=training.device)
        training.model.train()
        logits = score_labels(training, [training.train_rows[at] for at in order])
        loss = nn.functional.cross_entropy(logits, labels)
        training.optimiser.zero_grad()
        loss.backward()
        training.optimiser.step()
        training.model.eval()
        training.done += 1
        yield ClassifierProgress(
            batch=training.done,
            batches=training.batches,
            epoch=epoch + 1,
            loss=loss.item(),
            accuracy=float((logits.argmax(-1) == labels).float().mean()),
            seconds=time.monotonic() - began,
            test=evaluate_classifier(training) if training.done % training.batches_an_epoch == 0 else None,
        )


def epoch_order(training: ClassifierTraining, epoch: int) -> list[int]:
    """Shuffle the training texts for one epoch."""
    generator = torch.Generator().manual_seed(training.settings.seed * 1_000_003 + epoch)
    return torch.randperm(len(training.train_rows), generator=generator).tolist()


def score_labels(training: ClassifierTraining, rows: Sequence[tuple[int, ...]]) -> Float[Tensor, "batch label"]:
    """Score each label for texts of different lengths, the padding masked."""
    ids, mask = pad_batch(list(rows), PADDING), padding_mask([len(row) for row in rows])
    return training.model(ids.to(training.device), mask.to(training.device))[0]


@torch.no_grad()
def evaluate_classifier(training: ClassifierTraining) -> ClassifierScore:
    """Label the texts held back, and count what was taken for what."""
    rows, size = training.test_rows, 256
    logits = torch.cat([score_labels(training, rows[at : at + size]).cpu() for at in range(0, len(rows), size)])
    truth, labels = torch.tensor(training.data.test_labels), len(training.data.names)
    counts = torch.bincount(truth * labels + logits.argmax(-1), minlength=labels**2).view(labels, labels)
    loss = float(nn.functional.cross_entropy(logits, truth))
    return ClassifierScore(loss, float(counts.diagonal().sum() / counts.sum()), training.data.names, counts.numpy())


def main(arguments: Sequence[str] | None = None) -> None:
    """Train from the command line and print what a page draws."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", choices=("opinions", "imdb"), default="opinions")
    parser.add_argument("--device", default="cpu")
    chosen = parser.parse_args(arguments)
    data, settings = (imdb(), NOTEBOOK) if chosen.data == "imdb" else (opinions(), OPINIONS)
    training = start_training(settings, data, chosen.device)
    for progress in train(training):
        if progress.test is not None:
            print(
                f"epoch {progress.epoch:2d}  loss {progress.loss:.4f}  test loss {progress.test.loss:.4f}  "
                f"test accuracy {progress.test.accuracy:.3f}  {progress.seconds:.1f} s",
                flush=True,
            )


@dataclass(frozen=True)
class LabelPrediction:
    """What a trained model makes of a sentence: a probability for each label, and where it looked.

    said: what each word adds to each label's score, by the dimensions whose greatest value is its own; a label's row
    and its bias add up to its score, less what all labels have in common, which softmax does not notice.
    trace.attention.query_tokens holds the words; its `unknown` names the places of words not in the vocabulary.
    """

    names: tuple[str, ...]
    probabilities: tuple[float, ...]
    contributions: Float[np.ndarray, "label word"]
    trace: Trace

    @property
    def label(self) -> str:
        """The likeliest label."""
        return self.names[self.probabilities.index(max(self.probabilities))]

    @property
    def all_unknown(self) -> bool:
        """Whether not one word of the text is known: the label then says nothing."""
        words = self.trace.attention.query_tokens
        return len(words.unknown) == len(words)


@torch.no_grad()
def predict(training: ClassifierTraining, text: str) -> LabelPrediction:
    """Label a visitor's sentence. Raises TextProblem when it has no word or too many."""
    encoding = encode_words(text, training.vocabulary.numbers(), training.settings.most_tokens)
    ids = torch.tensor([encoding.ids], device=training.device)
    logits, run = training.model(ids, keep=("weights", "scores"))
    parts = {part: torch.cat([layer[part] for layer in run.layers]).cpu().numpy() for part in ("weights", "scores")}
    return LabelPrediction(
        training.data.names,
        tuple(logits[0].softmax(-1).tolist()),
        word_contributions(training.model, run.output).cpu().numpy(),
        Trace("classifier", training.device, (AttentionStack("self", encoding, encoding, **parts),)),
    )


def word_contributions(model: Classifier, hidden: Float[Tensor, "1 token hidden"]) -> Float[Tensor, "label token"]:
    """Share out each label's score among the words that spoke: a dimension counts for the word with most of it."""
    pooled = max_pool(hidden)
    parts = model.head.label.weight * pooled.values  # label, hidden
    parts = parts - parts.mean(dim=0)
    return parts.new_zeros(len(parts), hidden.shape[1]).index_add(1, pooled.winners[0], parts)


if __name__ == "__main__":
    main()
