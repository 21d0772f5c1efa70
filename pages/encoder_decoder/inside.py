"""The inside of an encoder-decoder of any sizes: its three masks, and every tensor of one run by its shape."""

import streamlit as st

from pages.encoder_decoder import texts
from pages.ui.export.computation import call, each, named
from pages.ui.export.menu import offer_drawings
from pages.ui.export.records import PartNumbers
from pages.ui.panels import training_sizes
from pages.ui.shell import cache
from pages.ui.shell.address import value_of, widget_key
from pages.ui.shell.fields import number_field
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
SIZES = {  # default, minimum, maximum
    "size_batch": (16, 1, 32),
    "source": (10, 1, 16),
    "target": (12, 1, 16),
    "pad_source": (2, 0, 8),
    "pad_target": (3, 0, 8),
    "hidden": (512, 8, 512),
    "depth": (6, 1, 12),
    "split": (8, 1, 16),
    "words": (100, 4, 1000),
}
FIELDS = tuple(number_field(name, *bounds) for name, bounds in SIZES.items())


def show(page: str) -> None:
    """Show the three masks, and the shape of every tensor, for any sizes."""
    st.markdown(texts.MASKS)
    for equation in texts.MASK_EQUATIONS:
        show_formula(equation)
    with st.popover(texts.INSIDE_SIZES_TITLE, icon=":material/tune:"):
        columns = st.columns(3)
        for place, (name, (_, minimum, maximum)) in enumerate(SIZES.items()):
            label = training_sizes.size_label(texts.INSIDE_SIZES[name], minimum, maximum)
            columns[place % 3].number_input(label, minimum, maximum, key=widget_key(page, name))
    config, sizes = chosen_sizes(page)
    run = cache.get_or_compute((page, "shapes", str(config), str(sizes)), lambda: seq2seq_shapes.run_shapes(config, sizes))
    masks = mask_pictures(run)
    pictures_beside(page, "masks", masks, MASK_HEIGHT)
    st.markdown(texts.PARAMETERS.format(parameters=run.parameters))
    st.table([dict(zip(texts.SHAPE_COLUMNS, row, strict=True)) for row in shape_rows(run)])
    offer_drawings(page, lambda: inside_numbers(config, sizes), lambda: [mask.drawing for mask in masks], "inside")


def chosen_sizes(page: str) -> tuple[Seq2SeqConfig, BatchSizes]:
    """Return the chosen sizes of the model and of the batch; raise TextProblem where they do not fit together."""
    values = {name: value_of(page, name) for name in SIZES}
    try:
        sizes = BatchSizes(values["size_batch"], values["source"], values["target"], values["pad_source"], values["pad_target"])
        config = Seq2SeqConfig(
            vocab_size=values["words"],
            hidden_size=values["hidden"],
            num_layers=values["depth"],
            num_heads=values["split"],
            intermediate_size=4 * values["hidden"],
            max_positions=16,
            norm_first=False,
            activation="relu",
            layer_norm_eps=1e-5,
            dropout=0.0,
        )
    except ValueError as rule:
        labels = {"hidden_size": texts.INSIDE_SIZES["hidden"], "num_heads": texts.INSIDE_SIZES["split"]}
        raise training_sizes.size_problem(rule, labels) from rule
    return config, sizes


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
