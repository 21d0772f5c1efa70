"""What stands below the stage: the part in words, its formula and code, and its numbers for export."""

from collections.abc import Callable, Sequence

import streamlit as st

from pages.heads_and_blocks import texts
from pages.heads_and_blocks.depth import BLOCKS
from pages.heads_and_blocks.inputs import FIELDS, PAGE, BlockInputs
from pages.heads_and_blocks.part import Part
from pages.ui.export.computation import Computation, call, each, load_call, named
from pages.ui.export.menu import offer_drawings
from pages.ui.export.records import PartNumbers
from pages.ui.shell.address import value_of, widget_key
from pages.ui.shell.frame import show_source
from pages.ui.shell.level import is_hidden, show_formula
from pages.ui.stage.pictures import shown_drawings
from pages.ui.stage.sources import reading, source
from tx_core.lessons import bert_parts, residual_stream

FROM_0 = "layers and heads are counted from 0"
Shown = tuple[Sequence[Computation], tuple[str, ...]]
"""What is shown, and the settings that it depends on."""


def explain_part(part: Part) -> None:
    """Explain a part in words, by its formula and by its code."""
    with st.container(key=widget_key(PAGE, "prose")):
        st.markdown(part.text)
    part.below()
    if not is_hidden("formulas"):
        with st.expander(texts.FORMULA, icon=":material/function:"):
            for formula in part.formulas:
                show_formula(formula)
    show_source(*part.sources)


def export_part(part: Part, numbers: PartNumbers) -> None:
    """Offer the numbers, data and code of a part."""
    offer_drawings(PAGE, lambda: numbers, lambda: shown_drawings(PAGE, FIELDS, part.pictures))


def part_numbers(inputs: BlockInputs) -> PartNumbers:
    """Return what the part computes, for export."""
    special = not inputs.bare
    shown, used = NUMBERS[inputs.part](inputs, load_call(inputs.model, special))
    values = {
        "layer": inputs.block + 1,
        "heads": [head + 1 for head in inputs.heads],
        "bend": inputs.bend,
        "norm": inputs.norm,
        "cut": not inputs.residuals,
        "seed": inputs.seed,
        "words": value_of(PAGE, "words"),
    }
    pair = {"pair": inputs.pair} if inputs.pair else {}
    settings = {name: values[name] for name in used}
    about = source(inputs.model, text=inputs.text, **pair, **reading(special), **settings)
    return PartNumbers(texts.EXPORT_TITLES[inputs.part].format(**values), about, shown, texts.EXPORT_RESULT)


def _embeddings(inputs: BlockInputs, engine: Computation) -> Shown:
    run = named("run", call(bert_parts.embedding_run, engine, *inputs.sentences))
    return [run.tokens, run.summed, run.normed], ()


def _heads(inputs: BlockInputs, engine: Computation) -> Shown:
    run = named("run", call(bert_parts.block_run, engine, *inputs.sentences, layer=inputs.block), FROM_0)
    projection = call(bert_parts.matrix_and_bias, engine.model.encoder.blocks[inputs.block].attention.output)
    output = named("output", run.output_of(inputs.heads, projection.bias))
    return [run.tokens, output, run.head_lengths], ("layer", "heads")


def _feed_forward(inputs: BlockInputs, engine: Computation) -> Shown:
    block = named("block", call(bert_parts.block_run, engine, *inputs.sentences, layer=inputs.block), FROM_0)
    run = named("run", call(bert_parts.feed_forward_run, engine, block.attention_normed, inputs.block, inputs.bend))
    return [block.tokens, run.up_projected, run.activated, run.convolution.ours], ("layer", "bend")


def _norm(inputs: BlockInputs, engine: Computation) -> Shown:
    layer = 0 if inputs.norm == "embeddings" else inputs.block
    run = named("run", call(bert_parts.norm_run, engine, *inputs.sentences, place=inputs.norm, layer=layer), FROM_0)
    return [run.tokens, run.tensors.before, run.tensors.normed, run.tensors.result.ours], ("layer", "norm")


def _depth(inputs: BlockInputs, engine: Computation) -> Shown:
    given = {"skips": inputs.residuals, "blocks": BLOCKS, "seed": inputs.seed}
    runs = [
        named(name, call(residual_stream.run_random_blocks, norm_first=first, **given))
        for name, first in (("post", False), ("pre", True))
    ]
    trained = named("trained", call(residual_stream.skip_effect, engine, *inputs.sentences))
    measures = [number for run in runs for number in (run.length, run.cosine, run.gradient)]
    return [*measures, trained.with_skips, trained.without_skips], ("cut", "seed")


def _journey(inputs: BlockInputs, engine: Computation) -> Shown:
    trace = named("trace", engine.trace(*inputs.sentences, keep=("hidden",)))
    words = [word - 1 for word in value_of(PAGE, "words")]
    paths = named("paths", call(residual_stream.token_paths, trace, words), "tokens, counted from 0")
    measures = each(paths, lambda path: (path.token, path.cosine_to_embedding, path.cosine_to_previous, path.length))
    return [measures], ("words",)


NUMBERS: dict[str, Callable[[BlockInputs, Computation], Shown]] = {
    "embeddings": _embeddings,
    "heads": _heads,
    "feed": _feed_forward,
    "norm": _norm,
    "depth": _depth,
    "journey": _journey,
}
