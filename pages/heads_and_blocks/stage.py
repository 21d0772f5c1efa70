"""The stage of the page on blocks: the architecture, in which a part or a block is chosen, and the pictures of the part."""

from collections.abc import Mapping
from dataclasses import replace

from pages.heads_and_blocks import texts
from pages.heads_and_blocks.inputs import DIMENSIONS_SHOWN, FIRST_CELLS, HEADS, LAYERS, MAX_DEPTH_SEEDS, BlockInputs
from pages.ui.shell.address import is_offered
from pages.ui.shell.level import is_hidden
from pages.ui.stage.architecture import Box, Stack, architecture, lit, norms_and_sums
from pages.ui.stage.browser_texts import NORM, NORM_AFTER, RESIDUAL
from pages.ui.stage.controls import Control, matrix_controls, numbered
from pages.ui.stage.matrices import cell_to_link
from tx_core.engine.bert_engine import BertEngine

MAX_FOLLOWED_TOKENS = 8
BLOCK_PARTS = ("heads", "feed", "norm")
"""Parts of one block; from any other, a click on a block leads to its heads."""


def block_controls(inputs: BlockInputs, engine: BertEngine | None) -> list[Control]:
    """Return what the toolbar asks, for the part that is looked at."""
    heads = engine.info.num_heads if engine else HEADS
    tokens = _tokens(inputs, engine) if engine and inputs.part == "journey" else ()
    own = {
        "heads": [Control("heads", "several", texts.HEADS_USED, numbered(heads, "{number}"))],
        "feed": [Control("bend", "segments", texts.ACTIVATION, tuple(texts.ACTIVATIONS.items()), texts.ACTIVATION_HELP)],
        "norm": [Control("norm", "segments", texts.WHICH_NORM, tuple(texts.NORMS.items()))],
        "depth": [
            Control("cut", "switch", texts.CUT),
            Control("seed", "number", texts.SEED, help=texts.SEED_HELP, limits=(1, MAX_DEPTH_SEEDS)),
        ],
        "journey": [Control("words", "several", texts.FOLLOW, tokens, most=MAX_FOLLOWED_TOKENS)],
    }
    drawn = matrix_controls(DIMENSIONS_SHOWN) if inputs.part in FIRST_CELLS else []
    return [*own.get(inputs.part, []), *drawn]


def _tokens(inputs: BlockInputs, engine: BertEngine) -> tuple[tuple[str, str], ...]:
    tokens = engine.encode(inputs.text, inputs.pair or None).tokens
    return tuple((str(number), token) for number, token in enumerate(tokens, 1))


def block_architecture(inputs: BlockInputs, engine: BertEngine | None) -> dict[str, object]:
    """Return the drawing of the model with the chosen block open and the chosen part lit."""
    names = {
        "heads": ("heads",),
        "embeddings": ("embeddings",),
        "feed": ("feed",),
        "norm": ("embeddings",) if inputs.norm == "embeddings" else (f"{inputs.norm}_norm",),
        "depth": ("attention_sum", "feed_forward_sum"),
        "journey": ("path",),
    }[inputs.part]
    attention, feed = Box("heads", texts.HEADS, sets=_leads("heads")), Box("feed", texts.FEED_FORWARD, sets=_leads("feed"))
    parts = [
        part
        for box, place in ((attention, "attention"), (feed, "feed_forward"))
        for part in (
            box,
            Box(f"{place}_sum", "+", RESIDUAL.format(part=box.title), "sum", sets=_leads("depth")),
            Box(f"{place}_norm", NORM, NORM_AFTER.format(part=box.title), sets=_leads("norm", norm=place)),
        )
    ]
    before = [Box("embeddings", texts.EMBEDDINGS, sets=_leads("embeddings"))]
    path = [Box("path", texts.PATH, texts.PATH_SAID, sets=_leads("journey"))]
    count = engine.info.num_layers if engine else LAYERS
    layer = "layer" if is_offered("layer") else ""
    model = Stack(
        lit(parts, *names),
        count,
        inputs.layer,
        lit(before, *names),
        [Box("head", texts.PREDICTION)],
        lit(path, *names)[0],
        field=layer,
        sets={} if inputs.part in BLOCK_PARTS and names != ("embeddings",) else _leads("heads"),
    )
    if inputs.part != "depth":
        return architecture(model)
    other = norms_and_sums(Box("attention", texts.HEADS), Box("feed_forward", texts.FEED_FORWARD))
    pre_norm = Stack(lit(other, *names), 1, label=texts.PRE_NORM_BLOCK)
    return architecture(replace(model, label=texts.POST_NORM_BLOCK), pre_norm)


def _leads(part: str, **more: str) -> Mapping[str, str]:
    """Return what a click on the box of a part sets; nothing where the level or a step of a lesson does not offer the part."""
    if not is_offered("part") or is_hidden(f"part={part}"):
        return {}
    return {"part": part, **more, "cell": cell_to_link(FIRST_CELLS.get(part)), "matrices": "cell"}
