"""What the page on BERT is asked: a sentence or two, which part is looked at, and what it computes with."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.bert import texts
from pages.ui.export.computation import Computation
from pages.ui.export.records import PartNumbers
from pages.ui.shell import controls
from pages.ui.shell import texts as shell_texts
from pages.ui.shell.address import read_stage_address, set_values, value_of, view_parameters
from pages.ui.shell.fields import Field, StageFields, choice_field, flag_field, number_field, text_field
from pages.ui.shell.frame import open_address, page_address
from pages.ui.stage import view_options
from pages.ui.stage.controls import SPECIAL_CONTROL, Control, matrix_controls, seed_control
from pages.ui.stage.inputs import PageInputs, ask_sentences, input_values
from pages.ui.stage.matrices import Cell, cell_from_link, cell_to_link
from pages.ui.stage.texts import SECOND_SENTENCE
from pages.ui.stage.tokens import SPECIAL_FIELD
from pages.ui.stage.view_options import COMPARED
from tx_core.engine.catalogue import DEFAULT
from tx_core.lessons.families import FAMILIES
from tx_core.lessons.labels import FINE_TUNED
from tx_core.lessons.untrained import MAX_UNTRAINED_LABELS
from tx_core.transformer.interventions import Head

PAGE = "bert"
LAYERS, HEADS = controls.embedded_sizes()
MAX_HEAD_SEEDS = 20
FIRST_TEXT = "I drink a cup of [MASK] every morning."
REVIEW = "A wonderful film with a brilliant cast."
"""What the part opens on that labels film reviews."""
FIRST_HEAD = (1, 2)
FIRST_HEAD_OF_FAMILY = (0, 0)
DIMENSIONS_SHOWN = (2, 16)
LABEL_HEADS = {"first": "first token", "every": "every token", "max": "max-pooled"}
"""The untrained heads of the core, by their names in the address."""
TRAINED = "trained"
"""The head that ships, of the model that was fine-tuned on film reviews."""
SETTINGS = (
    choice_field("part", tuple(texts.PARTS)),
    SPECIAL_FIELD,
    number_field("seed", 1, 1, MAX_HEAD_SEEDS),
    choice_field("kind", (TRAINED, *LABEL_HEADS)),
    number_field("labels", 3, 2, MAX_UNTRAINED_LABELS),
    choice_field("family", tuple(FAMILIES)),
)
FIELDS = StageFields(
    own=(text_field("text", FIRST_TEXT), text_field("pair"), *SETTINGS),
    looks=(
        *view_options.view_fields([FIRST_HEAD]),
        choice_field("compared", COMPARED),
        Field("cell", Cell("logits", 0, 0), cell_from_link, cell_to_link),
        choice_field("matrices", ("cell", "all", "read", "logits", "shares")),
        flag_field("numbers"),
        number_field("dimensions", 6, *DIMENSIONS_SHOWN),
    ),
)


@dataclass(frozen=True)
class BertInputs(PageInputs):
    """What is computed, by the names of the fields."""

    part: str
    seed: int
    kind: str
    labels: int
    family: str
    needs_own_bert = True

    def numbers(self, shown: Sequence[Computation], *used: str) -> PartNumbers:
        """Return what the part computes, for export. used: the settings that it depends on."""
        layer, head = chosen_head()
        settings = vars(self) | {"layer": layer + 1, "head": head + 1}
        chosen = {name: settings[name] for name in used}
        title = texts.EXPORT_TRAINED if self.model == FINE_TUNED else texts.EXPORT_TITLES[self.part]
        return PartNumbers(title.format(**settings), self.about(**chosen), shown)


def bert_inputs() -> BertInputs:
    """Read the address, draw the boxes of the sentences, and return what is asked."""
    arriving = read_stage_address(PAGE, FIELDS)
    _take_old_head(arriving)
    if arriving and view_parameters().get("part") == "random":
        _compare_with_untrained()
    labels_reviews = value_of(PAGE, "part") == "labels" and value_of(PAGE, "kind") == TRAINED
    _exchange_example(arriving, labels_reviews)
    labels, model = {"text": shell_texts.SENTENCE, "pair": SECOND_SENTENCE}, FINE_TUNED if labels_reviews else DEFAULT
    inputs = ask_sentences(PAGE, labels, lambda: BertInputs(model=model, **input_values(PAGE, FIELDS.own)))
    view_options.note_built_in(model)
    return inputs


def _exchange_example(arriving: bool, labels_reviews: bool) -> None:
    """Show the example of the labels that are asked for, a review for those of film reviews, unless there is another sentence."""
    state, key = st.session_state, f"{PAGE}_labels_reviews"
    is_given = arriving and "text" in view_parameters()
    is_same = not arriving and state.get(key) == labels_reviews
    state[key] = labels_reviews
    now, other = (FIRST_TEXT, REVIEW) if labels_reviews else (REVIEW, FIRST_TEXT)
    if value_of(PAGE, "text") == now and not is_given and not is_same:
        set_values(PAGE, {"text": other})


def _take_old_head(arriving: bool) -> None:
    """Choose the head that an older link names by its layer and its head; of a successor of BERT it began with the first."""
    given = view_parameters()
    is_family = value_of(PAGE, "part") == "family"
    if not arriving or "heads" in given or not ({"layer", "head"} & given.keys() or is_family):
        return
    first = FIRST_HEAD_OF_FAMILY if is_family else FIRST_HEAD
    numbers = [_number(given.get(name, ""), first[place] + 1) - 1 for place, name in enumerate(("layer", "head"))]
    set_values(PAGE, {"heads": [(min(numbers[0], LAYERS - 1), min(numbers[1], HEADS - 1))]})


def _compare_with_untrained() -> None:
    """Open Compare, which shows the trained and an untrained model since this page does not."""
    layer, head = chosen_head()
    place, given = f"{layer + 1}-{head + 1}", view_parameters()
    view = {"vary": "untrained", "text": value_of(PAGE, "text"), "seed_b": given.get("seed", "1"), "head": place, "head_b": place}
    open_address(page_address("compare", view))


def _number(written: str, default: int) -> int:
    return int(written) if written.isascii() and written.isdecimal() and int(written) else default


def chosen_head() -> Head:
    """Return the head that the address names last, (layer, head) from 0, where the built-in model has it."""
    layer, head = value_of(PAGE, "heads")[-1]
    return (layer, head) if layer < LAYERS and head < HEADS else FIRST_HEAD


def part_controls(inputs: BertInputs) -> list[Control]:
    """Return what the stage asks to compute with, for the part that is looked at."""
    labels = tuple((str(count), str(count)) for count in range(2, MAX_UNTRAINED_LABELS + 1))
    families = tuple((name, family.title) for name, family in FAMILIES.items())
    own = {
        "compare": [],
        "labels": [
            Control("kind", "list", texts.LABEL_KIND, tuple(texts.LABEL_KINDS.items()), labelled=True),
            *(
                []
                if inputs.kind == TRAINED
                else [Control("labels", "list", texts.LABEL_COUNT, labels, labelled=True), seed_control(MAX_HEAD_SEEDS)]
            ),
        ],
        "family": [Control("family", "list", texts.FAMILY_LABEL, families, labelled=True)],
    }
    drawn = matrix_controls(DIMENSIONS_SHOWN) if inputs.part == "labels" else []
    part = Control("part", "segments", texts.PART, tuple(texts.PARTS.items()), apart=True)
    return [part, *own[inputs.part], *drawn, SPECIAL_CONTROL]
