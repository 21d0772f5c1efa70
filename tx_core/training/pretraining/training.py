"""The pre-training run: its settings, and a generator of progress records that can be stopped at any moment and resumed."""

import os
import pickle
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer as Backend
from torch import Tensor, nn

from tx_core.engine.bert_engine import OwnEngine
from tx_core.engine.device import DeviceRunner, best_device, computes_bfloat16
from tx_core.engine.tokenizer import Tokenizer
from tx_core.training.evaluation.predictions import measure_held_out
from tx_core.training.pretraining.batches import Batch, Packer
from tx_core.training.pretraining.corpus import CorpusProblem, TokenisedSource
from tx_core.training.pretraining.objectives import OBJECTIVES, Question
from tx_core.training.pretraining.optimiser import make_optimisers, running_mean
from tx_core.training.pretraining.vocabulary import pieces_of
from tx_core.transformer.bert import Bert
from tx_core.transformer.causal_lm import CausalLM
from tx_core.transformer.config import BertConfig, CausalConfig, require_among, require_positive
from tx_core.transformer.fused import fused_forward
from tx_core.transformer.layers import PAD_MULTIPLE

STATE = "state.pt"
MASKED_FIRST, MASKED_LAST = 0.25, 0.15
"""The share of masked words at the start and at the end; it decays linearly (Ankner et al. 2024)."""
GROW_AFTER = 0.6
"""The share of the run after which batches grow."""
MAX_GRADIENT = 1.0
CHANGEABLE = ("steps", "decay_steps", "report_steps", "threads")
"""The settings that may change when a run is resumed."""


def _setting(default: Any, help_text: str) -> Any:
    return field(default=default, metadata={"help": help_text})


@dataclass(frozen=True)
class PretrainingSettings:
    """All settings of a run. Raises ValueError with the rule and the value.

    The rate rises over the first steps, holds, and falls over the last ones (Hu et al. 2024, section 4.2): until it falls, the
    run can be prolonged by more `steps`, as if they had been asked for from the start.
    """

    objective: str = _setting("masked", "masked: words hidden in a text (BERT); causal: every next token")
    layers: int = _setting(6, "number of blocks")
    heads: int = _setting(8, "heads in each block")
    hidden: int = _setting(256, "hidden size")
    intermediate: int = _setting(1024, "width of the feed-forward part")
    positions: int = _setting(128, "longest input")
    batch_tokens: int = _setting(8192, "token slots in a batch")
    grown: int = _setting(1, "batches a step in the last part of the run")
    steps: int = _setting(3000, "steps in all: updates of the weights")
    warm_up_steps: int = _setting(120, "steps with rising learning rate")
    decay_steps: int = _setting(0, "last steps with falling rate; 0: all after the warm-up")
    peak_rate: float = _setting(6e-4, "peak learning rate")
    mean_decay: float = _setting(0.999, "decay of the running mean of the weights, which is exported")
    freeze_attention: tuple[int, ...] = _setting((), "layers whose queries and keys are frozen, from 1, with commas")
    report_steps: int = _setting(200, "steps between two measurements, lines of progress and saved states")
    threads: int = _setting(0, "CPU threads; 0: PyTorch's choice")
    seed: int = _setting(0, "seed of weights, order and masks")

    def __post_init__(self) -> None:
        require_among("objective", self.objective, tuple(OBJECTIVES))
        for name in ("grown", "steps", "warm_up_steps", "report_steps"):
            require_positive(name, getattr(self, name))
        if not self.peak_rate > 0:
            raise ValueError(f"peak_rate must be above 0, got {self.peak_rate}")
        if not 0 <= self.mean_decay < 1:
            raise ValueError(f"mean_decay must be from 0 to below 1, got {self.mean_decay}")
        if self.decay_steps < 0 or self.warm_up_steps + self.decay_steps > self.steps:
            sizes = f"{self.warm_up_steps} and {self.decay_steps} of {self.steps}"
            raise ValueError(f"warm_up_steps and decay_steps must fit into the steps, got {sizes}")
        if self.batch_tokens < self.positions:
            raise ValueError(f"batch_tokens must hold the longest input, {self.positions}, got {self.batch_tokens}")
        if not all(1 <= layer <= self.layers for layer in self.freeze_attention):
            raise ValueError(f"freeze_attention must name layers from 1 to {self.layers}, got {self.freeze_attention}")

    def config(self, vocab_size: int) -> BertConfig | CausalConfig:
        """Return the model's configuration; raises ValueError for impossible sizes."""
        return OBJECTIVES[self.objective].config(
            vocab_size=vocab_size,
            hidden_size=self.hidden,
            num_layers=self.layers,
            num_heads=self.heads,
            intermediate_size=self.intermediate,
            max_positions=self.positions,
        )

    def learning_rate(self, step: int) -> float:
        """Return the rate of a step, counted from 0: linear warm-up, peak, linear decay to 0."""
        falling = self.decay_steps or self.steps - self.warm_up_steps
        return self.peak_rate * min(1.0, (step + 1) / self.warm_up_steps, (self.steps - step) / max(1, falling))


@dataclass
class RunProgress:
    """The progress of a run over all its sittings, in steps, batches, tokens and seconds.

    curve: mean cross-entropy per predicted piece since the point before, in nats; on held-out text, where there is any, too.
    """

    step: int = 0
    batches: int = 0
    tokens: int = 0
    seconds: float = 0.0
    sittings: int = 1
    curve: list[dict[str, Any]] = field(default_factory=list)


class Pretraining:
    """One run: model, running mean of its weights, optimisers, batches and progress.

    stop_requested: set it to True to stop after the current step.
    """

    def __init__(
        self,
        model: Bert | CausalLM,
        backend: Backend,
        sources: Sequence[TokenisedSource],
        settings: PretrainingSettings,
        held_out: Sequence[Path] = (),
    ):
        self.settings, self.held_out, self.device = settings, held_out, best_device()
        self.half = computes_bfloat16(self.device)
        self.objective = OBJECTIVES[settings.objective]
        self.tokenizer = Tokenizer(backend, mask="[MASK]", unknown="[UNK]", padding="[PAD]")
        self.model = model.to(self.device).train().requires_grad_(True)
        blocks = [self.model.encoder.blocks[layer - 1].attention for layer in settings.freeze_attention]
        self.frozen = [weights for block in blocks for part in (block.query, block.key) for weights in part.parameters()]
        self.mean = running_mean(self.model, settings.mean_decay)
        self.optimisers = make_optimisers(self.model, self.half)
        self.saved = dict(zip(("model", "mean", "adamw", "muon"), (self.model, self.mean, *self.optimisers), strict=True))
        pieces = pieces_of(backend)
        self.continues = np.array([piece.startswith("##") for piece in pieces])
        self.packer = Packer(sources, pieces, self.objective.packing(settings.positions, settings.batch_tokens))
        self.progress = RunProgress()
        self.stop_requested = False

    @property
    def finished(self) -> bool:
        return self.progress.step >= self.settings.steps

    def updates(self, folder: Path, facts: dict[str, Any]) -> Generator[RunProgress, None, None]:
        """Train to the end, or until `stop_requested`, yielding the progress and saving states with `facts` in them."""
        progress, losses = self.progress, []
        batches = self.packer.batches(self.settings.seed, skip=progress.batches)
        began = time.monotonic() - progress.seconds
        while not (self.finished or self.stop_requested):
            losses.append(self.step(batches))
            progress.seconds = time.monotonic() - began
            if progress.step % self.settings.report_steps and not (self.finished or self.stop_requested):
                continue
            loss, losses = float(torch.stack(losses).mean()), []
            if not np.isfinite(loss):
                raise FloatingPointError(f"the loss is {loss} at step {progress.step}: lower --peak-rate and resume")
            measured = self.measure()
            point = {"step": progress.step, "tokens": progress.tokens, "loss": round(loss, 4)}
            progress.curve.append(point | ({"held_out": round(measured["all"]["loss"], 4)} if measured else {}))
            save_state(folder, self.state(facts))
            yield progress

    def step(self, batches: Iterator[Batch]) -> Tensor:
        """Update the weights once on one or more batches; return the mean loss in nats, on the device."""
        settings, progress, step = self.settings, self.progress, self.progress.step
        done = step / settings.steps
        taken = [next(batches) for _ in range(settings.grown if done >= GROW_AFTER else 1)]
        rate = MASKED_FIRST + (MASKED_LAST - MASKED_FIRST) * done
        questions = []
        for number, batch in enumerate(taken, start=progress.batches):
            questions.append(self.objective.ask(batch, self.continues, rate, np.random.default_rng([settings.seed, 1, number])))
        total = sum(len(part.wanted) for part in questions)
        loss = torch.zeros((), device=self.device)
        for batch, question in zip(taken, questions, strict=True):
            part = self.loss_sum(batch, question) / total
            part.backward()
            loss += part.detach()
        self._change_weights(step)
        progress.step += 1
        progress.batches += len(taken)
        progress.tokens += sum(int(batch.lengths.sum()) for batch in taken)
        return loss

    def _change_weights(self, step: int) -> None:
        """Change the weights by their gradients, but for those that are frozen."""
        for weights in self.frozen:
            weights.grad = None
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), MAX_GRADIENT)
        for optimiser in self.optimisers:
            for group in optimiser.param_groups:
                group["lr"] = self.settings.learning_rate(step)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        self.mean.update_parameters(self.model)

    def loss_sum(self, batch: Batch, question: Question) -> Tensor:
        """Sum the cross-entropy, in nats, over the pieces asked for.

        Places are padded to a multiple of PAD_MULTIPLE: oneDNN caches a kernel per shape, without padding 9 GB after 200 steps.
        """
        ids, places, wanted, segments = (torch.from_numpy(part).to(self.device) for part in (*question, batch.segments))
        real = np.arange(batch.ids.shape[1])[None, :] < batch.lengths[:, None]
        mask = None if real.all() else torch.from_numpy(real)[:, None, None, :].to(self.device)
        with torch.autocast(torch.device(self.device).type, dtype=torch.bfloat16, enabled=self.half):
            on_card = torch.device(self.device).type != "cpu"
            hidden = fused_forward(self.model, ids, segments, mask) if on_card else self.model(ids, segments, mask).output
            scores = self.model.predict(hidden.flatten(0, 1)[nn.functional.pad(places, (0, -len(places) % PAD_MULTIPLE))])
            return nn.functional.cross_entropy(scores[: len(wanted)].float(), wanted, reduction="sum")

    def measure(self) -> dict[str, Any]:
        """Evaluate the running mean of the weights on held-out text; return plain numbers."""
        if not self.held_out:
            return {}
        model = self.mean.module.eval()
        engine = OwnEngine("run", "This run", self.tokenizer, DeviceRunner(model, self.device))
        measured = measure_held_out(engine, self.held_out)
        return {source: figures._asdict() for source, figures in measured.items()}

    def state(self, facts: dict[str, Any]) -> dict[str, Any]:
        """Return everything that is needed to resume the run."""
        about = {"facts": facts, "pieces": pieces_of(self.tokenizer.backend), "progress": asdict(self.progress)}
        return about | {name: part.state_dict() for name, part in self.saved.items()}

    def resume(self, state: dict[str, Any]) -> None:
        """Restore a saved state."""
        for name, part in self.saved.items():
            part.load_state_dict(state[name])
        self.progress = RunProgress(**state["progress"])
        self.progress.sittings += 1


def save_state(folder: Path, state: dict[str, Any]) -> None:
    """Write a temporary file, flush it, and move it over the old state: a kill at any moment loses no state."""
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f"{STATE}.{os.getpid()}"
    with unfinished.open("wb") as out:
        torch.save(state, out)
        out.flush()
        os.fsync(out.fileno())
    os.replace(unfinished, folder / STATE)


def load_state(folder: Path) -> dict[str, Any] | None:
    """Load the saved state of a run, or None without one; only numbers and tensors, never code.

    Raises CorpusProblem if the file is damaged.
    """
    if not (folder / STATE).exists():
        return None
    try:
        return torch.load(folder / STATE, map_location="cpu", weights_only=True)
    except (RuntimeError, EOFError, pickle.UnpicklingError) as broken:
        raise CorpusProblem(f"{folder / STATE} is damaged: delete it to start the run anew.") from broken


def check_same_run(saved: dict[str, Any], new: dict[str, Any]) -> None:
    """Raise CorpusProblem if the run to resume was started with other settings, texts or weights; both as its facts."""
    found, wanted = ({**facts["settings"], "data": facts["data"], "init_from": facts["init_from"]} for facts in (saved, new))
    for name in wanted:
        if name not in CHANGEABLE and found[name] != wanted[name]:
            change = f"{name} was {repr(found[name])[:150]}, now {repr(wanted[name])[:150]}"
            raise CorpusProblem(
                f"This folder holds a run that cannot be resumed with other settings: {change}. Choose another --out."
            )
