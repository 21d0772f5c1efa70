"""The inside of an encoder-decoder of any sizes: its three masks, and every tensor of one run by its shape."""

import streamlit as st

from pages.encoder_decoder import texts
from pages.ui.export.computation import call, each, named
from pages.ui.export.menu import offer_drawings
from pages.ui.export.records import PartNumbers
from pages.ui.panels import training_sizes
from pages.ui.panels.training_sizes import Size
from pages.ui.shell import cache
from pages.ui.shell.address import value_of
from pages.ui.shell.level import show_formula
from pages.ui.stage.charts import matrix_drawing
from pages.ui.stage.pictures import Picture, pictures_beside
from tx_core.lessons import seq2seq_shapes
from tx_core.lessons.seq2seq_shapes import BatchSizes, ShapesRun
from tx_core.transformer.config import Seq2SeqConfig


def inside_numbers(config: Seq2SeqConfig, sizes: BatchSizes) -> PartNumbers:
    """Return what the masks and shapes of an encoder-decoder are computed of."""
    run = named("run", call(seq2seq_shapes.run_shapes, config, sizes))
    shapes = each(run.shapes, lambda one: (one.where, one.name, one.axes, one.shape))
    shown = [run.encoder_mask, run.decoder_mask, run.cross_mask, shapes]
    return PartNumbers(texts.EXPORT_INSIDE, {"config": repr(config), "batch": repr(sizes)}, shown)


MASK_HEIGHT = 380
BATCH_SIZES = {
    "size_batch": Size("batch", 16, 1, 32, "Batch size"),
    "source": Size("source", 10, 1, 16, "Source tokens"),
    "target": Size("target", 12, 1, 16, "Target tokens"),
    "pad_source": Size("source_padding", 2, 0, 8, "Source padding"),
    "pad_target": Size("target_padding", 3, 0, 8, "Target padding"),
}
MODEL_SIZES = {
    "hidden": Size("hidden_size", 512, 8, 512, "Hidden size"),
    "depth": Size("num_layers", 6, 1, 12, "Layers"),
    "split": Size("num_heads", 8, 1, 16, "Heads"),
    "words": Size("vocab_size", 100, 4, 1000, "Vocabulary size"),
}
SIZES = BATCH_SIZES | MODEL_SIZES
FIELDS = training_sizes.size_fields(SIZES)


def show(page: str) -> None:
    """Show the three masks, and the shape of every tensor, for any sizes."""
    st.markdown(texts.MASKS)
    for equation in texts.MASK_EQUATIONS:
        show_formula(equation)
    with st.popover(texts.INSIDE_SIZES_TITLE, icon=":material/tune:"):
        training_sizes.size_inputs(page, SIZES)
    config, sizes = chosen_sizes(page)
    run = cache.get_or_compute((page, "shapes", str(config), str(sizes)), lambda: seq2seq_shapes.run_shapes(config, sizes))
    masks = mask_pictures(run)
    pictures_beside(page, "masks", masks, MASK_HEIGHT)
    st.markdown(texts.PARAMETERS.format(parameters=run.parameters))
    st.table([dict(zip(texts.SHAPE_COLUMNS, row, strict=True)) for row in shape_rows(run)])
    offer_drawings(page, lambda: inside_numbers(config, sizes), lambda: [mask.drawing for mask in masks], "inside")


def chosen_sizes(page: str) -> tuple[Seq2SeqConfig, BatchSizes]:
    """Return the chosen sizes of the model and of the batch; raise TextProblem where they do not fit together."""
    config = training_sizes.build_settings(
        page,
        MODEL_SIZES,
        Seq2SeqConfig,
        intermediate_size=4 * value_of(page, "hidden"),
        max_positions=16,
        norm_first=False,
        activation="relu",
        layer_norm_eps=1e-5,
        dropout=0.0,
    )
    return config, training_sizes.build_settings(page, BATCH_SIZES, BatchSizes)


def mask_pictures(run: ShapesRun) -> list[Picture]:
    """Draw the three masks; a token is named by its letter, s for source or t for target, and its number."""
    drawn = (("self", run.encoder_mask, "s", "s"), ("decoder", run.decoder_mask, "t", "t"), ("cross", run.cross_mask, "t", "s"))
    found = []
    for kind, mask, *letters in drawn:
        queries, keys = (
            [f"{letter}{place + 1}" for place in range(size)] for letter, size in zip(letters, mask.shape, strict=True)
        )
        note = texts.MASK_NOTES[kind].format(allowed=int(mask.sum()), pairs=mask.size)
        drawing = matrix_drawing(texts.KINDS[kind], "mask", mask, queries, keys)
        found.append(Picture(drawing, note, cell=texts.MASK_CELL, details=[texts.MAY_ATTEND[allowed] for allowed in mask.flat]))
    return found


def shape_rows(run: ShapesRun) -> list[tuple[str, ...]]:
    """List every tensor with its shape in numbers and in words, as rows of `texts.SHAPE_COLUMNS`."""
    return [
        (
            shape.where,
            shape.name,
            "(" + ", ".join(f"{size:,}" for size in shape.shape) + ")",
            " × ".join(shape.axes).replace("head_dim", "head dim"),
            texts.ONE if shape.layers == 1 else texts.ONE_PER_LAYER.format(layers=shape.layers),
        )
        for shape in run.shapes
    ]
