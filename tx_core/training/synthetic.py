"""Synthetic tasks (copy, reverse or sort random numbers) and the settings of a training run on one."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from tx_core.transformer.config import Seq2SeqConfig, require_among

START_ID = 1

FIRST_NUMBER = 2


@dataclass(frozen=True)
class Task:
    """A task on sequences of numbers.

    Attributes:
        title: Its name for the reader.
        solve: Returns the answer to numbers, both (batch, token), the start mark left out.
        by_value: Whether the order of the answer follows from the values, so that equal numbers are equally right.
    """

    title: str
    solve: Callable[[Tensor], Tensor]
    by_value: bool = False


TASKS = {
    "copy": Task("Copy", lambda numbers: numbers),
    "reverse": Task("Reverse", lambda numbers: numbers.flip(1)),
    "sort": Task("Sort", lambda numbers: numbers.sort(dim=1).values, by_value=True),
}


def solve(task: str, source: Int[Tensor, "batch token"]) -> Int[Tensor, "batch token"]:
    """Return the correct answer to each source; the start mark stays in front."""
    return torch.cat((source[:, :1], TASKS[task].solve(source[:, 1:])), dim=1)


def random_sources(batch: int, length: int, vocab_size: int, seed: int) -> Int[Tensor, "batch token"]:
    """Draw sequences that begin with the start mark, 1; 0 is reserved for padding."""
    generator = torch.Generator().manual_seed(seed)
    sources = torch.randint(FIRST_NUMBER, vocab_size, (batch, length), generator=generator)
    sources[:, 0] = START_ID
    return sources


def answer_places(task: str, source: Int[Tensor, "batch token"]) -> Bool[Tensor, "batch query key"]:
    """Return, for each target token, a mask of its position in the source: the attention that solves the task.

    The decoder writes token t + 1 while it reads token t, so there is one query fewer than tokens, and copying gives a diagonal
    shifted by one. When sorting, equal numbers are equally right.
    """
    if TASKS[task].by_value:
        return solve(task, source)[:, 1:, None] == source[:, None, :]
    places = torch.arange(source.shape[1])
    right = TASKS[task].solve(places[None, 1:])[0]
    return (right[:, None] == places).expand(len(source), -1, -1)


@dataclass(frozen=True)
class CopySettings:
    """A task, the data that it draws, the transformer that learns it, and how long.

    length counts the start mark. learning_rate is the greatest: it rises over the first twentieth of the
    batches and falls to 0 over the second half. Raises ValueError with the rule and the value.
    """

    task: str
    vocab_size: int
    length: int
    batch_size: int
    batches: int
    hidden_size: int
    num_layers: int
    num_heads: int
    intermediate_size: int
    norm_first: bool
    learning_rate: float
    seed: int

    def __post_init__(self) -> None:
        require_among("task", self.task, tuple(TASKS))
        self.model_sizes  # noqa: B018 - checks that the heads share the hidden size

    @property
    def model_sizes(self) -> Seq2SeqConfig:
        """The transformer that these settings train."""
        return Seq2SeqConfig(
            vocab_size=self.vocab_size,
            hidden_size=self.hidden_size,
            num_layers=self.num_layers,
            num_heads=self.num_heads,
            intermediate_size=self.intermediate_size,
            max_positions=self.length,
            norm_first=self.norm_first,
            activation="relu",
            layer_norm_eps=1e-5,
            dropout=0.0,
        )

    @property
    def work(self) -> float:
        """Roughly the multiply-adds of the whole run: three for every weight that a token meets."""
        block = 12 * self.hidden_size**2 + 4 * self.hidden_size * self.intermediate_size
        weights = self.num_layers * block + self.hidden_size * self.vocab_size
        return 3.0 * weights * self.length * self.batch_size * self.batches


QUICK = CopySettings(
    task="copy",
    vocab_size=100,
    length=10,
    batch_size=64,
    batches=200,
    hidden_size=64,
    num_layers=1,
    num_heads=4,
    intermediate_size=128,
    norm_first=True,
    learning_rate=5e-3,
    seed=0,
)

# Pre-norm: six post-norm blocks on either side had a loss of 2.5 after these 200 batches (see Xiong et al. 2020).
NOTEBOOK_COPY = replace(QUICK, hidden_size=512, num_layers=6, num_heads=8, intermediate_size=2048, learning_rate=5e-4)
