"""Pre-train a small BERT, or a causal language model, on text files: python -m tx_core.training.pretrain --corpus TEXTS --out RUN

Called again with the same folder, it resumes an interrupted run from its last saved state. The model is written to RUN/model, in
the hub's layout. --help lists the options.
"""

import argparse
import json
import math
import platform
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from tx_core.engine.tokenizer import load_tokenizer
from tx_core.errors import ExplorerError
from tx_core.training.pretraining.corpus import HELD_OUT, SOURCES, CorpusFile, CorpusProblem, read_corpus, read_source, tokenise
from tx_core.training.pretraining.export import export_checkpoint
from tx_core.training.pretraining.objectives import OBJECTIVES
from tx_core.training.pretraining.training import Pretraining, PretrainingSettings, RunProgress, check_same_run, load_state
from tx_core.training.pretraining.vocabulary import from_pieces, learn_vocabulary, pieces_of
from tx_core.transformer.bert import Bert
from tx_core.transformer.causal_lm import CausalLM


def main(argv: Sequence[str] | None = None) -> int:
    """Run from the command line; return 0 when trained, 2 for bad input."""
    options = parser().parse_args(argv)
    try:
        run, facts = prepare(options)
    except (ExplorerError, ValueError) as problem:
        print(f"pretrain: {problem}", file=sys.stderr)
        return 2
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: setattr(run, "stop_requested", True))
    for update in run.updates(options.out, facts):
        print(progress_line(update, run.settings.steps), flush=True)
    facts |= {"progress": asdict(run.progress), "held_out": run.measure()}
    model = export_checkpoint(options.out / "model", run.model.config, run.mean.module.state_dict(), run.tokenizer.backend, facts)
    print(f"model written to {model}" + ("" if run.finished else "; the run is not over, call again to go on"))
    return 0


def parser() -> argparse.ArgumentParser:
    """Build the argument parser."""
    options = argparse.ArgumentParser(prog="python -m tx_core.training.pretrain", description=__doc__.splitlines()[0])
    options.add_argument("--corpus", type=Path, required=True, help="folder of *.txt, one source each, one example a line")
    options.add_argument("--out", type=Path, required=True, help="folder of the run; the model ends up in its folder `model`")
    options.add_argument("--mix", default="cpu", help="entry of the corpus's mix.json: how often each source is read (cpu)")
    options.add_argument("--vocabulary", type=Path, help="a model's folder; without it, or --init-from, one is learned")
    options.add_argument("--vocabulary-size", type=int, default=10_240, help="pieces to learn (10240)")
    options.add_argument("--init-from", type=Path, help="a checkpoint of the same shape to go on from")
    for one in fields(PretrainingSettings):
        read = type(one.default) if one.default != () else lambda text: tuple(map(int, text.split(",")))
        text = f"{one.metadata['help']} ({one.default or 'none'})"
        options.add_argument(f"--{one.name.replace('_', '-')}", type=read, default=one.default, help=text)
    return options


def prepare(options: argparse.Namespace) -> tuple[Pretraining, dict[str, Any]]:
    """Check the options, read the texts and build the run, or resume the one in --out; return it with its facts.

    Raises CorpusProblem or ValueError before anything is trained.
    """
    settings = PretrainingSettings(**{one.name: getattr(options, one.name) for one in fields(PretrainingSettings)})
    if settings.threads:
        torch.set_num_threads(settings.threads)
    sources = read_corpus(options.corpus, options.mix)
    saved = load_state(options.out)
    if settings.freeze_attention and not (saved or options.init_from):
        raise ValueError("freeze_attention needs --init-from: heads of random weights look everywhere alike")
    backend = from_pieces(saved["pieces"]) if saved else _vocabulary(options, sources, settings.seed)
    model = _model(options.init_from, settings, backend.get_vocab_size())
    licences = options.corpus / SOURCES
    facts = {
        "data": [_describe(source) for source in sources],
        "settings": asdict(settings),
        "init_from": options.init_from.name if options.init_from else None,
        "licences": licences.read_text(encoding="utf-8") if licences.exists() else "",
        "code": code_version(),
    }
    if saved:
        check_same_run(saved["facts"], facts)
    tokenised = tokenise(sources, backend, options.out / "tokens")
    held_out = [read_source(file, 1.0).file for file in sorted((options.corpus / HELD_OUT).glob("*.txt"))]
    run = Pretraining(model, backend, tokenised, settings, held_out)
    if saved:
        run.resume(saved)
        print(f"resumed at step {run.progress.step:,} of sitting {run.progress.sittings}", flush=True)
    facts["hardware"] = describe_hardware(run.device, run.half)
    tokens = sum(len(one.ids) for one in tokenised)
    print(f"{json.dumps(facts['hardware'])}; {tokens:,} tokens in {len(tokenised)} sources", flush=True)
    return run, facts


def progress_line(progress: RunProgress, steps: int) -> str:
    """Format the progress as one line."""
    point, seconds = progress.curve[-1], progress.seconds
    line = (
        f"{100 * progress.step / steps:5.1f} %  step {progress.step:>7,}  loss {point['loss']:.3f}  "
        f"{progress.tokens / 1e6:8.2f} M tokens  {progress.tokens / seconds:>9,.0f}/s  "
        f"{seconds / 60 * (steps / progress.step - 1):5.0f} min left"
    )
    if "held_out" in point:
        line += f"  held out: {point['held_out']:.3f} nats (perplexity {math.exp(point['held_out']):.1f})"
    return line


def _vocabulary(options: argparse.Namespace, sources: Sequence[CorpusFile], seed: int) -> Tokenizer:
    if folder := options.init_from or options.vocabulary:
        return from_pieces(pieces_of(load_tokenizer(folder).backend))
    print(f"learning a vocabulary of {options.vocabulary_size:,} pieces", flush=True)
    return learn_vocabulary(sources, options.vocabulary_size, seed)


def _model(init_from: Path | None, settings: PretrainingSettings, vocab_size: int) -> Bert | CausalLM:
    config, objective = settings.config(vocab_size), OBJECTIVES[settings.objective]
    if init_from is None:
        return objective.random_model(config, settings.seed)
    model = objective.load(init_from)
    if model.config != replace(config, dropout=model.config.dropout):
        raise CorpusProblem(f"{init_from.name} has another shape than asked for: {model.config} against {config}.")
    return model


def _describe(source: CorpusFile) -> dict[str, Any]:
    bytes_read = source.file.stat().st_size
    return {"name": source.name, "sha256": source.sha256, "lines": source.lines, "bytes": bytes_read, "weight": source.weight}


def code_version() -> str:
    """Return the commit of this code, with a plus sign if files differ from it; "unknown" outside a repository."""
    words = ["git", "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+"]
    try:
        done = subprocess.run(words, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return done.stdout.strip()


def describe_hardware(device: str, half: bool) -> dict[str, Any]:
    """Describe the hardware and the versions."""
    is_gpu = device.startswith("cuda")
    return {
        "device": torch.cuda.get_device_name(device) if is_gpu else f"{platform.processor() or platform.machine()} {device}",
        "threads": torch.get_num_threads(),
        "precision": "bf16" if half else "fp32",
        "torch": str(torch.__version__),
        "python": platform.python_version(),
    }


if __name__ == "__main__":
    sys.exit(main())
