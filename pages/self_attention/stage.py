"""The stage of self-attention: one head as matrices, and what the reader asks to compute with."""

from collections.abc import Mapping
from dataclasses import dataclass

from pages.self_attention import texts
from pages.self_attention.head import head_matrices, head_steps
from pages.self_attention.inputs import DIMENSIONS_SHOWN, FIELDS, HEADS, LAYERS, PAGE, SETTINGS, HeadInputs, take_settings
from pages.ui.export import texts as export_texts
from pages.ui.export.records import file_stem
from pages.ui.panels.tokens import note_special_tokens, warn_of_unknown
from pages.ui.shell import cache, controls
from pages.ui.shell.address import is_offered
from pages.ui.stage.matrices import pack_matrices
from pages.ui.stage.mount import mount
from pages.ui.stage.packing import join
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine
from tx_core.engine.threads import use_one_core
from tx_core.errors import memory_checked
from tx_core.lessons.self_attention import HeadRun, head_run
from tx_core.settings import app_version
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
        steps = head_steps(run)
        return pack_matrices({**header, **_about(inputs, answer)}, head_matrices(run, DIMENSIONS_SHOWN[1]), steps)

    mount(PAGE, PAGE, FIELDS, pack, take_settings)


def empty_stage() -> None:
    """Draw a stage that shows nothing: it still writes the address."""
    mount(PAGE, PAGE, FIELDS, lambda header: join({**header, "run": None}, []), take_settings)


def _about(inputs: HeadInputs, answer: HeadAnswer) -> dict[str, object]:
    names = [field.name for field in (*SETTINGS, *FIELDS.looks)]
    settings = {**inputs.settings(), "nospecial": inputs.bare}
    hidden = [*(name for name in (*names, "export", "share") if not is_offered(name))]
    model = controls.model_title(answer.engine.name)
    revision = export_texts.MODEL_REVISION.format(model=model, revision=catalogue.revision(answer.engine.name))
    return {
        "run": True,
        "kind": "head",
        "namesTitle": texts.TOKENS,
        "model": model,
        "text": inputs.text,
        "bare": inputs.bare,
        "title": texts.EXPORT_TITLE.format(**settings),
        "origin": f"{revision}; {export_texts.APP} {app_version()};",
        "stem": file_stem("self-attention", answer.engine.name),
        "settings": settings,
        "sizes": {"layers": LAYERS, "heads": HEADS},
        "dimensionsShown": DIMENSIONS_SHOWN,
        "hiddenSettings": hidden,
    }
