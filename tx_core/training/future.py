"""Why a model that writes must not see the future: two tiny models learn to name the next word, one without the causal mask.

Both read the same sentences and start with the same weights. Without the mask, the next word is among what a word may look at:
the loss falls below what any model can reach that only looks back, since the model copies. When it writes, there is no next word.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import log

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from tx_core.engine.progress import Progress
from tx_core.training.loop import train
from tx_core.transformer.causal_lm import CausalLM, random_causal_lm
from tx_core.transformer.config import CausalConfig

SLOTS = (
    ("the",),
    ("small", "old", "black", "happy"),
    ("cat", "dog", "bird", "girl", "boy", "fox"),
    ("sat", "slept", "waited", "sang"),
    ("on", "under", "near", "behind"),
    ("the",),
    ("mat", "table", "tree", "house", "chair", "hill"),
    (".",),
)
"""A sentence takes one word from each: the corpus is all of them, each as frequent as every other."""
SLOT_WORDS = tuple(sorted({word for slot in SLOTS for word in slot}))
BATCHES, BATCH_SIZE, LEARNING_RATE = 100, 32, 0.01
SHOWN_EVERY = 5
CONFIG = CausalConfig(
    vocab_size=len(SLOT_WORDS),
    hidden_size=64,
    num_layers=1,
    num_heads=1,
    intermediate_size=256,
    max_positions=32,
    rotary_base=10_000.0,
    activation="gelu",
    layer_norm_eps=1e-5,
    dropout=0.0,
)
FIRST_WORDS = ("the", "the old dog", "the happy girl sang")
PROBE = "the old cat sat on the mat ."
MOST_WRITTEN = 10
MASKS = {"masked": True, "unmasked": False}
"""Both models by name, with whether the future is hidden from them."""


@cache
def corpus() -> Int[Tensor, "sentence token"]:
    """Return all sentences, as numbers of their words."""
    return torch.tensor([[SLOT_WORDS.index(word) for word in words] for words in product(*SLOTS)])


def least_loss() -> float:
    """Return the smallest mean loss, in nats per word, of any model that only looks back.

    Its probabilities of all sentences sum to at most 1, so their mean logarithm is at most −log of their number (Gibbs'
    inequality); the first word of a sentence is given.
    """
    return log(len(corpus())) / (len(SLOTS) - 1)


@dataclass(frozen=True)
class FutureMoment:
    """What both models do at one moment of their training; by the names of MASKS.

    written: how each goes on from every one of FIRST_WORDS. writing_loss: the mean loss, in nats, of the next word where a
    sentence ends before it, as when a model writes. weights: where each word of PROBE looks.
    """

    batch: int
    written: Mapping[str, tuple[str, ...]]
    writing_loss: Mapping[str, float]
    weights: Mapping[str, Float[np.ndarray, "query key"]]


@dataclass
class FutureTraining:
    """A training of both models that can be stopped after any batch; its records have the losses of both."""

    seed: int
    models: Mapping[str, CausalLM]
    optimisers: Mapping[str, torch.optim.Adam]
    done: int = 0
    device: str = "cpu"
    batches: int = BATCHES

    def updates(self) -> Generator[Progress, None, None]:
        """Train, yielding one record per batch, until all are done."""
        return train(self, train_next_words)

    def probe_and_test(self) -> tuple[FutureMoment | None, None]:
        """Return what both models do, every fifth batch."""
        return look_at_both(self) if self.done % SHOWN_EVERY == 0 else None, None


def start_future_training(seed: int) -> FutureTraining:
    """Make both models with the same random weights."""
    models = {name: random_causal_lm(CONFIG, seed) for name in MASKS}
    adam = {name: torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.98)) for name, model in models.items()}
    return FutureTraining(seed, models, adam)


def train_next_words(training: FutureTraining) -> dict[str, float]:
    """Train both models on the next batch: every word of a sentence is to name the one after it.

    Returns their losses by the names of MASKS, in nats per word.
    """
    batch, sentences = training.done, corpus()
    generator = torch.Generator().manual_seed(training.seed * 1_000_003 + batch)
    ids = sentences[torch.randint(len(sentences), (BATCH_SIZE,), generator=generator)]
    losses = {}
    for name, model in training.models.items():
        optimiser = training.optimisers[name]
        for group in optimiser.param_groups:
            group["lr"] = LEARNING_RATE * min((batch + 1) / 5, 1.0, 2 * (1 - batch / BATCHES))
        run = model(ids, causal=MASKS[name])
        loss = functional.cross_entropy(model.predict(run.output[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses[name] = loss.item()
    return losses


@torch.no_grad()
def look_at_both(training: FutureTraining) -> FutureMoment:
    """Return what both models do now."""
    models, probe = training.models, torch.tensor([_numbers(PROBE)])
    weights = {
        name: model(probe, causal=MASKS[name], keep=("weights",)).layers[0]["weights"][0, 0].numpy()
        for name, model in models.items()
    }
    written = {name: tuple(write_on(model, one, causal=MASKS[name]) for one in FIRST_WORDS) for name, model in models.items()}
    losses = {name: writing_loss(model, causal=MASKS[name]) for name, model in models.items()}
    return FutureMoment(training.done, written, losses, weights)


@torch.no_grad()
def write_on(model: CausalLM, beginning: str, *, causal: bool) -> str:
    """Return a beginning with the words that a model puts after it: always the most likely one, until a full stop."""
    numbers = _numbers(beginning)
    while len(numbers) < MOST_WRITTEN and SLOT_WORDS[numbers[-1]] != ".":
        numbers.append(int(model.predict(model(torch.tensor([numbers]), causal=causal).output[0, -1]).argmax()))
    return " ".join(SLOT_WORDS[number] for number in numbers)


@torch.no_grad()
def writing_loss(model: CausalLM, *, causal: bool) -> float:
    """Return the mean loss of the next word where nothing stands after it, in every eleventh sentence."""
    ids = corpus()[::11]
    losses = [
        functional.cross_entropy(model.predict(model(ids[:, :place], causal=causal).output[:, -1]), ids[:, place])
        for place in range(1, ids.shape[1])
    ]
    return float(torch.stack(losses).mean())


def _numbers(words: str) -> list[int]:
    return [SLOT_WORDS.index(word) for word in words.split()]


def next_word_share(weights: Float[np.ndarray, "query key"]) -> float:
    """Return how much of its attention a word gives to the next one, the mean over all words that have one."""
    return float(np.diagonal(weights, offset=1).mean())
