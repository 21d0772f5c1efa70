"""What the page on blocks is asked: a sentence or two, a block and a part of it, by toolbar and architecture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pages.heads_and_blocks import texts
from pages.ui.export.computation import Computation
from pages.ui.export.records import PartNumbers
from pages.ui.shell import controls
from pages.ui.shell import texts as shell_texts
from pages.ui.shell.address import ask_for_view, is_offered, read_stage_address, set_values, value_of, view_parameters
from pages.ui.shell.fields import Field, StageFields, choice_field, flag_field, number_field, numbers_field, text_field
from pages.ui.shell.level import is_hidden
from pages.ui.stage.architecture import Box, Stack, architecture, lit, residual_parts
from pages.ui.stage.controls import Control, matrix_controls, numbered, seed_control
from pages.ui.stage.inputs import PageInputs, ask_sentences, input_values
from pages.ui.stage.matrices import Cell, cell_from_link, cell_to_link
from pages.ui.stage.texts import SECOND_SENTENCE
from pages.ui.stage.tokens import SPECIAL_FIELD, ask_special_tokens
from pages.ui.stage.view_options import note_built_in
from tx_core.engine.bert_engine import BertEngine

PAGE = "heads_and_blocks"
LAYERS, HEADS = controls.embedded_sizes()
MAX_BLOCK_TOKENS = 128
MAX_DEPTH_SEEDS = 20
DIMENSIONS_SHOWN = (2, 16)
PARTS = ("heads", "embeddings", "feed", "norm", "depth", "journey")
"""By the names that the address gives them; the first is that of a visit without one."""
STEPS = ("adds", "joined", "sum", "norm", "widened", "bent", "output", "statistics", "normed", "ours")
"""Of the matrices of all parts."""
FIRST_CELLS = {
    "heads": Cell("lengths", 1, 6),
    "embeddings": Cell("sum", 1, 0),
    "feed": Cell("widened", 3, 1),
    "norm": Cell("normed", 1, 0),
}


SETTINGS = (
    choice_field("part", PARTS),
    number_field("layer", 1, 1, LAYERS),
    numbers_field("heads", range(1, HEADS + 1), (1, HEADS)),
    choice_field("bend", tuple(texts.ACTIVATIONS)),
    choice_field("norm", tuple(texts.NORMS)),
    flag_field("cut"),
    number_field("seed", 1, 1, MAX_DEPTH_SEEDS),
)
FIELDS = StageFields(
    own=(text_field("text", "The old man drank a cup of [MASK] by the fire."), text_field("pair"), SPECIAL_FIELD, *SETTINGS),
    looks=(
        numbers_field("words", [4, 7, 9], (1, MAX_BLOCK_TOKENS)),
        Field("cell", FIRST_CELLS["heads"], cell_from_link, cell_to_link),
        choice_field("matrices", ("cell", "all", *STEPS)),
        flag_field("numbers"),
        number_field("dimensions", 5, *DIMENSIONS_SHOWN),
    ),
)


@dataclass(frozen=True)
class BlockInputs(PageInputs):
    """What is computed, by the names of the fields; layer and heads are counted from 1."""

    part: str
    layer: int
    heads: list[int]
    bend: str
    norm: str
    cut: bool
    seed: int
    needs_own_bert = True

    @property
    def block(self) -> int:
        """The layer, counted from 0."""
        return self.layer - 1

    def numbers(self, shown: Sequence[Computation], *used: str) -> PartNumbers:
        """Return what the part computes, for export. used: the settings that it depends on."""
        settings = vars(self) | {"words": value_of(PAGE, "words")}
        chosen = {name: settings[name] for name in used}
        title = texts.EXPORT_TITLES[self.part].format(layer=self.layer)
        return PartNumbers(title, self.about(**chosen), shown)


def block_inputs() -> BlockInputs:
    """Read the address, draw the boxes, and return what is asked."""
    arriving = read_stage_address(PAGE, FIELDS)
    if arriving and "cell" not in view_parameters():
        set_values(PAGE, {"cell": FIRST_CELLS.get(value_of(PAGE, "part"))})
    labels = {"text": shell_texts.SENTENCE, "pair": SECOND_SENTENCE}
    ask = partial(ask_special_tokens, PAGE, _keep_words)
    inputs = ask_sentences(PAGE, labels, lambda: BlockInputs(**input_values(PAGE, FIELDS.own)), ask)
    note_built_in(inputs.model)
    return inputs


def _keep_words() -> None:
    """Shift the followed positions by one where [CLS] is left out or added again."""
    step = -1 if value_of(PAGE, SPECIAL_FIELD.name) else 1
    # Positions count from 1 on screen. 0 would be [CLS], which is left out now.
    followed = [number + step for number in value_of(PAGE, "words")]
    ask_for_view(PAGE, {"words": [number for number in followed if number > 0]})


# The toolbar, and the architecture in which a part or a block is chosen


MAX_FOLLOWED_TOKENS = 8
BLOCK_PARTS = ("heads", "feed", "norm")
"""Parts of one block; from any other, a click on a block leads to its heads."""


def block_controls(inputs: BlockInputs, engine: BertEngine | None) -> list[Control]:
    """Return what the toolbar asks, for the part that is looked at."""
    tokens = _tokens(inputs, engine) if engine and inputs.part == "journey" else ()
    own = {
        "heads": [Control("heads", "several", texts.HEADS_USED, numbered(HEADS, "{number}"))],
        "feed": [Control("bend", "segments", texts.ACTIVATION, tuple(texts.ACTIVATIONS.items()), texts.ACTIVATION_HELP)],
        "norm": [Control("norm", "segments", texts.WHICH_NORM, tuple(texts.NORMS.items()))],
        "depth": [
            Control("cut", "switch", texts.CUT),
            seed_control(MAX_DEPTH_SEEDS),
        ],
        "journey": [Control("words", "several", texts.FOLLOW, tokens, most=MAX_FOLLOWED_TOKENS)],
    }
    drawn = matrix_controls(DIMENSIONS_SHOWN) if inputs.part in FIRST_CELLS else []
    return [*own.get(inputs.part, []), *drawn]


def _tokens(inputs: BlockInputs, engine: BertEngine) -> tuple[tuple[str, str], ...]:
    tokens = engine.encode(inputs.text, inputs.pair or None).tokens
    return tuple((str(number), token) for number, token in enumerate(tokens, 1))


def block_architecture(inputs: BlockInputs) -> dict[str, object]:
    """Return the drawing of the model with the chosen block open and the chosen part lit."""
    names = {
        "heads": ("attention",),
        "embeddings": ("embeddings",),
        "feed": ("feed_forward",),
        "norm": ("embeddings",) if inputs.norm == "embeddings" else (f"{inputs.norm}_norm",),
        "depth": ("attention_sum", "feed_forward_sum"),
        "journey": ("path",),
    }[inputs.part]
    boxes = Box("attention", texts.HEADS), Box("feed_forward", texts.FEED_FORWARD)
    leads = {"attention": _leads("heads"), "feed_forward": _leads("feed")}
    leads |= {f"{box.name}_sum": _leads("depth") for box in boxes}
    leads |= {f"{box.name}_norm": _leads("norm", norm=box.name) for box in boxes}
    parts = [replace(part, sets=leads[part.name]) for part in residual_parts(*boxes, norm_first=False)]
    before = [Box("embeddings", texts.EMBEDDINGS, sets=_leads("embeddings"))]
    path = [Box("path", texts.PATH, texts.PATH_SAID, sets=_leads("journey"))]
    layer = "layer" if is_offered("layer") else ""
    model = Stack(
        lit(parts, *names),
        LAYERS,
        inputs.layer,
        lit(before, *names),
        [Box("head", texts.PREDICTION)],
        lit(path, *names)[0],
        field=layer,
        sets={} if inputs.part in BLOCK_PARTS and names != ("embeddings",) else _leads("heads"),
    )
    if inputs.part != "depth":
        return architecture(model)
    pre_norm = Stack(lit(residual_parts(*boxes, norm_first=True), *names), 1, label=texts.PRE_NORM_BLOCK)
    return architecture(replace(model, label=texts.POST_NORM_BLOCK), pre_norm)


def _leads(part: str, **more: str) -> Mapping[str, str]:
    """Return what a click on the box of a part sets; nothing where the level or a step of a lesson does not offer the part."""
    if not is_offered("part") or is_hidden(f"part={part}"):
        return {}
    return {"part": part, **more, "cell": cell_to_link(FIRST_CELLS.get(part)), "matrices": "cell"}
