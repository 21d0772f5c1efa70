"""Tasks that need no data: copy, reverse or sort a sequence of random numbers."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

START = 1
FIRST_NUMBER = 2
TASKS: dict[str, str] = {
    "copy": "write the same numbers again",
    "reverse": "write them from the last to the first",
    "sort": "write them from the smallest to the greatest",
}


def solve(task: str, source: Int[Tensor, "batch token"]) -> Int[Tensor, "batch token"]:
    """Give the right answer to each source; the start mark stays in front.

    Raises ValueError for a task that is not in `TASKS`.
    """
    numbers = source[:, 1:]
    if task == "copy":
        answer = numbers
    elif task == "reverse":
        answer = numbers.flip(1)
    elif task == "sort":
        answer = numbers.sort(dim=1).values
    else:
        raise ValueError(f"task must be one of {', '.join(TASKS)}, got {task}")
    return torch.cat((source[:, :1], answer), dim=1)


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
    if task == "sort":
        return solve(task, source)[:, 1:, None] == source[:, None, :]
    length = source.shape[1]
    place = torch.arange(1, length) if task == "copy" else torch.arange(length - 1, 0, -1)
    return (place[:, None] == torch.arange(length)).expand(len(source), -1, -1)
