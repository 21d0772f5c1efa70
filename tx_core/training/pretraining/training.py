"""The pre-training run: a generator of progress records that can be stopped at any moment and resumed."""

import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from tx_core.engine.tokenizer import Tokenizer
from tx_core.training.evaluation.masked_words import as_numbers
from tx_core.training.pretraining.batches import Batch, BatchStream, Packer, StreamPosition, continuing_pieces
from tx_core.training.pretraining.corpus import TokenisedSource
from tx_core.training.pretraining.objectives import OBJECTIVES, Asked, Asking
from tx_core.training.pretraining.optimiser import RunningMean, make_optimiser
from tx_core.training.pretraining.run_records import RunProgress, save_state
from tx_core.training.pretraining.settings import (
    MaskingSettings,
    OptimiserSettings,
    PackingSettings,
    RunSettings,
    ScheduleSettings,
)
from tx_core.training.pretraining.vocabulary import pieces_of
from tx_core.transformer.bert import Bert
from tx_core.transformer.causal_lm import CausalLM
from tx_core.transformer.fused import fused_loss


def training_progress(settings: ScheduleSettings, step: int, seconds: float) -> float:
    """Return the progress of the run, 0 to 1: by steps, or by the time of all sittings together."""
    done = step / settings.steps if settings.steps else seconds / (60 * settings.minutes)
    return min(1.0, done)


def learning_rate(settings: ScheduleSettings, done: float, step: int = 0) -> float:
    """Return the learning rate: linear warm-up to the peak, then linear decay to 0 (Izsak et al. 2021, section 3).

    With `decay_steps`, warm-up and decay are counted in updates, and the peak rate holds between them.
    """
    if settings.decay_steps:
        rising, falling = (step + 1) / settings.warm_up_steps, (settings.steps - step) / settings.decay_steps
        return settings.peak_rate * min(1.0, rising, falling)
    if done < settings.warm_up:
        # The warm-up starts above 0: an update with a rate of 0 would change nothing.
        return settings.peak_rate * max(done / settings.warm_up, 1e-3)
    return settings.peak_rate * (1 - done) / (1 - settings.warm_up) if settings.warm_up < 1 else settings.peak_rate


def rate_after_freeze(settings: ScheduleSettings, done: float, step: int = 0) -> float:
    """Return the learning rate of a run that starts with frozen weights: it warms up again when they are released.

    The optimiser has no statistics of their gradients by then.
    """
    if done < settings.freeze_old or not (settings.freeze_old and settings.warm_up):
        return learning_rate(settings, done, step)
    return learning_rate(settings, done, step) * min(1.0, max((done - settings.freeze_old) / settings.warm_up, 1e-3))


def mask_rate(settings: MaskingSettings, done: float) -> float:
    """Return the share of masked words, which decays linearly to the final one (Ankner et al. 2024)."""
    return settings.rate + (settings.final_rate - settings.rate) * done


def batches_to_an_update(settings: ScheduleSettings, done: float) -> int:
    """Return the batches per update, which grow late in the run, when less gradient noise helps."""
    return settings.grown if done >= settings.grow_after else settings.accumulate


class Clocks:
    """Timers on one clock, which continues from the seconds of earlier sittings."""

    def __init__(self, seconds: float):
        self._began = time.monotonic() - seconds
        self._last: dict[str, float] = {}
        self._start = time.monotonic()

    def total(self) -> float:
        """Return the seconds of all sittings together."""
        return time.monotonic() - self._began

    def since(self, name: str) -> float:
        """Return the seconds since the last call with this name."""
        now = time.monotonic()
        passed = now - self._last.get(name, self._start)
        self._last[name] = now
        return max(passed, 1e-9)

    def due(self, name: str, every: float) -> bool:
        """Return whether `every` seconds have passed since this was last due; if so, restart the timer."""
        now = time.monotonic()
        if now - self._last.get(name, self._start) < every:
            return False
        self._last[name] = now
        return True


def to_device(array: np.ndarray, device: str) -> Tensor:
    """Copy an array to the device; to a GPU without blocking, so that the next batch is prepared while it computes."""
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.startswith("cuda") else tensor.to(device)


def attention_mask(batch: Batch, device: str) -> Tensor | None:
    """Return the padding mask of a batch, True = may attend; None without padding."""
    width = batch.ids.shape[1]
    if int(batch.lengths.min()) == width:
        return None
    allowed = np.arange(width)[None, :] < batch.lengths[:, None]
    return to_device(allowed, device)[:, None, None, :]


@dataclass(frozen=True)
class TrainingSettings:
    """All settings except the shape of the model."""

    packing: PackingSettings
    masking: MaskingSettings
    schedule: ScheduleSettings
    optimiser: OptimiserSettings
    run: RunSettings


class TrainingUpdate(NamedTuple):
    """One progress record.

    Attributes:
        step: Updates made.
        done: Progress of the run, 0 to 1.
        loss: Mean cross-entropy per predicted piece since the last record, in nats.
        tokens: Tokens read.
        tokens_per_second: Speed since the last record.
        seconds_left: Estimated time to the end.
        held_out: Measurements by source; None where nothing was measured.
    """

    step: int
    done: float
    loss: float
    tokens: int
    tokens_per_second: float
    seconds_left: float
    held_out: dict[str, Any] | None = None


class Pretraining:
    """One run: model, running mean of its weights, optimiser, stream of batches and progress.

    Attributes:
        frozen_at_first: Weights that are frozen for the first part of the run, `freeze_old`: all but those that decide what
            new blocks add. At first that is noise, and the quickest way to reduce it is to attend to [CLS] or [SEP] alone.
            With everything trained from the start, every head of a new block did so within 215 updates, and stayed there.
        frozen: Weights that are frozen for the whole run.
        stop_requested: Set to True to stop after the current update.
    """

    def __init__(
        self,
        model: Bert | CausalLM,
        tokenizer: Tokenizer,
        sources: Sequence[TokenisedSource],
        choices: TrainingSettings,
        *,
        objective: str = "masked",
        device: str,
        half: bool,
        held_out: Sequence[Path] = (),
        frozen_at_first: Sequence[str] = (),
        frozen: Sequence[str] = (),
    ):
        self.choices, self.device, self.half = choices, device, half
        self.objective = OBJECTIVES[objective]
        self.tokenizer, self.held_out = tokenizer, held_out
        self.model = model.to(device).train().requires_grad_(True)
        self.frozen_at_first, self.frozen = tuple(frozen_at_first), tuple(frozen)
        self.mean = RunningMean(self.model, choices.optimiser.mean_decay)
        self.optimiser = make_optimiser(self.model, choices.optimiser, half)
        pieces = pieces_of(tokenizer.backend)
        self.continues = continuing_pieces(pieces)
        self.stream = BatchStream(Packer(sources, pieces, choices.packing), choices.run.seed)
        self.progress = RunProgress()
        self.stop_requested = False
        forward = self.objective.forward
        self._forward = torch.compile(forward, dynamic=True) if choices.run.compile else forward

    @property
    def done(self) -> float:
        """The progress of the run, 0 to 1."""
        return training_progress(self.choices.schedule, self.progress.step, self.progress.seconds)

    def updates(self, folder: Path, facts: dict[str, Any]) -> Generator[TrainingUpdate, None, None]:
        """Train to the end, or until `stop_requested`, yielding records and saving states with `facts` in them."""
        run, batches = self.choices.run, iter(self.stream)
        clock = Clocks(self.progress.seconds)
        losses: list[Tensor] = []
        tokens_logged = self.progress.tokens
        while self.done < 1 and not self.stop_requested:
            loss = self.update(batches)
            losses.append(loss)
            self.progress.seconds = clock.total()
            last = self.done >= 1 or self.stop_requested
            measured = self.measure() if self.held_out and (last or clock.due("measure", 60 * run.measure_minutes)) else None
            if last or measured or clock.due("log", run.log_seconds):
                seconds = clock.since("log line")
                record = self._record(losses, (self.progress.tokens - tokens_logged) / seconds, measured)
                losses, tokens_logged = [], self.progress.tokens
                yield record
            steps_due = run.save_steps and self.progress.step % run.save_steps == 0
            if steps_due or (not run.save_steps and clock.due("save", 60 * run.save_minutes)):
                save_state(folder, self.state(facts))
        save_state(folder, self.state(facts))

    def update(self, batches: Iterator[Batch]) -> Tensor:
        """Make one update on one or more batches; return the mean loss in nats, on the device."""
        choices, done = self.choices, self.done
        taken = [next(batches) for _ in range(batches_to_an_update(choices.schedule, done))]
        asked = [self._ask(batch, done, number) for number, batch in enumerate(taken)]
        torch.manual_seed(choices.run.seed * 1_000_003 + self.progress.step)  # dropout, the same after a resume
        total = sum(len(part.wanted) for part in asked)
        loss = torch.zeros((), device=self.device)
        for batch, question in zip(taken, asked, strict=True):
            part = self.loss_sum(batch, question) / total
            part.backward()
            loss += part.detach()
        for name in (*self.frozen, *(self.frozen_at_first if done < choices.schedule.freeze_old else ())):
            self.model.get_parameter(name).grad = None
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), choices.optimiser.clip)
        rate = rate_after_freeze if self.frozen_at_first else learning_rate
        self.optimiser.step(rate(choices.schedule, done, self.progress.step))
        self.mean.update(self.model)
        self.progress.step += 1
        self.progress.batches += len(taken)
        self.progress.tokens += sum(int(batch.lengths.sum()) for batch in taken)
        return loss

    def loss_sum(self, batch: Batch, asked: Asked) -> Tensor:
        """Sum the cross-entropy, in nats, over the pieces asked for."""
        ids, places, wanted, segments = (to_device(part, self.device) for part in (*asked, batch.segments))
        mask = attention_mask(batch, self.device)
        with torch.autocast(torch.device(self.device).type, dtype=torch.bfloat16, enabled=self.half):
            hidden = self._forward(self.model, ids, segments, mask).flatten(0, 1)
            return fused_loss(self.model, hidden, places, wanted)

    def _ask(self, batch: Batch, done: float, number: int) -> Asked:
        masking = self.choices.masking
        chance = np.random.default_rng([self.choices.run.seed, 1, self.progress.batches + number])
        return self.objective.ask(batch, Asking(self.continues, mask_rate(masking, done), masking), chance)

    def measure(self) -> dict[str, Any]:
        """Evaluate the running mean of the weights on held-out text."""
        model = self.objective.model(replace(self.model.config, dropout=0.0))
        model.load_state_dict(self.mean.full_state(self.model))
        lines = self.choices.run.measure_lines
        measured = as_numbers(self.objective.measure(model, self.tokenizer, self.device, self.held_out, lines))
        self.progress.held_out.append({"step": self.progress.step, "tokens": self.progress.tokens, **measured["all"]})
        return measured

    def _record(self, losses: Sequence[Tensor], speed: float, measured: dict[str, Any] | None) -> TrainingUpdate:
        loss, done = float(torch.stack(list(losses)).mean()), self.done
        if not np.isfinite(loss):
            raise FloatingPointError(f"the loss is {loss} at step {self.progress.step}: lower --peak-rate and resume")
        self.progress.curve.append({"step": self.progress.step, "tokens": self.progress.tokens, "loss": round(loss, 4)})
        left = self.progress.seconds * (1 - done) / done if done else float("inf")
        return TrainingUpdate(self.progress.step, done, loss, self.progress.tokens, speed, left, measured)

    def state(self, facts: dict[str, Any]) -> dict[str, Any]:
        """Return everything that is needed to resume the run."""
        return {
            "facts": facts,
            "model": self.model.state_dict(),
            "mean": {"weights": self.mean.weights, "updates": self.mean.updates},
            "optimiser": self.optimiser.state_dict(),
            "stream": asdict(self.stream.place),
            "progress": asdict(self.progress),
            "frozen_at_first": self.frozen_at_first,
        }

    def resume(self, state: dict[str, Any]) -> None:
        """Restore a saved state."""
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        for name, weights in state["mean"]["weights"].items():
            self.mean.weights[name].copy_(weights)
        self.mean.updates = state["mean"]["updates"]
        self.stream.place = StreamPosition(**state["stream"])
        self.progress = RunProgress(**state["progress"])
        self.progress.sittings += 1
        self.frozen_at_first = tuple(state.get("frozen_at_first", self.frozen_at_first))
