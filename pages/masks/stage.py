"""The stage of one head under a mask: the browser paints masks, and works out what they do to the scores that are sent."""

from pages.masks import texts
from pages.masks.drawn import MAX_PAINTED_TOKENS
from pages.masks.head import DRAWN, MADE, head_matrices, head_steps
from pages.masks.inputs import FIELDS, HEADS, LAYERS, PAGE, PENALTIES, SETTINGS, SIZES, MaskInputs
from pages.ui.shell import controls
from pages.ui.shell.level import is_hidden
from pages.ui.stage.browser_texts import CONTROLS
from pages.ui.stage.controls import Control, numbered, offered_controls, take_settings
from pages.ui.stage.matrices import pack_matrices
from pages.ui.stage.mount import Reported, mount, origin
from pages.ui.stage.sources import file_stem
from pages.ui.stage.texts import WITHOUT_SPECIAL, WITHOUT_SPECIAL_HELP
from pages.ui.stage.tokens import SPECIAL_FIELD
from tx_core.engine.catalogue import DEFAULT
from tx_core.lessons.masking import MaskedHead, PaddedScores

ENTRY = "masks"
PADDING = {"padding": "3", "combined": "3"}
"""Tokens of padding that are added where there are none, by the masks that would hide nothing without them."""


def head_stage(inputs: MaskInputs, scores: PaddedScores, head: MaskedHead) -> None:
    """Draw one head under the mask that is looked at."""
    paintable = len(head.tokens) <= MAX_PAINTED_TOKENS and not is_hidden(f"kind={DRAWN}")
    place = {"layer": inputs.layer + 1, "head": inputs.head + 1}
    about = {
        "run": True,
        "kind": "masks",
        "namesTitle": "",
        "model": controls.model_title(DEFAULT),
        "text": inputs.text,
        "bare": inputs.bare,
        "title": texts.EXPORT_TITLES[inputs.part].format(**place, penalty=inputs.penalty),
        "origin": origin(DEFAULT),
        "stem": "{stem}-layer{layer}-head{head}".format(stem=file_stem("masks", DEFAULT), **place),
        "controls": offered_controls(PAGE, FIELDS.all, head_controls(inputs.part)),
        "stepsInToolbar": True,
        "leastCell": 10,
        "masking": {
            "part": inputs.part,
            "real": scores.real,
            "paintable": paintable,
            "padding": PADDING,
            "most": MAX_PAINTED_TOKENS,
        },
        "labels": texts.PICTURE | {"most": MAX_PAINTED_TOKENS},
    }
    pack = lambda header: pack_matrices({**header, **about}, head_matrices(inputs, head), head_steps(), MADE)  # noqa: E731
    mount(PAGE, ENTRY, FIELDS, pack, take)


def take(reported: Reported) -> None:
    """Apply what the toolbar asks to compute with."""
    take_settings(PAGE, SETTINGS, reported)


def part_control() -> Control:
    """Return the choice of a part of the page."""
    return Control("part", "segments", texts.PART, tuple(texts.PARTS.items()), apart=True)


def special_control() -> Control:
    """Return the switch that leaves special tokens out."""
    return Control(SPECIAL_FIELD.name, "switch", WITHOUT_SPECIAL, help=WITHOUT_SPECIAL_HELP, late=True)


def head_controls(part: str) -> list[Control]:
    """Return what the toolbar of one head asks."""
    heads, arrows = numbered(HEADS, CONTROLS["headNumber"]), (CONTROLS["headBefore"], CONTROLS["headAfter"])
    penalties = tuple((penalty, texts.write_penalty(penalty)) for penalty in PENALTIES)
    of_part = {
        "one": Control("matrices", "segments", texts.STATE, tuple(texts.STATES.items()), looks=True),
        "penalty": Control("penalty", "list", texts.PENALTY, penalties, looks=True),
    }
    return [
        part_control(),
        Control("kind", "list", texts.MASK, tuple(texts.KINDS.items()), looks=True),
        Control(
            "width", "number", texts.NEIGHBOURS, help=texts.NEIGHBOURS_HELP, limits=SIZES, looks=True, when={"kind": ["window"]}
        ),
        of_part[part],
        Control("layer", "list", CONTROLS["layer"], numbered(LAYERS, CONTROLS["layerNumber"])),
        Control("head", "list", CONTROLS["head"], heads, arrows=arrows, carries="layer"),
        Control("padding", "number", texts.PADDING_TOKENS, help=texts.PADDING_HELP, limits=SIZES, late=True),
        special_control(),
    ]
