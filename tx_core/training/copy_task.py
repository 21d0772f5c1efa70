"""Train an encoder-decoder to copy, reverse or sort random numbers, batch by batch, and test what it has learned."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from tx_core.engine.device import sole_use
from tx_core.engine.progress import Progress
from tx_core.engine.tensors import stack_layers
from tx_core.errors import TextProblem
from tx_core.training.loop import train
from tx_core.transformer.config import AttentionKind, Seq2SeqConfig, require_among
from tx_core.transformer.interventions import Head
from tx_core.transformer.seq2seq import Seq2Seq, greedy_decode, random_seq2seq
from tx_core.transformer.trace import AttentionStack, Encoding, Trace, axes, plain_encoding

# The tasks and their settings

START_ID = 1

FIRST_NUMBER = 2


@dataclass(frozen=True)
class Task:
    """A task on sequences of numbers.

    solve: returns the answer to numbers, both (batch, token), the start mark left out. by_value: whether the order of the answer
    follows from the values, so that equal numbers are equally right.
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
        names = ("vocab_size", "hidden_size", "num_layers", "num_heads", "intermediate_size", "norm_first")
        own = {name: getattr(self, name) for name in names}
        return Seq2SeqConfig(**own, max_positions=self.length, activation="relu", layer_norm_eps=1e-5, dropout=0.0)

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


# The training

PROBE_SEED = 2**31 - 1

PROBE_EVERY = 10


@dataclass
class CopyTraining:
    """A training run that can be stopped after any batch.

    probe: the numbers that its records answer; () for random ones that are never trained on.
    """

    settings: CopySettings
    model: Seq2Seq
    device: str
    done: int = 0
    probe: tuple[int, ...] = ()

    @cached_property
    def optimiser(self) -> torch.optim.Adam:
        """Adam as in Vaswani et al. 2017, section 5.3. Made by the first batch: it imports torch's compiler, 70 MB."""
        return torch.optim.Adam(self.model.parameters(), lr=self.settings.learning_rate, betas=(0.9, 0.98))

    @property
    def batches(self) -> int:
        return self.settings.batches

    def updates(self) -> Generator[Progress, None, None]:
        """Train, yielding one record per batch, until all are done."""
        return train(self, train_copy_batch)

    def probe_and_test(self) -> tuple["CopyAnswer | None", None]:
        """Return what the model answers to the probe, every tenth batch, after the first and the last."""
        if self.done % PROBE_EVERY and self.done not in (1, self.batches):
            return None, None
        drawn = random_sources(1, self.settings.length, self.settings.vocab_size, PROBE_SEED)  # the same in the whole training
        return answer_sequence(self, self.probe or drawn[0, 1:].tolist()), None


def start_copy_training(settings: CopySettings, device: str = "cpu") -> CopyTraining:
    """Initialise the model. The same settings give the same run on the same kind of device."""
    with sole_use(device):
        model = random_seq2seq(settings.model_sizes, settings.seed).to(device)
    return CopyTraining(settings, model, device)


def train_copy_batch(training: CopyTraining) -> dict[str, float]:
    """Train on the next batch, which follows from the seed and its number alone.

    Returns its loss (cross-entropy per token, in nats), its accuracy (the share of correct tokens, with teacher forcing) and its
    alignment (the weight that the best head of the cross-attention puts on the source token of each answer).
    """
    settings, batch = training.settings, training.done
    sources = random_sources(settings.batch_size, settings.length, settings.vocab_size, settings.seed * 1_000_003 + batch)
    targets = solve(settings.task, sources)
    places = answer_places(settings.task, sources).to(training.device)
    training.model.train()
    rise, fall = (batch + 1) / max(1, settings.batches // 20), 2 * (1 - batch / settings.batches)
    for group in training.optimiser.param_groups:
        group["lr"] = settings.learning_rate * min(1.0, rise, fall)
    targets = targets.to(training.device)
    run = training.model(sources.to(training.device), targets[:, :-1], keep=("weights",))
    loss = torch.nn.functional.cross_entropy(run.logits.flatten(0, 1), targets[:, 1:].flatten())
    training.optimiser.zero_grad()
    loss.backward()
    training.optimiser.step()
    training.model.eval()
    accuracy = float((run.logits.argmax(-1) == targets[:, 1:]).float().mean())
    shares = [head_shares(layer["weights"].detach(), places) for layer in run.decoder.cross_layers]
    return {"loss": loss.item(), "accuracy": accuracy, "alignment": float(torch.stack(shares).max())}


def head_shares(weights: Float[Tensor, "batch head query key"], places: Tensor) -> Float[Tensor, "head"]:
    """Return the mean weight of each head on the marked positions."""
    return (weights * places[:, None]).sum(dim=-1).mean(dim=(0, 2))


def best_aligned_head(trace: Trace, task: str) -> Head:
    """Return the head of the cross-attention that attends most to the source positions of the target tokens.

    trace: of a whole sequence, as `answer_sequence` returns it.
    """
    cross = next(stack for stack in trace.stacks if stack.kind == "cross")
    places = answer_places(task, torch.tensor([cross.key_tokens.ids]))
    shares = torch.stack([head_shares(torch.tensor(layer)[None], places) for layer in cross.weights])
    return divmod(int(shares.argmax()), shares.shape[1])


EXAM_SEED = 2**31 - 2
"""The seed of test sequences, far from the seeds of training batches."""


@dataclass(frozen=True)
class CopyAnswer:
    """The model's answer to a sequence; the start mark is left out.

    trace: all three kinds of attention, over what the model wrote.
    """

    numbers: tuple[int, ...]
    written: tuple[int, ...]
    right: tuple[int, ...]
    usual_length: bool
    trace: Trace

    @property
    def right_ones(self) -> int:
        return sum(written == right for written, right in zip(self.written, self.right, strict=True))


def read_numbers(text: str, settings: CopySettings) -> tuple[int, ...]:
    """Parse a sequence of whole numbers separated by spaces or commas.

    Raises TextProblem for anything else; the message lists what the model can read.
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


def answer_sequence(training: CopyTraining, numbers: Sequence[int]) -> CopyAnswer:
    """Decode the model's answer greedily and keep its attention."""
    keep = ("weights", "scores")
    with sole_use(training.device), torch.no_grad():
        source = torch.tensor([[START_ID, *numbers]], device=training.device)
        written = greedy_decode(training.model, source, START_ID, source.shape[1])
        run = training.model(source, written[:, :-1], keep=keep)
        layers = {"self": run.encoder.layers, "decoder": run.decoder.layers, "cross": run.decoder.cross_layers}
        parts = {kind: {one: stack_layers([layer[one] for layer in own]) for one in keep} for kind, own in layers.items()}
        return copy_answer(training, numbers, written[0, 1:].cpu().tolist(), parts)


def copy_answer(
    training: CopyTraining,
    numbers: Sequence[int],
    written: Sequence[int],
    parts: Mapping[AttentionKind, Mapping[str, np.ndarray]],
) -> CopyAnswer:
    """Return what was written for a sequence, with the parts of each kind of attention that were kept."""
    task = training.settings.task
    right = solve(task, torch.tensor([[START_ID, *numbers]]))[0, 1:].tolist()
    sides = axes(number_encoding([START_ID, *numbers]), number_encoding([START_ID, *written[:-1]]))
    trace = Trace(task, training.device, tuple(AttentionStack(kind, *sides[kind], **parts[kind]) for kind in sides))
    usual_length = 1 + len(numbers) == training.settings.length
    return CopyAnswer(tuple(numbers), tuple(written), tuple(right), usual_length, trace)


def number_encoding(numbers: Sequence[int]) -> Encoding:
    """Encode a sequence of numbers, each a token."""
    return plain_encoding(list(map(str, numbers)), numbers)


def count_errors(training: CopyTraining, sequences: int = 100) -> tuple[int, int]:
    """Test the model on new sequences of the trained length; return the number of wrong numbers, and of all."""
    settings = training.settings
    sources = random_sources(sequences, settings.length, settings.vocab_size, EXAM_SEED)
    with sole_use(training.device):
        written = greedy_decode(training.model, sources.to(training.device), START_ID, settings.length).cpu()
    wrong = written[:, 1:] != solve(settings.task, sources)[:, 1:]
    return int(wrong.sum()), wrong.numel()
