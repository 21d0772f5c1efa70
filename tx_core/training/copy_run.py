"""A training run of the encoder-decoder on a synthetic task: batch by batch, stoppable, and with maps to watch."""

import time
from collections.abc import Generator
from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from tx_core.training.copy_settings import CopySettings
from tx_core.training.synthetic import answer_places, random_sources, solve
from tx_core.transformer.seq2seq import Seq2Seq, Seq2SeqRun, number_encoding, random_seq2seq, trace_seq2seq
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
            maps=probe(training) if drawn else None,
        )


def best_alignment(run: Seq2SeqRun, places: Tensor) -> float:
    """Measure how much weight the best head of the cross-attention puts where the answers stand."""
    shares = [head_shares(layer["weights"].detach(), places) for layer in run.decoder.cross_layers]
    return float(torch.stack(shares).max())


def head_shares(weights: Float[Tensor, "batch head query key"], places: Tensor) -> Float[Tensor, "head"]:
    """Average, for each head, the weight on the marked places."""
    return (weights * places[:, None]).sum(dim=-1).mean(dim=(0, 2))


def probe(training: CopyTraining) -> Trace:
    """Run the model on a sequence of its own that is the same through the whole training."""
    settings = training.settings
    source = random_sources(1, settings.length, settings.vocab_size, PROBE_SEED)
    target = solve(settings.task, source)[0, :-1]
    return trace_seq2seq(training.model, number_encoding(source[0]), number_encoding(target), name=settings.task)
