"""The parts of the page: what each computes, shows in its stage, and explains below it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from pages.masks import texts
from pages.masks.future import TRAINER, future_numbers, future_pictures, moment_control, shown_future
from pages.masks.head import head_drawings, head_numbers, head_scores, masked_head
from pages.masks.inputs import FIELDS, PAGE, MaskInputs
from pages.masks.stage import head_stage, part_control, special_control
from pages.masks.whole_run import PADDING, RUN_CHANGES, padding_numbers, padding_pictures, run_numbers, run_pictures
from pages.ui.export.records import PartNumbers
from pages.ui.shell.address import widget_key
from pages.ui.shell.frame import page_link, show_source
from pages.ui.shell.level import is_hidden, show_formula
from pages.ui.stage.charts import Drawing
from pages.ui.stage.controls import Control
from pages.ui.stage.pictures import About, Picture, empty_pictures, pictures_stage, shown_drawings
from pages.ui.stage.tokens import reading_in_link
from pages.ui.stage.training import take_wish, training_header
from tx_core.lessons.masking import compare_maskings, padding_proof
from tx_core.training.future import train_next_words
from tx_core.transformer import attention
from tx_core.transformer.interventions import write_interventions


@dataclass(frozen=True)
class PartRun:
    """A part of the page, computed.

    Attributes:
        numbers: what it is computed of.
        draw: draws its stage.
        drawings: what of it has numbers.
        model: what computed it; "" for the built-in model.
    """

    numbers: Callable[[], PartNumbers]
    draw: Callable[[], None]
    drawings: Callable[[], Sequence[Drawing]]
    model: str = ""


def run_part(inputs: MaskInputs) -> PartRun:
    """Compute the part that is asked for; raise ExplorerError where a text cannot be read."""
    if inputs.part in PICTURES:
        pictures, numbers = PICTURES[inputs.part]
        return _of_pictures(inputs, pictures(inputs), numbers(inputs))
    if inputs.part == "why":
        return _of_training()
    scores, head = head_scores(inputs), masked_head(inputs)
    return PartRun(partial(head_numbers, inputs), partial(head_stage, inputs, scores, head), partial(head_drawings, inputs, head))


PICTURES = {"batch": (padding_pictures, padding_numbers), "run": (run_pictures, run_numbers)}
"""The parts on runs of the whole model."""


def _of_pictures(inputs: MaskInputs, pictures: Sequence[Picture], numbers: PartNumbers) -> PartRun:
    about = About(numbers.title, numbers.source)
    draw = partial(pictures_stage, PAGE, FIELDS, run_controls(inputs.part), pictures, about)
    return PartRun(lambda: numbers, draw, partial(shown_drawings, PAGE, FIELDS, pictures))


def _of_training() -> PartRun:
    shown, moments = shown_future()
    pictures, numbers = future_pictures(shown, moments), future_numbers(shown)
    controls, about = [part_control(), moment_control(moments)], About(numbers.title, numbers.source)
    told = {"training": training_header(TRAINER, shown), "take": partial(take_wish, TRAINER)}
    draw = partial(pictures_stage, PAGE, FIELDS, controls, pictures, about, **told)
    return PartRun(lambda: numbers, draw, partial(shown_drawings, PAGE, FIELDS, pictures), texts.TWO_MODELS)


def run_controls(part: str) -> list[Control]:
    """Return what the toolbar asks of a part."""
    run = Control("run", "segments", texts.RUN, tuple(texts.RUN_LABELS.items()))
    return [part_control(), *([run] if part == "run" else []), special_control()]


def draw_empty(part: str) -> None:
    """Draw a stage without a picture: its controls stay, and it still writes the address."""
    empty_pictures(PAGE, FIELDS, run_controls(part))


@dataclass(frozen=True)
class Explanation:
    """What stands below a part: its words, formulas and code."""

    prose: tuple[str, ...]
    formulas: tuple[str, ...] = ()
    sources: tuple[Callable, ...] = ()


EXPLANATIONS: Mapping[str, Explanation] = {
    "one": Explanation(
        (texts.ONE_TEXT, texts.ONE_CAPTION),
        (texts.WEIGHTS_FORMULA, texts.MASK_FORMULA),
        (
            *(attention.attention_weights, attention.causal_mask, attention.padding_mask, attention.window_mask),
            attention.combine,
        ),
    ),
    "why": Explanation((texts.WHY_TEXT,), (texts.WHY_FORMULA,), (train_next_words, attention.causal_mask)),
    "penalty": Explanation((texts.PENALTY_TEXT,), (texts.PENALTY_FORMULA,), (compare_maskings,)),
    "batch": Explanation((texts.BATCH_TEXT,), (texts.BATCH_FORMULA,), (attention.padding_mask, padding_proof)),
    "run": Explanation((texts.RUN_TEXT,)),
}


def explain_part(inputs: MaskInputs) -> None:
    """Explain a part in words, by its formula and by the code that computes it."""
    explanation = EXPLANATIONS[inputs.part]
    prose = explanation.prose
    if inputs.part == "run":
        prose = (texts.RUN_TEXTS[inputs.run].format(padding=PADDING), *prose)
    with st.container(key=widget_key(PAGE, "prose")):
        for text in prose:
            st.markdown(text)
    if inputs.part == "run":
        _link_to_changed_pages(inputs)
    if explanation.formulas and not is_hidden("formulas"):
        with st.expander(texts.FORMULA, icon=":material/function:"):
            for formula in explanation.formulas:
                show_formula(formula)
    if explanation.sources:
        show_source(*explanation.sources)


def _link_to_changed_pages(inputs: MaskInputs) -> None:
    """Link to the pages that show every head, and every prediction, under the same change."""
    changes = write_interventions([RUN_CHANGES[inputs.run]])
    with st.container(horizontal=True, gap="small"):
        for key, label in texts.SEE_CHANGED.items():
            how = reading_in_link(not inputs.bare) if key == "attention" else {}
            page_link(key, label, {"text": inputs.blank, "changes": changes, **how}, icon=":material/arrow_forward:")
