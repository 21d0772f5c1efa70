"""The stage of self-attention: one head as matrices, and what the reader asks to compute with."""

from collections.abc import Mapping
from dataclasses import dataclass

from pages.self_attention import texts
from pages.self_attention.head import head_matrices, head_steps
from pages.self_attention.inputs import DIMENSIONS_SHOWN, FIELDS, HEADS, LAYERS, PAGE, SEEDS, SETTINGS, HeadInputs
from pages.ui.shell import cache, controls
from pages.ui.shell.level import is_hidden
from pages.ui.stage.browser_texts import CONTROLS
from pages.ui.stage.controls import Control, numbered, offered_controls, take_settings
from pages.ui.stage.matrices import MATRICES_STAGE, pack_matrices
from pages.ui.stage.mount import mount, origin
from pages.ui.stage.packing import join
from pages.ui.stage.sources import file_stem
from pages.ui.stage.texts import WITHOUT_SPECIAL, WITHOUT_SPECIAL_HELP
from pages.ui.stage.tokens import SPECIAL_FIELD, note_special_tokens, warn_of_unknown
from tx_core.engine.engine import Engine
from tx_core.engine.threads import use_one_core
from tx_core.errors import memory_checked
from tx_core.lessons.self_attention import HeadRun, head_run
from tx_core.transformer.trace import Encoding


@dataclass(frozen=True)
class HeadAnswer:
    """One head on the sentence, and how the sentence was read."""

    run: HeadRun
    engine: Engine
    encoding: Encoding


def run_head(inputs: HeadInputs) -> HeadAnswer:
    """Compute the head that is asked for; raise ExplorerError where the text cannot be read."""
    use_one_core()
    engine = inputs.engine()
    with memory_checked():
        trace = cache.trace_with(engine, inputs.text, keep=("hidden",))
        return HeadAnswer(head_run(engine, trace, inputs.choice), engine, trace.attention.query_tokens)


def note_reading(answer: HeadAnswer) -> None:
    """Show what a reader should know of how the text was read; nothing where all is as usual."""
    note_special_tokens(answer.engine, answer.encoding.special_tokens)
    warn_of_unknown([answer.encoding])


def head_stage(inputs: HeadInputs, answer: HeadAnswer) -> None:
    """Draw the stage of one head."""
    run = answer.run

    def pack(header: Mapping[str, object]) -> bytes:
        return pack_matrices({**header, **_about(inputs, answer)}, head_matrices(run, DIMENSIONS_SHOWN[1]), head_steps(run))

    mount(PAGE, MATRICES_STAGE, FIELDS, pack, take)


def empty_stage() -> None:
    """Draw a stage that shows nothing: it still writes the address."""
    mount(PAGE, MATRICES_STAGE, FIELDS, lambda header: join({**header, "run": None}, []), take)


def take(reported: Mapping[str, object]) -> None:
    """Apply what the toolbar asks to compute with."""
    take_settings(PAGE, SETTINGS, reported)


def head_controls(weights: str) -> list[Control]:
    """Return what the toolbar asks to compute with, for projections of this kind."""
    layers = Control("layer", "list", CONTROLS["layer"], numbered(LAYERS, CONTROLS["layerNumber"]))
    heads, arrows = numbered(HEADS, CONTROLS["headNumber"]), (CONTROLS["headBefore"], CONTROLS["headAfter"])
    head = Control("head", "list", CONTROLS["head"], heads, arrows=arrows, carries="layer")
    seed = Control("seed", "number", texts.SEED, help=texts.SEED_HELP, limits=SEEDS)
    return [
        layers,
        *([head] if weights == "trained" else []),
        Control("weights", "list", texts.PROJECTIONS, tuple(texts.PROJECTION_LABELS.items())),
        *([seed] if weights == "random" else []),
        Control("normalise", "segments", texts.ATTENTION, tuple(texts.NORMALISE_LABELS.items()), texts.NORMALISE_HELP),
        Control("unscaled", "switch", texts.SCALED, help=texts.SCALED_HELP, inverted=True),
        Control("causal", "switch", texts.CAUSAL, help=texts.CAUSAL_HELP),
        Control(SPECIAL_FIELD.name, "switch", WITHOUT_SPECIAL, help=WITHOUT_SPECIAL_HELP, late=True),
    ]


def _about(inputs: HeadInputs, answer: HeadAnswer) -> dict[str, object]:
    settings, model = inputs.settings(), answer.engine.name
    stem = file_stem("self-attention", model)
    return {
        "run": True,
        "kind": "head",
        "namesTitle": texts.TOKENS,
        "model": controls.model_title(model),
        "text": inputs.text,
        "bare": inputs.bare,
        "title": texts.EXPORT_TITLE.format(**settings),
        "origin": origin(model),
        "stem": "{stem}-layer{layer}-head{head}".format(stem=stem, **settings),
        "controls": offered_controls(PAGE, SETTINGS, head_controls(inputs.choice.weights)),
        "dimensionsShown": DIMENSIONS_SHOWN,
        "firstStep": "matches",
        "grows": is_hidden("formulas"),
    }
