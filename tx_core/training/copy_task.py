"""Train an encoder-decoder to copy, reverse or sort, and ask it to do so with numbers of one's own.

`python -m tx_core.training.copy_task` prints what a page draws.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from tx_core.errors import TextProblem
from tx_core.training.copy_file import to_file
from tx_core.training.copy_run import CopyTraining, start, train
from tx_core.training.copy_settings import SIZES, CopySettings
from tx_core.training.synthetic import FIRST_NUMBER, START, TASKS, random_sources, solve
from tx_core.transformer.seq2seq import greedy_decode, number_encoding, trace_seq2seq
from tx_core.transformer.trace import Trace

EXAM_SEED = 2**31 - 2
"""Draws the sequences of a test; the first seeds of trainings are far from it."""


@dataclass(frozen=True)
class Answer:
    """What the model wrote for a sequence, beside what is right; the start mark is left out of all three.

    usual_length: whether the sequence is as long as those that the model was trained on.
    trace: all three kinds of attention, the target being what the model itself wrote.
    """

    numbers: tuple[int, ...]
    written: tuple[int, ...]
    right: tuple[int, ...]
    usual_length: bool
    trace: Trace

    @property
    def right_ones(self) -> int:
        """How many numbers stand where they should."""
        return sum(written == right for written, right in zip(self.written, self.right, strict=True))


def read_numbers(text: str, settings: CopySettings) -> tuple[int, ...]:
    """Read a visitor's sequence: whole numbers with spaces or commas between them.

    Raises TextProblem that says what the model can read.
    """
    most, largest = settings.length - 1, settings.vocab_size - 1
    rule = f"Write 1 to {most} whole numbers from {FIRST_NUMBER} to {largest}, with spaces between them"
    words = text.replace(",", " ").split()
    if not 1 <= len(words) <= most:
        raise TextProblem(f"{rule}; there are {len(words):,} here.")
    numbers = [int(word) if word.isascii() and word.isdigit() and len(word) <= 6 else -1 for word in words]
    for word, number in zip(words, numbers, strict=True):
        if not FIRST_NUMBER <= number <= largest:
            shown = word if len(word) <= 20 else f"{word[:20]}…"
            raise TextProblem(f"{rule}; “{shown}” is none of them.")
    return tuple(numbers)


def answer(training: CopyTraining, numbers: Sequence[int]) -> Answer:
    """Let the model write its answer word by word, and look at how it did (greedy decoding)."""
    source = torch.tensor([[START, *numbers]])
    written = greedy_decode(training.model, source.to(training.device), START, source.shape[1]).cpu()
    right = solve(training.settings.task, source)
    trace = trace_seq2seq(
        training.model,
        number_encoding(source[0]),
        number_encoding(written[0, :-1]),
        keep=("weights", "scores"),
        name=training.settings.task,
    )
    return Answer(
        tuple(numbers),
        tuple(written[0, 1:].tolist()),
        tuple(right[0, 1:].tolist()),
        source.shape[1] == training.settings.length,
        trace,
    )


def examine(training: CopyTraining, sequences: int = 100) -> tuple[int, int]:
    """Let the model answer new sequences of the usual length: give how many of its numbers are wrong, and of how many."""
    settings = training.settings
    sources = random_sources(sequences, settings.length, settings.vocab_size, EXAM_SEED)
    written = greedy_decode(training.model, sources.to(training.device), START, settings.length).cpu()
    wrong = written[:, 1:] != solve(settings.task, sources)[:, 1:]
    return int(wrong.sum()), wrong.numel()


def main(arguments: Sequence[str] | None = None) -> None:
    """Train from the command line, and write the result file where one is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=sorted(TASKS), default="copy")
    parser.add_argument("--sizes", choices=sorted(SIZES), default="quick")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, help="where to write the result, a .safetensors file")
    chosen = parser.parse_args(arguments)
    training = start(replace(SIZES[chosen.sizes], task=chosen.task, seed=chosen.seed), chosen.device)
    for progress in train(training):
        if progress.maps is not None:
            print(
                f"batch {progress.batch:4d}  loss {progress.loss:.4f}  right {progress.accuracy:.3f}  "
                f"alignment {progress.alignment:.3f}  {progress.seconds:.1f} s",
                flush=True,
            )
    if chosen.out is not None:
        chosen.out.write_bytes(to_file(training))


if __name__ == "__main__":
    main()
