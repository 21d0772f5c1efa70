"""Train an encoder-decoder on a synthetic task batch by batch, and test what it has learned."""

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from tx_core.errors import TextProblem
from tx_core.training.synthetic import FIRST_NUMBER, START, CopySettings, answer_places, random_sources, solve
from tx_core.transformer.seq2seq import Seq2Seq, Seq2SeqRun, greedy_decode, number_encoding, random_seq2seq, trace_seq2seq
from tx_core.transformer.trace import Trace

PROBE_SEED = 2**31 - 1

MAP_EVERY = 10


@dataclass(frozen=True)
class CopyProgress:
    """What one batch taught.

    batch: counted from 1. loss: cross-entropy in nats a word. accuracy: the share of words right, each word
    before it given. alignment: how much of its cross-attention the best head gives to the place in the source
    where the word to be written stands. seconds: since this stretch of training began. maps: on a sequence that
    is never trained on, all three kinds of attention; every tenth batch, the first of a stretch and the last have them.
    """

    batch: int
    batches: int
    loss: float
    accuracy: float
    alignment: float
    seconds: float
    maps: Trace | None


@dataclass
class CopyTraining:
    """A run that can be stopped after any batch, looked at, saved, and gone on with."""

    settings: CopySettings
    model: Seq2Seq
    optimiser: torch.optim.Adam
    device: str
    losses: list[float] = field(default_factory=list)

    @property
    def finished(self) -> bool:
        """Whether all batches are done."""
        return len(self.losses) >= self.settings.batches

    def steps(self) -> Generator[CopyProgress, None, None]:
        """Train on, one record a batch, until all are done or nobody asks for more."""
        return train(self)


def start(settings: CopySettings, device: str = "cpu") -> CopyTraining:
    """Draw the untrained model; the same settings give the same run on the same kind of device."""
    return with_optimiser(settings, random_seq2seq(settings.model_sizes, settings.seed).to(device), device)


def with_optimiser(settings: CopySettings, model: Seq2Seq, device: str) -> CopyTraining:
    """Put a model in training (Adam as in Vaswani et al. 2017, section 5.3)."""
    optimiser = torch.optim.Adam(model.parameters(), lr=settings.learning_rate, betas=(0.9, 0.98))
    return CopyTraining(settings, model, optimiser, device)


def learning_rate(settings: CopySettings, batch: int) -> float:
    """Give the rate of a batch, counted from 0: a short rise, a plateau, a straight fall over the second half."""
    rise = (batch + 1) / max(1, settings.batches // 20)
    fall = 2 * (1 - batch / settings.batches)
    return settings.learning_rate * min(1.0, rise, fall)


def train(training: CopyTraining) -> Generator[CopyProgress, None, None]:
    """Teach the model batch after batch. Every batch is drawn from the seed and its number alone."""
    settings, began, first = training.settings, time.monotonic(), len(training.losses)
    while not training.finished:
        batch = len(training.losses)
        sources = random_sources(settings.batch_size, settings.length, settings.vocab_size, settings.seed * 1_000_003 + batch)
        targets = solve(settings.task, sources)
        places = answer_places(settings.task, sources).to(training.device)
        training.model.train()
        for group in training.optimiser.param_groups:
            group["lr"] = learning_rate(settings, batch)
        targets = targets.to(training.device)
        run = training.model(sources.to(training.device), targets[:, :-1], keep=("weights",))
        loss = torch.nn.functional.cross_entropy(run.logits.flatten(0, 1), targets[:, 1:].flatten())
        training.optimiser.zero_grad()
        loss.backward()
        training.optimiser.step()
        training.model.eval()
        training.losses.append(loss.item())
        drawn = batch == first or (batch + 1) % MAP_EVERY == 0 or training.finished
        yield CopyProgress(
            batch=batch + 1,
            batches=settings.batches,
            loss=loss.item(),
            accuracy=float((run.logits.argmax(-1) == targets[:, 1:]).float().mean()),
            alignment=best_alignment(run, places),
            seconds=time.monotonic() - began,
            maps=probe_attention(training) if drawn else None,
        )


def best_alignment(run: Seq2SeqRun, places: Tensor) -> float:
    """Measure how much weight the best head of the cross-attention puts where the answers stand."""
    shares = [head_shares(layer["weights"].detach(), places) for layer in run.decoder.cross_layers]
    return float(torch.stack(shares).max())


def head_shares(weights: Float[Tensor, "batch head query key"], places: Tensor) -> Float[Tensor, "head"]:
    """Average, for each head, the weight on the marked places."""
    return (weights * places[:, None]).sum(dim=-1).mean(dim=(0, 2))


def probe_attention(training: CopyTraining) -> Trace:
    """Run the model on a sequence of its own that is the same through the whole training."""
    settings = training.settings
    source = random_sources(1, settings.length, settings.vocab_size, PROBE_SEED)
    target = solve(settings.task, source)[0, :-1]
    return trace_seq2seq(training.model, number_encoding(source[0]), number_encoding(target), name=settings.task)


@dataclass(frozen=True)
class AlignedHead:
    """A head of the cross-attention, counted from 0, and the share of its weight that lies on the answers."""

    layer: int
    head: int
    share: float


def best_aligned_head(trace: Trace, task: str) -> AlignedHead:
    """Find the head that looks most at the numbers to be written.

    trace: of a whole sequence, as `probe` and `answer` return it.
    """
    cross = next(stack for stack in trace.stacks if stack.kind == "cross")
    places = answer_places(task, torch.tensor([cross.key_tokens.ids]))
    shares = torch.stack([head_shares(torch.from_numpy(layer)[None], places) for layer in cross.weights])
    layer, head = divmod(int(shares.argmax()), shares.shape[1])
    return AlignedHead(layer, head, float(shares[layer, head]))


def expected_numbers(trace: Trace, task: str) -> tuple[int, ...]:
    """Give the number that each step of the decoder should write, for the source that a run has read."""
    cross = next(stack for stack in trace.stacks if stack.kind == "cross")
    return tuple(solve(task, torch.tensor([cross.key_tokens.ids]))[0, 1:].tolist())


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


def answer_sequence(training: CopyTraining, numbers: Sequence[int]) -> Answer:
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


def count_errors(training: CopyTraining, sequences: int = 100) -> tuple[int, int]:
    """Let the model answer new sequences of the usual length: give how many of its numbers are wrong, and of how many."""
    settings = training.settings
    sources = random_sources(sequences, settings.length, settings.vocab_size, EXAM_SEED)
    written = greedy_decode(training.model, sources.to(training.device), START, settings.length).cpu()
    wrong = written[:, 1:] != solve(settings.task, sources)[:, 1:]
    return int(wrong.sum()), wrong.numel()
