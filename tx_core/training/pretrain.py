"""Pre-train a small BERT, or a causal language model, on text files: python -m tx_core.training.pretrain --corpus TEXTS --out RUN

Called again with the same folder, it resumes an interrupted run from its last saved state. The finished model is written to
RUN/model, in the hub's layout. --help lists the options.
"""

import argparse
import json
import math
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from tx_core.engine.checkpoint_files import MANIFEST, read_json
from tx_core.engine.tokenizer import Tokenizer as ReadingTokenizer
from tx_core.engine.tokenizer import load_tokenizer
from tx_core.errors import ExplorerError
from tx_core.training.pretraining.batches import StreamPosition
from tx_core.training.pretraining.corpus import CorpusFile, CorpusProblem, read_corpus, read_held_out, tokenise
from tx_core.training.pretraining.deepen import deepen_model, frozen_while_new_blocks_learn, new_blocks, query_and_key_weights
from tx_core.training.pretraining.export import export_checkpoint
from tx_core.training.pretraining.objectives import OBJECTIVES
from tx_core.training.pretraining.run_records import (
    check_same_run,
    choose_device,
    code_version,
    describe_data,
    describe_hardware,
    in_half,
    load_state,
    read_licences,
)
from tx_core.training.pretraining.settings import (
    MaskingSettings,
    ModelSettings,
    OptimiserSettings,
    PackingSettings,
    RunSettings,
    ScheduleSettings,
    parser,
    record_from,
)
from tx_core.training.pretraining.training import Pretraining, TrainingSettings, TrainingUpdate
from tx_core.training.pretraining.vocabulary import check_marks, from_pieces, learn_vocabulary, pieces_of
from tx_core.transformer.bert import Bert
from tx_core.transformer.causal_lm import CausalLM

Log = Callable[[str], None]


def main(argv: Sequence[str] | None = None) -> int:
    """Run from the command line; return 0 when trained, 2 for bad input."""
    options = parser().parse_args(argv)
    try:
        prepared, facts = prepare(options, _print_line)
    except (ExplorerError, ValueError) as problem:
        print(f"pretrain: {problem}", file=sys.stderr)
        return 2
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: setattr(prepared, "stop_requested", True))
    if options.export and prepared.progress.step == 0:
        print(f"pretrain: there is no saved state in {options.out}", file=sys.stderr)
        return 2
    for update in () if options.export else prepared.updates(options.out, facts):
        _print_line(progress_line(update))
    directory = export(options.out, prepared, facts)
    _print_line(f"model written to {directory}" + ("" if prepared.done >= 1 else "; the run is not over, call again to go on"))
    return 0


def _choices(options: argparse.Namespace) -> tuple[TrainingSettings, ModelSettings]:
    """Read the settings of the run and the sizes of the model, which must fit each other."""
    records = (PackingSettings, MaskingSettings, ScheduleSettings, OptimiserSettings, RunSettings)
    choices, shape = TrainingSettings(*(record_from(options, record) for record in records)), record_from(options, ModelSettings)
    if (longest := choices.packing.buckets[-1]) > shape.positions:
        raise ValueError(f"the longest bucket must fit into {shape.positions} positions, got {longest}")
    return choices, shape


def prepare(options: argparse.Namespace, log: Log) -> tuple[Pretraining, dict[str, Any]]:
    """Check the options, read the texts and build the run, or resume the one in --out.

    Raises CorpusProblem or ValueError before anything is trained.
    """
    choices, shape = _choices(options)
    if choices.run.threads:
        torch.set_num_threads(choices.run.threads)
    sources = read_corpus(options.corpus, options.mix)
    held_out = read_held_out(options.corpus)
    saved = load_state(options.out)
    if choices.schedule.freeze_attention and not (saved or options.init_from):
        raise ValueError("freeze_attention needs --init-from: heads of random weights look everywhere alike")
    backend = from_pieces(saved["facts"]["pieces"]) if saved else _vocabulary(options, sources, choices.run.seed, log)
    model, frozen_at_first = _model(options, shape, backend, choices)
    frozen = query_and_key_weights(model, choices.schedule.freeze_attention)
    device = choose_device(choices.run.device)
    half = in_half(choices.run.precision, device)
    facts = _facts(options, sources, backend, model, choices)
    if saved:
        check_same_run(saved["facts"]["same"], facts["same"])
    tokenised = tokenise(sources, backend, options.cache or options.out / "tokens", log)
    run = Pretraining(
        model,
        _reading(backend),
        tokenised,
        choices,
        objective=shape.objective,
        device=device,
        half=half,
        held_out=[source.file for source in held_out],
        frozen_at_first=frozen_at_first,
        frozen=frozen,
    )
    if saved:
        run.resume(saved)
        log(f"resumed at step {run.progress.step:,} of sitting {run.progress.sittings}")
    elif options.init_from:
        run.stream.place = _unread(options.init_from, facts)
    facts["hardware"] = describe_hardware(device, half)
    log(f"{json.dumps(facts['hardware'])}; {sum(len(s.ids) for s in tokenised):,} tokens in {len(tokenised)} sources")
    return run, facts


def export(out: Path, run: Pretraining, facts: dict[str, Any]) -> Path:
    """Write the running mean of the weights as a checkpoint to the folder `model` of the run."""
    kept = ("data", "settings", "code", "hardware", "licences", "init_from", "tokens_before")
    recorded = {name: facts.get(name) for name in kept} | {
        "read": {"passes": run.stream.place.passes, "block": run.stream.place.block}
    }
    progress = asdict(run.progress)
    held_out = run.measure() if run.held_out else {}
    weights = run.mean.full_state(run.model)
    config = replace(run.model.config, dropout=0.0)
    return export_checkpoint(
        out / "model", config, weights, run.tokenizer.backend, recorded | {"progress": progress, "held_out": held_out}
    )


def progress_line(update: TrainingUpdate) -> str:
    """Format a progress record as one line."""
    left = "" if update.seconds_left == float("inf") else f"  {update.seconds_left / 60:5.0f} min left"
    measured = ""
    if update.held_out:
        figures = update.held_out["all"]
        loss, accuracy = figures["loss"], figures["accuracy"]
        measured = f"  held out: {loss:.3f} nats (perplexity {math.exp(loss):.1f}), {100 * accuracy:.1f} %"
    return (
        f"{100 * update.done:5.1f} %  step {update.step:>7,}  loss {update.loss:.3f}  {update.tokens / 1e6:8.2f} M tokens  "
        f"{update.tokens_per_second:>9,.0f}/s{left}{measured}"
    )


def _vocabulary(options: argparse.Namespace, sources: Sequence[CorpusFile], seed: int, log: Log) -> Tokenizer:
    if options.init_from:
        if options.vocabulary:
            raise CorpusProblem("A run from --init-from keeps that model's vocabulary: leave --vocabulary out.")
        return check_marks(load_tokenizer(options.init_from).backend)
    if options.vocabulary:
        return check_marks(load_tokenizer(options.vocabulary).backend)
    log(f"learning a vocabulary of {options.vocabulary_size:,} pieces")
    return learn_vocabulary(sources, options.vocabulary_size, seed=seed)


def _model(
    options: argparse.Namespace, shape: ModelSettings, backend: Tokenizer, choices: TrainingSettings
) -> tuple[Bert | CausalLM, list[str]]:
    """Build the initial model; also return the names of the weights that are frozen at first."""
    config, objective = shape.config(backend.get_vocab_size()), OBJECTIVES[shape.objective]
    model = objective.random_model(config, choices.run.seed)
    if options.init_from is None:
        return model, []
    loaded = objective.load(options.init_from)
    found = loaded.config.num_layers
    same = {"dropout": config.dropout, "num_layers": max(found, config.num_layers)}
    if replace(loaded.config, **same) != config:
        raise CorpusProblem(f"{options.init_from.name} has another shape than asked for: {loaded.config} against {config}.")
    if isinstance(loaded, CausalLM):
        if found != config.num_layers:
            raise CorpusProblem(f"Only a BERT gets new layers; {options.init_from.name} has {found}: call with --layers {found}.")
        model.load_state_dict(loaded.state_dict())
        return model, []
    # For a checkpoint without a masked-word head, the random head stays.
    model.load_state_dict(deepen_model(loaded, config.num_layers).state_dict(), strict=False)
    return model, frozen_while_new_blocks_learn(model, new_blocks(found, config.num_layers))


def _earlier(folder: Path | None) -> dict[str, Any]:
    """Return the facts of the training that made a model; none without a model or its manifest."""
    return read_json(folder / MANIFEST).get("training", {}) if folder and (folder / MANIFEST).exists() else {}


def _tokens_before(folder: Path | None) -> int:
    """Return how many tokens a model has read in all its trainings."""
    facts = _earlier(folder)
    return (facts.get("tokens_before") or 0) + facts.get("progress", {}).get("tokens", 0)


def _unread(folder: Path, facts: dict[str, Any]) -> StreamPosition:
    """Return the first block of the same texts, in the same order, that a model has not begun to read; else the start."""
    earlier = _earlier(folder)
    seeds = [run["settings"]["run"]["seed"] for run in (earlier, facts) if "settings" in run]
    if earlier.get("data") != facts["data"] or seeds[0] != seeds[-1] or not earlier.get("read"):
        return StreamPosition()
    return StreamPosition(earlier["read"]["passes"], earlier["read"]["block"] + 1)


def _reading(backend: Tokenizer) -> ReadingTokenizer:
    return ReadingTokenizer(backend, mask="[MASK]", unknown="[UNK]", padding="[PAD]")


def _facts(
    options: argparse.Namespace,
    sources: Sequence[CorpusFile],
    backend: Tokenizer,
    model: Bert | CausalLM,
    choices: TrainingSettings,
) -> dict[str, Any]:
    """Collect the facts for the manifest; those in `same` must be equal when a run is resumed."""
    settings = {name: asdict(part) for name, part in vars(choices).items()} | {"model": asdict(model.config)}
    data = describe_data(sources)
    # The length of a run, of its hold and of its decay may be changed on the way; made longer, it holds again up to its share.
    lengths = ("steps", "minutes", "freeze_old", "decay_steps")
    unchanged = {name: value for name, value in settings["schedule"].items() if name not in lengths}
    same = {
        "model": settings["model"],
        "packing": settings["packing"],
        "masking": settings["masking"],
        "optimiser": settings["optimiser"],
        "schedule": unchanged,
        "seed": choices.run.seed,
        "data": data,
    }
    return {  # in `same` a list and a tuple are alike, as they are once saved
        "same": json.loads(json.dumps(same)),
        "pieces": pieces_of(backend),
        "data": data,
        "settings": settings,
        "code": code_version(),
        "licences": read_licences(options.corpus),
        "init_from": options.init_from.name if options.init_from else None,
        "tokens_before": _tokens_before(options.init_from),
    }


def _print_line(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
