"""The settings of a pre-training run, one record per topic, and the command line made of them."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

from tx_core.transformer.config import BertConfig, CausalConfig, require_among, require_positive


@dataclass(frozen=True)
class ModelSettings:
    """What the model predicts, and its shape; the vocabulary's size follows from the vocabulary."""

    objective: str = field(default="masked", metadata={"help": "masked: words hidden in a text (BERT); causal: every next token"})
    layers: int = field(default=6, metadata={"help": "number of blocks"})
    heads: int = field(default=8, metadata={"help": "heads in each block"})
    hidden: int = field(default=256, metadata={"help": "hidden size"})
    intermediate: int = field(default=1024, metadata={"help": "width of the feed-forward part"})
    positions: int = field(default=128, metadata={"help": "longest input"})
    dropout: float = field(default=0.0, metadata={"help": "dropout"})

    def __post_init__(self) -> None:
        require_among("objective", self.objective, ("masked", "causal"))

    def config(self, vocab_size: int) -> BertConfig | CausalConfig:
        """Return the model's configuration; raises ValueError for impossible sizes."""
        if self.objective == "causal":
            return CausalConfig(
                vocab_size=vocab_size,
                hidden_size=self.hidden,
                num_layers=self.layers,
                num_heads=self.heads,
                intermediate_size=self.intermediate,
                max_positions=self.positions,
                rotary_base=10_000.0,
                activation="gelu",
                layer_norm_eps=1e-5,
                dropout=self.dropout,
            )
        return BertConfig(
            vocab_size=vocab_size,
            hidden_size=self.hidden,
            num_layers=self.layers,
            num_heads=self.heads,
            intermediate_size=self.intermediate,
            max_positions=self.positions,
            num_segments=2,
            activation="gelu",
            layer_norm_eps=1e-12,
            dropout=self.dropout,
        )


@dataclass(frozen=True)
class PackingSettings:
    """Settings of packing: lengths of examples and size of batches.

    Attributes:
        rooms: Lengths to which sentences of a paragraph are packed, equally often; the longest bucket if none fits.
        buckets: Padded lengths.
        batch_tokens: Token slots of a batch, the same for every bucket.
    """

    rooms: tuple[int, ...] = field(default=(24, 32, 48, 64, 96, 128), metadata={"help": "lengths of packed paragraphs"})
    buckets: tuple[int, ...] = field(
        default=(12, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 72, 80, 96, 112, 128), metadata={"help": "padded lengths"}
    )
    batch_tokens: int = field(default=4096, metadata={"help": "token slots in a batch on the device"})
    single_share: float = field(default=0.5, metadata={"help": "share of lines read one sentence at a time"})
    pair_share: float = field(default=0.5, metadata={"help": "share of packed paragraphs split into two segments"})
    block_lines: int = field(default=20_000, metadata={"help": "lines that are shuffled and sorted by length together"})

    @property
    def fitting_rooms(self) -> tuple[int, ...]:
        """The rooms that fit into the longest bucket."""
        return tuple(room for room in self.rooms if room <= self.buckets[-1]) or self.buckets[-1:]

    def __post_init__(self) -> None:
        require_positive("batch_tokens", self.batch_tokens)
        require_positive("block_lines", self.block_lines)
        if not self.buckets or list(self.buckets) != sorted(set(self.buckets)) or self.buckets[0] < 8:
            raise ValueError(f"buckets must be lengths of 8 or more in rising order, got {self.buckets}")
        if min(self.rooms, default=8) < 8:
            raise ValueError(f"rooms must be lengths of 8 or more, got {self.rooms}")
        if self.batch_tokens < self.buckets[-1]:
            raise ValueError(f"batch_tokens must hold the longest bucket, {self.buckets[-1]}, got {self.batch_tokens}")
        _require_share("single_share", self.single_share)
        _require_share("pair_share", self.pair_share)


@dataclass(frozen=True)
class MaskingSettings:
    """The masked-word task (Devlin et al. 2019, section 3.1). Chosen words that are neither masked nor replaced stay."""

    rate: float = field(default=0.25, metadata={"help": "share of masked words at the start"})
    final_rate: float = field(default=0.15, metadata={"help": "share at the end; it decays linearly"})
    blanked: float = field(default=0.8, metadata={"help": "share of them shown as [MASK]"})
    replaced: float = field(default=0.1, metadata={"help": "share of them shown as a random piece"})

    def __post_init__(self) -> None:
        for name in ("rate", "final_rate", "blanked", "replaced"):
            _require_share(name, getattr(self, name))
        if self.rate == 0 or self.final_rate == 0:
            raise ValueError("rate and final_rate must be above 0: without blanks there is nothing to learn")
        if self.blanked + self.replaced > 1:
            raise ValueError(f"blanked and replaced must sum to 1 at most, got {self.blanked} and {self.replaced}")


@dataclass(frozen=True)
class ScheduleSettings:
    """Duration, learning rate and batch growth. The run ends after `steps`, or after `minutes` if steps is 0.

    With `decay_steps`, the rate is constant between warm-up and the last updates (Hu et al. 2024, section 4.2): until it falls,
    the run can be prolonged by more `steps`, as if they had been asked for from the start.
    """

    steps: int = field(default=0, metadata={"help": "updates in all; 0: the time decides"})
    minutes: float = field(default=60.0, metadata={"help": "time budget, all sittings together, where steps is 0"})
    peak_rate: float = field(default=1e-3, metadata={"help": "peak learning rate"})
    warm_up: float = field(default=0.06, metadata={"help": "share of the run with rising learning rate"})
    warm_up_steps: int = field(default=0, metadata={"help": "updates with rising rate, in place of the share"})
    decay_steps: int = field(default=0, metadata={"help": "last updates with falling rate, before constant; 0: falls throughout"})
    accumulate: int = field(default=1, metadata={"help": "batches accumulated per update"})
    grown: int = field(default=4, metadata={"help": "batches accumulated per update in the last part"})
    grow_after: float = field(default=0.6, metadata={"help": "share of the run after which batches grow"})
    freeze_old: float = field(
        default=0.15, metadata={"help": "share of the run in which only what the blocks added to --init-from add is trained"}
    )
    freeze_attention: tuple[int, ...] = field(default=(), metadata={"help": "layers whose queries and keys are frozen, from 1"})

    def __post_init__(self) -> None:
        if self.steps < 0 or (self.steps == 0 and self.minutes <= 0):
            raise ValueError(f"a run needs steps or minutes above 0, got {self.steps} and {self.minutes}")
        if self.peak_rate <= 0:
            raise ValueError(f"peak_rate must be above 0, got {self.peak_rate}")
        counted = (self.warm_up_steps, self.decay_steps)
        if any(counted) and not (min(counted) > 0 and sum(counted) <= self.steps):
            raise ValueError(
                "decay_steps needs warm_up_steps, and both must fit into the steps, got "
                f"{self.decay_steps} and {self.warm_up_steps} of {self.steps}"
            )
        require_positive("accumulate", self.accumulate)
        require_positive("grown", self.grown)
        _require_share("warm_up", self.warm_up)
        _require_share("grow_after", self.grow_after)
        _require_share("freeze_old", self.freeze_old)


@dataclass(frozen=True)
class OptimiserSettings:
    """AdamW (Loshchilov & Hutter 2019), Muon (Jordan et al. 2024) and the running mean of the weights, which is exported."""

    beta1: float = field(default=0.9, metadata={"help": "decay of the mean gradient"})
    beta2: float = field(default=0.98, metadata={"help": "decay of the mean squared gradient"})
    epsilon: float = field(default=1e-6, metadata={"help": "added to the root of the squared gradient"})
    weight_decay: float = field(default=0.01, metadata={"help": "weight decay, not of norms and biases"})
    clip: float = field(default=1.0, metadata={"help": "maximum norm of the gradient"})
    muon: bool = field(default=False, metadata={"help": "Muon in place of AdamW for the matrices of the blocks"})
    momentum: float = field(default=0.95, metadata={"help": "momentum of Muon"})
    mean_decay: float = field(default=0.999, metadata={"help": "decay of the running mean of the weights; 0: none"})


@dataclass(frozen=True)
class RunSettings:
    """Seed, hardware, and how often to log, save and measure.

    precision: auto, bf16 or fp32; auto is bf16 where the hardware supports it.
    """

    seed: int = field(default=0, metadata={"help": "seed of weights, order and masks"})
    device: str = field(default="auto", metadata={"help": "auto, cpu, cuda, mps"})
    precision: str = field(default="auto", metadata={"help": "auto, bf16, fp32"})
    compile: bool = field(default=False, metadata={"help": "torch.compile"})
    threads: int = field(default=0, metadata={"help": "CPU threads; 0: PyTorch's choice"})
    save_minutes: float = field(default=3.0, metadata={"help": "minutes between two saved states"})
    save_steps: int = field(default=0, metadata={"help": "steps between two saved states; 0: the time decides"})
    log_seconds: float = field(default=15.0, metadata={"help": "seconds between two lines of progress"})
    measure_minutes: float = field(default=15.0, metadata={"help": "minutes between two measurements on held-out text"})
    measure_lines: int = field(default=40, metadata={"help": "held-out lines a source to measure on"})


def _require_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must lie in [0, 1], got {value}")


Record = TypeVar("Record")

RECORDS = (ModelSettings, PackingSettings, MaskingSettings, ScheduleSettings, OptimiserSettings, RunSettings)


def parser() -> argparse.ArgumentParser:
    """Build the argument parser of `python -m tx_core.training.pretrain`."""
    options = argparse.ArgumentParser(
        prog="python -m tx_core.training.pretrain",
        description="Train a small BERT or causal language model on text files; called again with the same --out, it resumes.",
    )
    files = options.add_argument_group("files")
    files.add_argument("--corpus", type=Path, required=True, help="folder of *.txt, one source each, one example a line")
    files.add_argument("--out", type=Path, required=True, help="folder of the run; the model ends up in its folder `model`")
    files.add_argument("--mix", default="cpu", help="entry of the corpus's mix.json: how often each source is read")
    files.add_argument("--cache", type=Path, help="where texts are kept as numbers (default: `tokens` in --out)")
    files.add_argument("--vocabulary", type=Path, help="a model's folder; without it, or --init-from, one is learned")
    files.add_argument("--vocabulary-size", type=int, default=10_240, help="pieces to learn")
    files.add_argument("--init-from", type=Path, help="a checkpoint to go on from, of the same shape or with fewer layers")
    files.add_argument("--export", action="store_true", help="train nothing: write the model of the saved state")
    for record in RECORDS:
        group = options.add_argument_group(record.__name__.removesuffix("Settings").lower())
        for setting in fields(record):
            _add(group, setting.name, setting.default, setting.type, setting.metadata["help"])
    return options


def record_from(given: argparse.Namespace, record: type[Record]) -> Record:
    """Build a settings record from parsed options; raises ValueError for impossible values."""
    return record(**{setting.name: getattr(given, setting.name) for setting in fields(record)})


def _add(group: argparse._ArgumentGroup, name: str, default: Any, kind: Any, told: str) -> None:
    option = f"--{name.replace('_', '-')}"
    if kind is bool:
        group.add_argument(option, action=argparse.BooleanOptionalAction, default=default, help=told)
    elif get_origin(kind) is tuple:
        told = f"{told}, with commas ({','.join(map(str, default)) or 'none'})"
        group.add_argument(option, type=tuple_of(get_args(kind)[0]), default=default, help=told)
    else:
        group.add_argument(option, type=kind, default=default, help=f"{told} ({default})")


def tuple_of(kind: type) -> Callable[[str], tuple[Any, ...]]:
    """Return a parser of comma-separated values."""
    return lambda text: tuple(kind(part) for part in text.split(","))
