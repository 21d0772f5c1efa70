"""Two runs of one architecture as two states of one map: ours and Hugging Face's, trained and untrained; or a successor alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pages.bert import texts
from pages.bert.inputs import FIELDS, PAGE, SETTINGS, BertInputs, offers_part, part_controls
from pages.ui.shell import cache, readiness
from pages.ui.shell.controls import model_title
from pages.ui.shell.numbers import percent, points, small_number
from pages.ui.stage import texts as stage_texts
from pages.ui.stage.architecture import Box, Stack, architecture, sums_and_norms
from pages.ui.stage.controls import offered_controls, take_settings
from pages.ui.stage.mount import mount, origin
from pages.ui.stage.packing import join, pack_whole
from pages.ui.stage.sources import file_stem
from tx_core.analysis.comparison import moved_attention
from tx_core.engine import catalogue
from tx_core.engine.bert_engine import BertEngine
from tx_core.fill_mask import blanks
from tx_core.fill_mask.prediction_shift import EntryShift, shift_predictions
from tx_core.lessons import parity, untrained
from tx_core.transformer.trace import AttentionStack, Trace

BERT_STAGE = "bert"
CHECKPOINT = catalogue.MODELS / catalogue.DEFAULT
LISTED_WORDS = 5
Notes = Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class TwoRuns:
    """What the stage draws.

    Attributes:
        trace: the run that is shown first.
        other: the attention of the other run; None where there is none, or not yet.
        states: what each state of the map is called.
        apart: for each layer and head, how far the two are apart, as it is said.
        said: the sentence on that.
        ends: how far they are apart in the embeddings and in the prediction head.
        notes: how far they are apart in the parts of each block.
        prediction: bars of the first blank, where both runs predict.
        note: what the stage tells beside its states; "" for nothing.
        awaits: whether the stage asks again, because the other run is on its way.
    """

    trace: Trace
    other: AttentionStack | None
    states: Mapping[str, str]
    apart: Sequence[Sequence[str]] = ()
    said: str = ""
    ends: Mapping[str, str] | None = None
    notes: Notes = ()
    prediction: Mapping[str, object] | None = None
    note: str = ""
    awaits: bool = False


def _load_library() -> readiness.Status:
    """Import transformers and run its BERT once, which takes seconds; later runs are fast."""
    engine = catalogue.load(catalogue.DEFAULT, weights=True)
    parity.compare_with_library(engine, CHECKPOINT, readiness.WARMUP_SENTENCE)
    return readiness.Status("ready", model=engine.title, device=engine.device)


library = readiness.Warmup(_load_library)
"""Hugging Face's BERT, loaded in the background when the first reader comes."""


def run_compare(inputs: BertInputs, engine: BertEngine) -> TwoRuns:
    """Run ours and the library's; ours alone while the library is being loaded."""
    trace = cache.trace_with(engine, *inputs.sentences)
    if library.status.state == "asleep":
        library.start()
    if library.status.state != "ready":
        failed = library.status.state == "failed"
        note = texts.LIBRARY_FAILED if failed else texts.LOADING_LIBRARY
        return TwoRuns(trace, None, texts.STATES["compare"], note=note, awaits=not failed)
    found = differences(inputs, engine)
    apart = np.abs(found.ours - found.theirs).max(axis=(2, 3))
    layers = zip(found.weights, found.hidden[1:], strict=True)
    notes = [{"attention": small_number(weights), "feed_norm": small_number(hidden)} for weights, hidden in layers]
    return TwoRuns(
        trace,
        replace(trace.attention, weights=found.theirs),
        texts.STATES["compare"],
        [[small_number(one) for one in row] for row in apart.tolist()],
        texts.APART["compare"],
        {"embeddings": small_number(found.hidden[0]), "head": small_number(found.logits)},
        notes,
    )


def differences(inputs: BertInputs, engine: BertEngine) -> parity.Parity:
    """Compare every number of ours with the library's."""
    text, pair = inputs.text, inputs.pair
    key = (PAGE, "parity", cache.engine_key(engine), text, pair)
    return cache.get_or_compute(key, lambda: parity.compare_with_library(engine, CHECKPOINT, text, pair or None))


def run_untrained(inputs: BertInputs, engine: BertEngine) -> TwoRuns:
    """Run the trained BERT and one with random weights."""
    other = untrained.untrained_engine(engine, inputs.seed)
    keep = ("weights", "blank_logits")
    has_blank = not inputs.pair and blanks.text_parts(inputs.text) and engine.encode(inputs.text).blanks
    trained, drawn = (
        cache.trace_with(one, *inputs.sentences, keep=keep) if has_blank else cache.trace_with(one, *inputs.sentences)
        for one in (engine, other)
    )
    moved = moved_attention(drawn.attention.weights, trained.attention.weights).mean(-1)
    return TwoRuns(
        trained,
        drawn.attention,
        texts.STATES["random"],
        [[f"{share:.2f}" for share in row] for row in moved.tolist()],
        texts.APART["random"],
        notes=[{"attention": f"{share:.2f}"} for share in moved.mean(-1).tolist()],
        prediction=_predicted(engine, inputs.text, drawn, trained) if has_blank else None,
        note="" if has_blank else texts.NO_BLANK,
    )


def _predicted(engine: BertEngine, text: str, before: Trace, after: Trace) -> dict[str, object]:
    """Return the words that either is most sure of at the first blank, as bars."""
    shift = shift_predictions(engine, text, (), top_k=LISTED_WORDS, traces=(before, after)).blanks[0]
    likely = sorted(shift.moved, key=lambda one: (-one.after, -one.before))
    return {
        "limit": 1.0,
        "likely": [_bar(one) for one in likely],
        "followed": [],
        "named": "",
        "contrasts": [],
        "notes": [],
        "rest": "",
        "guessed": "",
    }


def _bar(entry: EntryShift) -> dict[str, object]:
    said = {"saidBefore": percent(entry.before), "saidAfter": percent(entry.after), "delta": points(entry.after - entry.before)}
    about = {"label": entry.prediction.piece, "note": entry.prediction.sentence, "moved": True, "guess": None}
    return {"before": entry.before, "after": entry.after} | about | said


def compared_stage(inputs: BertInputs, runs: TwoRuns) -> None:
    """Draw both runs as states of one map, with the architecture beside it."""
    stack, name = runs.trace.attention, (inputs.part, inputs.seed, inputs.bare, *inputs.sentences)
    told = about_runs(inputs, runs)
    sent = {"run": (f"{name} shown", stack)} | ({"before": (f"{name} other", runs.other)} if runs.other else {})

    def pack(header: Mapping[str, object]) -> bytes:
        return pack_whole({**header, **told(header)}, sent)

    mount(PAGE, BERT_STAGE, FIELDS, pack, take)


def empty_stage(inputs: BertInputs) -> None:
    """Draw a stage that shows nothing but the controls: it still writes the address."""
    nothing = {"run": None, "before": None, "stacks": [], "changes": [], "moved": []}
    told = nothing | {"controls": offered_controls(PAGE, SETTINGS, part_controls(inputs))}
    mount(PAGE, BERT_STAGE, FIELDS, lambda header: join({**header, **told}, []), take)


def take(reported: Mapping[str, object]) -> None:
    """Apply what the stage asks to compute with."""
    take_settings(PAGE, SETTINGS, reported)


def about_runs(inputs: BertInputs, runs: TwoRuns) -> Callable[[Mapping[str, object]], dict[str, object]]:
    """Return what completes the header of the stage for these runs."""
    trace = runs.trace
    told = {
        "model": model_title(trace.model),
        "text": inputs.text,
        "pair": inputs.pair,
        "bare": inputs.bare,
        "origin": origin(trace.model),
        "stem": file_stem(f"bert-{inputs.part}", trace.model),
        "changes": [],
        "moved": [[]],
        "nothingMoved": "",
        "padding": 0,
        "canOmitPositions": False,
        "grammar": None,
        "guesses": None,
        "notices": [],
        "kinds": stage_texts.STACK_LABELS,
        "controls": offered_controls(PAGE, SETTINGS, part_controls(inputs)),
        "states": runs.states,
        "apart": runs.apart or None,
        "apartSaid": runs.said,
        "note": runs.note,
        "awaits": runs.awaits,
        "captionNotes": [texts.CAPTIONS[inputs.part]],
        "prediction": runs.prediction,
        "labels": texts.PREDICTION,
        "architecture": bert_architecture(len(trace.attention.weights), runs.ends or {}, runs.notes),
    }
    return lambda header: told | {"hidden": [*header["hidden"], "changes"]}


def bert_architecture(
    layers: int, ends: Mapping[str, str], notes: Notes = (), *, lit: str = "", field: str = "layer"
) -> dict[str, object]:
    """Return the drawing of a BERT, whose prediction head leads to heads for labels; lit: the name of a part."""
    attention, feed = Box("attention", texts.ATTENTION_BOX), Box("feed", texts.FEED_BOX)
    parts = [replace(box, lit=box.name == lit) for box in sums_and_norms(attention, feed)]
    before = Box("embeddings", texts.EMBEDDINGS_BOX, note=ends.get("embeddings", ""))
    leads = {"part": "labels"} if offers_part("labels") else {}
    head = Box("head", texts.HEAD_BOX, texts.HEAD_BOX_SAID, note=ends.get("head", ""), sets=leads, lit=lit == "head")
    whole = [texts.BLOCK_APART.format(apart=note["feed_norm"]) for note in notes if "feed_norm" in note]
    return architecture(Stack(parts, layers, 1, [before], [head], field=field, notes=whole, part_notes=notes))
