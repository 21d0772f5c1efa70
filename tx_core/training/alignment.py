"""Which head of the cross-attention found the answers: the one whose weight lies where they stand in the source."""

from dataclasses import dataclass

import torch

from tx_core.training.copy_run import head_shares
from tx_core.training.synthetic import answer_places, solve
from tx_core.transformer.trace import Trace


@dataclass(frozen=True)
class AlignedHead:
    """A head of the cross-attention, counted from 0, and the share of its weight that lies on the answers."""

    layer: int
    head: int
    share: float


def best_head(trace: Trace, task: str) -> AlignedHead:
    """Find the head that looks most at the numbers to be written.

    trace: of a whole sequence, as `copy_run.probe` and `copy_task.answer` give it.
    """
    cross = next(stack for stack in trace.stacks if stack.kind == "cross")
    places = answer_places(task, torch.tensor([cross.key_tokens.ids]))
    shares = torch.stack([head_shares(torch.from_numpy(layer)[None], places) for layer in cross.weights])
    layer, head = divmod(int(shares.argmax()), shares.shape[1])
    return AlignedHead(layer, head, float(shares[layer, head]))


def right_numbers(trace: Trace, task: str) -> tuple[int, ...]:
    """Give the number that each step of the decoder should write, for the source that a run has read."""
    cross = next(stack for stack in trace.stacks if stack.kind == "cross")
    return tuple(solve(task, torch.tensor([cross.key_tokens.ids]))[0, 1:].tolist())
