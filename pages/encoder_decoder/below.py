"""What stands below the stage: the model in words, its formula and code, its masks and shapes, and its numbers."""

from functools import partial

import streamlit as st

from pages.encoder_decoder import inside, texts
from pages.encoder_decoder.model import PAGE
from pages.encoder_decoder.stage import loss_and_shares, named_trace
from pages.ui.export.computation import Computation, after, call, named
from pages.ui.export.menu import offer_drawings
from pages.ui.export.records import PartNumbers
from pages.ui.export.training import chosen_head, training_computation, training_exports
from pages.ui.shell.address import value_of, widget_key
from pages.ui.shell.frame import explain, explain_computation
from pages.ui.shell.level import is_hidden
from pages.ui.stage.charts import Drawing, matrix_drawing
from pages.ui.stage.training import ShownTraining
from pages.ui.stage.view_options import head_in_sentence
from tx_core.errors import ExplorerError
from tx_core.training.copy_task import TASKS, CopyAnswer, CopyTraining, answer_sequence, start_copy_training, train_copy_batch
from tx_core.training.stored import stored_copy
from tx_core.transformer import seq2seq


def explain_model() -> None:
    """Explain what an encoder-decoder is, in words, equations and code."""
    st.markdown(f"{texts.TASK}\n\n{texts.STEPS_NOTE}")
    st.caption(f"{texts.OWN_MODEL} {texts.SHARED}")
    with st.expander(texts.FAMILIES_TITLE, icon=":material/account_tree:"):
        st.markdown(texts.FAMILIES)
        st.markdown(texts.WARM_UP)
    sources = (seq2seq.Seq2Seq, seq2seq.DecoderBlock, train_copy_batch, seq2seq.greedy_decode)
    explain_computation(formulas=[texts.TASK_EQUATION], letters=texts.TASK_LETTERS, sources=sources)


def show_inside() -> None:
    """Show masks and shapes in a box: open where a link asks for it, or a reader opened it."""
    if is_hidden("part=inside"):
        return
    name, part = widget_key(PAGE, "inside_opened"), widget_key(PAGE, "part")
    st.session_state[name] = st.session_state[part] == "inside"

    def store() -> None:
        st.session_state[part] = "inside" if st.session_state[name] else "train"

    folded = st.expander(texts.PARTS["inside"], icon=":material/grid_on:", key=name, on_change=store)
    if folded.open:
        with folded:
            try:
                inside.show(PAGE)
            except ExplorerError as problem:  # sizes that do not fit together
                explain(problem)


# Numbers and code


def export_answer(shown: ShownTraining, answer: CopyAnswer) -> None:
    """Offer the numbers of an answer and of the training, and the code of both."""
    model: CopyTraining = shown.model
    training, records = training_computation(shown, lambda: call(start_copy_training, model.settings), stored_copy)
    title = texts.EXPORT_TRAINING.format(task=TASKS[model.settings.task].title, batches=model.done)
    more = training_exports(shown, title, records, *loss_and_shares(shown.records))
    numbers = partial(answer_numbers, model, answer, training, records)
    offer_drawings(PAGE, numbers, lambda: [attention_drawing(answer)], more=more)


def attention_drawing(answer: CopyAnswer) -> Drawing:
    """Draw where the chosen head looks, for a table and for files."""
    stack = next(one for one in named_trace(answer).stacks if one.kind == value_of(PAGE, "kind"))
    head = chosen_head(PAGE, stack.weights)
    title = f"{texts.KINDS[stack.kind]}, {head_in_sentence(head)}"
    return matrix_drawing(title, "weights", stack.weights[head], stack.query_tokens.tokens, stack.key_tokens.tokens, root=True)


def answer_numbers(model: CopyTraining, answer: CopyAnswer, training: Computation, records: Computation) -> PartNumbers:
    """Return what a trained model computes of an input."""
    kind = value_of(PAGE, "kind")
    title = texts.EXPORT_ANSWER.format(kind=texts.KINDS[kind], batches=model.done)
    found = named("answer", call(answer_sequence, after(records, training), tuple(answer.numbers)))
    stack = named("stack", found.trace.stacks[[stack.kind for stack in answer.trace.stacks].index(kind)])
    source = {"settings": repr(model.settings), "batches": model.done, "numbers": list(answer.numbers)}
    source |= {"output": list(answer.written), "attention": kind}
    return PartNumbers(title, source, [found.written, stack.weights.round(3)])
