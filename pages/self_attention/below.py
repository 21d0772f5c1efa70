"""What stands below the stage: the head in words, its formula and code, its numbers for export, and why scores are scaled."""

import streamlit as st

from pages.self_attention import texts
from pages.self_attention.head import equation, head_matrices, head_numbers, letters, notes, saturation_numbers
from pages.self_attention.inputs import DIMENSIONS_SHOWN, PAGE, HeadInputs
from pages.self_attention.stage import HeadAnswer
from pages.ui.export.menu import offer_drawings
from pages.ui.shell import cache
from pages.ui.shell.frame import show_source
from pages.ui.shell.level import is_hidden, show_formula
from pages.ui.shell.numbers import small_number
from pages.ui.stage.charts import lines_chart, lines_drawing
from pages.ui.stage.matrices import matrix_drawings
from pages.ui.stage.pictures import Picture, pictures_beside
from pages.ui.stage.view_options import explain_built_in
from tx_core.lessons.self_attention import HeadRun, saturation
from tx_core.transformer import attention
from tx_core.transformer.attention import NORMALISE

SATURATION_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
SATURATION_HEIGHT = 330


def explain_head(answer: HeadAnswer) -> None:
    """Explain the head in words, by its formula and by the code that computes it."""
    run, choice = answer.run, answer.run.choice
    st.markdown(texts.INTRO)
    for note in notes(run):
        st.text(note)
    if not is_hidden("formulas"):
        with st.expander(texts.FORMULA, icon=":material/function:"):
            show_formula(equation(run))
            st.markdown(letters(run))
    computed = NORMALISE[choice.normalise]
    show_source(attention.attend, attention.attention_scores, attention.attention_weights, computed)


def export_head(inputs: HeadInputs, run: HeadRun) -> None:
    """Offer the head's numbers, data and code; where scaling is off, show what it is for."""
    offer_drawings(PAGE, lambda: head_numbers(inputs), lambda: matrix_drawings(head_matrices(run, DIMENSIONS_SHOWN[1])))
    explain_built_in()
    if not run.choice.scaled and run.choice.normalise == "softmax":
        show_saturation()


def show_saturation() -> None:
    """Show what softmax does to random scores as vectors get longer, with and without scaling."""
    sizes = SATURATION_SIZES
    run = cache.get_or_compute(("saturation", sizes), lambda: saturation(sizes))
    series = {texts.NOT_DIVIDED: run.largest_unscaled, texts.DIVIDED: run.largest_scaled}
    slopes = {"unscaled": small_number(run.slope_unscaled[-1]), "scaled": small_number(run.slope_scaled[-1])}
    st.subheader(texts.WHY_SCALED, anchor=False)
    st.markdown(texts.WHY_SCALED_TEXT.format(keys=run.keys, size=sizes[-1], **slopes))
    drawing = lines_drawing(lines_chart(texts.LARGEST_WEIGHT, [str(size) for size in sizes], series, limits=(0, 1.02)))
    pictures_beside(PAGE, "saturation", [Picture(drawing, cell=texts.DIMENSION)], SATURATION_HEIGHT)
    offer_drawings(PAGE, lambda: saturation_numbers(sizes), lambda: [drawing], place="saturation")
