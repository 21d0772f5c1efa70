"""The training, and one answer with its attention, for export: what was drawn, and the code of its numbers."""

from collections.abc import Sequence

import streamlit as st

from pages.encoder_decoder import texts
from pages.ui.export.lessons import Computation, computation_code
from pages.ui.shell.address import widget_key
from tx_core.training.copy_task import CopyAnswer, CopyTraining
from tx_core.training.synthetic import TASKS

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
