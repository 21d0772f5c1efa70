"""Synthetic tasks (copy, reverse or sort random numbers) and the settings of a training run on one."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

START = 1

FIRST_NUMBER = 2


@dataclass(frozen=True)
class Task:
    """What is done with a sequence of numbers.

    Attributes:
        title: Its name for the reader.
        solve: Gives the answer to numbers, both (batch, token), the start mark left out.
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
    """Give the right answer to each source; the start mark stays in front.

    Raises ValueError for a task that is not in `TASKS`.
    """
    if task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(TASKS)}, got {task}")
    return torch.cat((source[:, :1], TASKS[task].solve(source[:, 1:])), dim=1)


def random_sources(batch: int, length: int, vocab_size: int, seed: int) -> Int[Tensor, "batch token"]:
    """Draw sequences that begin with the start mark, 1; 0 stays free for padding."""
    generator = torch.Generator().manual_seed(seed)
    sources = torch.randint(FIRST_NUMBER, vocab_size, (batch, length), generator=generator)
    sources[:, 0] = START
    return sources


def answer_places(task: str, source: Int[Tensor, "batch token"]) -> Bool[Tensor, "batch query key"]:
    """Mark, for each word to be written, where in the source it stands: the diagonal that attention should find.

    The decoder writes word t + 1 while it reads word t, so there is one query less than words, and copying
    gives a diagonal shifted by one. When sorting, equal numbers are equally right.
    """
    if TASKS[task].by_value:
        return solve(task, source)[:, 1:, None] == source[:, None, :]
    places = torch.arange(source.shape[1])
    right = TASKS[task].solve(places[None, 1:])[0]
    return (right[:, None] == places).expand(len(source), -1, -1)
