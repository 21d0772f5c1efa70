"""Pre-train a small BERT on text files: python -m tx_core.training.pretrain --corpus TEXTS --out RUN

Called again with the same folder, a run that was killed goes on where its last saved state stands. At the end the
model lies in RUN/model, in the hub's own layout. Every choice is an option: --help lists them.
"""

import argparse
import json
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from tx_core.engine.checkpoint import load_bert
from tx_core.engine.tokenizer import Tokenizer as ReadingTokenizer
from tx_core.engine.tokenizer import load_tokenizer
from tx_core.errors import ExplorerError
from tx_core.training.pretraining.corpus import CorpusProblem, Source, lines_of, read_corpus, read_held_out
from tx_core.training.pretraining.deepen import deepen_model, frozen_while_new_blocks_learn, new_blocks, query_and_key_weights
from tx_core.training.pretraining.export import export_checkpoint
from tx_core.training.pretraining.provenance import (
    choose_device,
    code_version,
    describe_data,
    describe_hardware,
    in_half,
    read_licences,
)
from tx_core.training.pretraining.run_state import check_same_run, load_state
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
from tx_core.training.pretraining.token_store import tokenise
from tx_core.training.pretraining.training import Pretraining, TrainingSettings, TrainingUpdate
from tx_core.training.pretraining.vocabulary import check_marks, from_pieces, learn_vocabulary, pieces_of, read_vocabulary
from tx_core.transformer.bert import Bert, random_bert

Tell = Callable[[str], None]


def main(words: Sequence[str] | None = None) -> int:
    """Run from the command line; give the exit status: 0 when trained, 2 when something must be put right first."""
    given = parser().parse_args(words)
    try:
        prepared, facts = prepare(given, _say)
    except (ExplorerError, ValueError) as problem:
        print(f"pretrain: {problem}", file=sys.stderr)
        return 2
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: setattr(prepared, "stop_asked", True))
    for told in prepared.steps(given.out, facts):
        _say(progress_line(told))
    directory = export(given.out, prepared, facts)
    _say(f"model written to {directory}" + ("" if prepared.done >= 1 else "; the run is not over, call again to go on"))
    return 0


def prepare(given: argparse.Namespace, tell: Tell) -> tuple[Pretraining, dict[str, Any]]:
    """Check everything, read the texts and build the run, or take up the one in --out.

    Raises CorpusProblem or ValueError before anything is trained.
    """
    choices = TrainingSettings(
        *(
            record_from(given, record)
            for record in (PackingSettings, MaskingSettings, ScheduleSettings, OptimiserSettings, RunSettings)
        )
    )
    shape = record_from(given, ModelSettings)
    if choices.packing.buckets[-1] > shape.positions:
        raise ValueError(f"the longest bucket must fit into {shape.positions} positions, got {choices.packing.buckets[-1]}")
    if choices.run.threads:
        torch.set_num_threads(choices.run.threads)
    sources = read_corpus(given.corpus, given.mix)
    held_out = read_held_out(given.corpus)
    saved = load_state(given.out)
    if choices.schedule.hold_looking and not (saved or given.init_from):
        raise ValueError("hold_looking needs --init-from: heads of random weights look everywhere alike")
    backend = from_pieces(saved["facts"]["pieces"]) if saved else _vocabulary(given, sources, choices.run.seed, tell)
    model, held = _model(given, shape, backend, choices)
    fixed = query_and_key_weights(model, choices.schedule.hold_looking)
    device = choose_device(choices.run.device)
    half = in_half(choices.run.precision, device)
    facts = _facts(given, sources, backend, model, choices)
    if saved:
        check_same_run(saved["facts"]["same"], facts["same"])
    tokenised = tokenise(sources, backend, given.cache or given.out / "tokens", tell)
    run = Pretraining(
        model,
        _reading(backend),
        tokenised,
        choices,
        device=device,
        half=half,
        held_out=[source.file for source in held_out],
        held=held,
        fixed=fixed,
    )
    if saved:
        run.resume(saved)
        tell(f"resumed at step {run.progress.step:,} of sitting {run.progress.sittings}")
    facts["hardware"] = describe_hardware(device, half)
    tell(f"{json.dumps(facts['hardware'])}; {sum(len(s.ids) for s in tokenised):,} tokens in {len(tokenised)} sources")
    return run, facts


def export(out: Path, run: Pretraining, facts: dict[str, Any]) -> Path:
    """Write the mean of the weights as a checkpoint into the folder `model` of the run."""
    told = {name: facts[name] for name in ("data", "settings", "code", "hardware", "licences", "init_from")}
    progress = asdict(run.progress)
    held_out = run.measure() if run.held_out else {}
    weights = run.mean.full_state(run.model)
    config = replace(run.model.config, dropout=0.0)
    return export_checkpoint(
        out / "model", config, weights, run.tokenizer.backend, told | {"progress": progress, "held_out": held_out}
    )


def progress_line(told: TrainingUpdate) -> str:
    """Say in one line how the run stands."""
    left = "" if told.seconds_left == float("inf") else f"  {told.seconds_left / 60:5.0f} min left"
    measured = ""
    if told.held_out:
        figures = told.held_out["all"]
        measured = f"  held out: {figures['loss']:.3f} nats, {100 * figures['accuracy']:.1f} %"
    return (
        f"{100 * told.done:5.1f} %  step {told.step:>7,}  loss {told.loss:.3f}  {told.tokens / 1e6:8.2f} M tokens  "
        f"{told.tokens_per_second:>9,.0f}/s{left}{measured}"
    )


def _vocabulary(given: argparse.Namespace, sources: Sequence[Source], seed: int, tell: Tell) -> Tokenizer:
    if given.init_from:
        if given.vocabulary:
            raise CorpusProblem("A run from --init-from keeps that model's vocabulary: leave --vocabulary out.")
        return check_marks(load_tokenizer(given.init_from).backend)
    if given.vocabulary:
        return read_vocabulary(given.vocabulary)
    extra = list(lines_of(given.extra_words)) if given.extra_words else []
    tell(f"learning a vocabulary of {given.vocabulary_size:,} pieces, {len(extra):,} of them given")
    return learn_vocabulary(sources, given.vocabulary_size, extra, seed=seed)


def _model(
    given: argparse.Namespace, shape: ModelSettings, backend: Tokenizer, choices: TrainingSettings
) -> tuple[Bert, list[str]]:
    """Build the model to begin with; name the weights of it that are held at first."""
    config = shape.config(backend.get_vocab_size())
    if given.init_from is None:
        return random_bert(config, choices.run.seed), []
    loaded = load_bert(given.init_from)
    found = loaded.config.num_layers
    same = {"dropout": config.dropout, "num_layers": max(found, config.num_layers)}
    if replace(loaded.config, **same) != config:
        raise CorpusProblem(f"{given.init_from.name} has another shape than asked for: {loaded.config} against {config}.")
    model = random_bert(config, choices.run.seed)
    # A checkpoint without a masked-word head keeps the random one.
    model.load_state_dict(deepen_model(loaded, config.num_layers).state_dict(), strict=False)
    return model, frozen_while_new_blocks_learn(model, new_blocks(found, config.num_layers))


def _reading(backend: Tokenizer) -> ReadingTokenizer:
    return ReadingTokenizer(backend, mask="[MASK]", unknown="[UNK]", padding="[PAD]")


def _facts(
    given: argparse.Namespace, sources: Sequence[Source], backend: Tokenizer, model: Bert, choices: TrainingSettings
) -> dict[str, Any]:
    """Gather what the manifest tells; `same` is what a resumed run must share with the one it goes on from."""
    settings = {name: asdict(part) for name, part in vars(choices).items()} | {"model": asdict(model.config)}
    data = describe_data(sources)
    # The length of a run and of its hold may be changed on the way; made longer, it holds again up to its share.
    fixed = {name: value for name, value in settings["schedule"].items() if name not in ("steps", "minutes", "hold_old")}
    same = {
        "model": settings["model"],
        "packing": settings["packing"],
        "masking": settings["masking"],
        "optimiser": settings["optimiser"],
        "schedule": fixed,
        "seed": choices.run.seed,
        "data": data,
    }
    return {  # in `same` a list and a tuple are alike, as they are once saved
        "same": json.loads(json.dumps(same)),
        "pieces": pieces_of(backend),
        "data": data,
        "settings": settings,
        "code": code_version(),
        "licences": read_licences(given.corpus),
        "init_from": given.init_from.name if given.init_from else None,
    }


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
