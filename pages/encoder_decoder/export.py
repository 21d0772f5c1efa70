"""The training, an answer with its attention, and masks and shapes for export: what was drawn, and the code of its numbers."""

from collections.abc import Sequence

import streamlit as st

from pages.encoder_decoder import texts
from pages.ui.export.data import DataTable, data_files
from pages.ui.export.figure import charts_figure, charts_page, listing_chart
from pages.ui.export.lessons import Computation, computation_code
from pages.ui.export.records import Code, Export
from pages.ui.shell.address import widget_key
from tx_core.lessons.seq2seq_shapes import BatchSizes
from tx_core.training.copy_task import CopyAnswer, CopyTraining
from tx_core.training.synthetic import TASKS
from tx_core.transformer.config import Seq2SeqConfig

TRAIN = [
    "from tx_core.training.copy_task import start_copy_training, train_copy",
    "from tx_core.training.synthetic import CopySettings",
]


def training_computation(model: CopyTraining) -> Computation:
    """Say how a model was trained, and write the code that trains it."""
    title = texts.EXPORT_TRAINING.format(task=TASKS[model.settings.task].title, batches=len(model.losses))
    lines = [
        *_trained(model),
        "",
        "print(*((one.batch, one.loss, one.accuracy, one.alignment) for one in records), sep='\\n')",
    ]
    source = {"settings": repr(model.settings), "batches": len(model.losses)}
    return Computation(title, source, computation_code(title, TRAIN, lines), texts.EXPORT_TRAINING_RESULT)


def answer_computation(page: str, model: CopyTraining, answer: CopyAnswer) -> Computation:
    """Say what the model was asked, and write the code that trains it and asks it."""
    kind = st.session_state[widget_key(page, "kind")]
    title = texts.EXPORT_ANSWER.format(kind=texts.KINDS[kind], batches=len(model.losses))
    lines = [
        *_trained(model),
        f"answer = answer_sequence(training, {tuple(answer.numbers)})",
        f"stack = next(stack for stack in answer.trace.stacks if stack.kind == {kind!r})",
        "",
        "print(answer.written, stack.weights.round(3), sep='\\n')",
    ]
    imports = [TRAIN[0].replace("import start_copy", "import answer_sequence, start_copy"), TRAIN[1]]
    source = {"settings": repr(model.settings), "batches": len(model.losses), "numbers": list(answer.numbers)}
    source |= {"output": list(answer.written), "attention": kind}
    return Computation(title, source, computation_code(title, imports, lines), texts.EXPORT_ANSWER_RESULT)


def _trained(model: CopyTraining) -> Sequence[str]:
    """Write what trains a model for as many batches as this one was."""
    return [
        f"training = start_copy_training({model.settings!r})",
        f"records = [record for _, record in zip(range({len(model.losses)}), train_copy(training))]",
    ]


def inside_computation(config: Seq2SeqConfig, sizes: BatchSizes) -> Computation:
    """Say which masks and shapes an encoder-decoder of some sizes has, and write the code that runs it."""
    lines = [
        f"run = run_shapes({config!r}, {sizes!r})",
        "",
        "print(run.encoder_mask, run.decoder_mask, run.cross_mask, sep='\\n')",
        "print(*((one.where, one.name, one.axes, one.shape) for one in run.shapes), sep='\\n')",
    ]
    imports = [
        "from tx_core.lessons.seq2seq_shapes import BatchSizes, run_shapes",
        "from tx_core.transformer.config import Seq2SeqConfig",
    ]
    code = computation_code(texts.EXPORT_INSIDE, imports, lines)
    return Computation(texts.EXPORT_INSIDE, {"config": repr(config), "batch": repr(sizes)}, code, texts.EXPORT_INSIDE_RESULT)


def shapes_export(config: Seq2SeqConfig, sizes: BatchSizes, rows: Sequence[tuple[str, ...]]) -> Export:
    """Make the export of the table of all tensors. rows: of `texts.SHAPE_COLUMNS`."""
    inside, title, stem = inside_computation(config, sizes), texts.EXPORT_SHAPES_TITLE, "encoder-decoder-shapes"
    figure = charts_figure([listing_chart("", texts.SHAPE_COLUMNS, rows)], title)
    data = data_files(
        texts.EXPORT_SHAPES,
        texts.EXPORT_SHAPES_HELP.format(count=len(rows)),
        stem,
        len(rows) * len(texts.SHAPE_COLUMNS),
        lambda: DataTable(texts.SHAPE_COLUMNS, list(rows)),
    )
    web_page = charts_page(figure, texts.SHAPE_COLUMNS, lambda: list(rows))
    code = Code(inside.result, lambda: inside.code)
    return Export(title, f"{title}.", stem, figure, web_page, (data,), code, inside.source)
