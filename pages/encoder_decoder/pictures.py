"""A transformer that learns a task on sequences: its curves, its maps from batch to batch, its answers and where it looked."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.canvas.attention_view import attention_map, chosen_heads, head_wall
from pages.ui.canvas.mask_grid import Matrix, Naming, matrices
from pages.ui.canvas.packing import thumbnails
from pages.ui.panels.training import draw_curves
from pages.ui.shell.address import forget_told, widget_binding, widget_key

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.lessons.seq2seq_shapes import ShapesRun
    from tx_core.training.background import Snapshot
    from tx_core.training.copy_task import Answer, CopyTraining
    from tx_core.transformer.trace import AttentionStack, Trace

KINDS = {"cross": "Decoder to source", "self": "Within the source", "decoder": "Within the target"}


def show_training(page: str, snapshot: "Snapshot") -> None:
    """Draw the loss, the share that is right, and the cross-attention at the latest or at a chosen batch."""
    records = snapshot.records
    if not records:
        return
    left, right = st.columns([5, 4], gap="medium")
    with left:
        steps = records[0].batches
        losses = {"loss": [(one.batch, one.loss) for one in records]}
        draw_curves(widget_key(page, "loss_chart"), losses, steps, log=True)
        draw_curves(
            widget_key(page, "right_chart"),
            {
                "numbers right": [(one.batch, one.accuracy) for one in records],
                "attention on the answer, best head": [(one.batch, one.alignment) for one in records],
            },
            steps,
        )
    drawn = {one.batch: one.maps for one in records if one.maps is not None}
    with right:
        batch = max(drawn)
        if not snapshot.running and len(drawn) > 1:
            batch = _ask_batch(page, list(drawn))
        cross_map(drawn[batch], drawn[max(drawn)], f"After batch {batch:,}", widget_key(page, "becoming"))


def show_loss(page: str, trained: "CopyTraining") -> None:
    """Draw the loss of a run that came from a file: that is what the file remembers of its training."""
    losses = {"loss": list(enumerate(trained.losses, start=1))}
    draw_curves(widget_key(page, "loss_chart"), losses, trained.settings.batches, log=True)


def _ask_batch(page: str, batches: Sequence[int]) -> int:
    name = widget_key(page, "moment")
    if st.session_state.get(name) not in batches:
        st.session_state[name] = batches[-1]
        forget_told(name)
    return st.select_slider("Go back in the training to batch", batches, **widget_binding(name))


def cross_map(trace: "Trace", last: "Trace", when: str, name: str) -> None:
    """Draw where the head looks that comes closest to the answers in the last trace, on a sequence not trained on."""
    from tx_core.training.copy_task import best_head, right_numbers

    found = best_head(last, last.model)
    stack = trace.stacks[-1]
    told = (
        f"{when}: {head_name(found.layer, found.head)} of the cross-attention, on a sequence that is never trained on. "
        "Of all heads it looked most at the answers when this was last measured; while training, another may overtake it. "
        "Each row is a step of the decoder: the number that it reads → the number that it should write."
    )
    st.text(told)
    rows = steps(stack.query_tokens.tokens, right_numbers(trace, trace.model))
    attention_map(
        rows,
        marked(stack.key_tokens.tokens),
        stack.weights[found.layer, found.head],
        label=told,
        scale="blues",
        strongest=1,
        show="heatmap",
        focus=None,
        key=name,
        on_focus=lambda: None,
    )


def head_name(layer: int, head: int) -> str:
    """Name a head as a reader counts."""
    return f"layer {layer + 1}, head {head + 1}"


def marked(tokens: Sequence[str]) -> list[str]:
    """Name the tokens of a sequence, the mark before it by what it is: its number, 1, looks like one of the others."""
    return ["start", *tokens[1:]]


def steps(read: Sequence[str], written: Sequence[int]) -> list[str]:
    """Name each step of a decoder by the token that it reads and the number that it writes, as in "start → 84"."""
    return [f"{token} → {number}" for token, number in zip(marked(read), written, strict=True)]


def show_answer(found: "Answer") -> None:
    """Write what the model answers below what it was asked, and mark what is wrong."""
    rows = {"you wrote": found.numbers, "it answers": found.written, "right is": found.right}
    width = max(len(str(number)) for row in rows.values() for number in row)
    lines = [f"{name:<11}" + " ".join(f"{number:>{width}}" for number in row) for name, row in rows.items()]
    marks = ("✓" if one == two else "✗" for one, two in zip(found.written, found.right, strict=True))
    st.code("\n".join([*lines, " " * 11 + " ".join(f"{mark:>{width}}" for mark in marks)]), language=None)


def why_wrong(found: "Answer", model: "CopyTraining", test: Callable[[], tuple[int, int]]) -> str:
    """Say why a trained model answers wrongly; "" where it does not. test: counts wrong numbers, of how many, in a test."""
    wrong, asked, done, settings = len(found.right) - found.right_ones, len(found.right), len(model.losses), model.settings
    told = f"{wrong} of {asked} {'is' if wrong == 1 else 'are'} wrong (✗): "
    if not done or not wrong:
        return ""
    if not found.usual_length:
        return f"{told}it was trained on sequences of {settings.length - 1} numbers only, and others are new to it."
    if not model.finished:
        return f"{told}its training was stopped after {done:,} of {settings.batches:,} batches."
    missed, all_numbers = test()
    rare = "" if missed else ", so such a mistake is rare"
    return (
        f"{told}its training was short, {settings.batches:,} batches, and more usually leave fewer mistakes. In a test on "
        f"new sequences, {missed:,} of {all_numbers:,} numbers were wrong{rare}."
    )


def show_maps(page: str, found: "Answer", best: tuple[int, int]) -> None:
    """Let the reader walk through the three kinds of attention of one run. best: the head shown where none is chosen."""
    st.caption(
        "**start** is the mark before every sequence, so that the first number, too, follows a token. A row such as **8 → 3** "
        "is a step of the decoder: it reads 8 and writes 3."
    )
    trace = found.trace
    kind = st.segmented_control("Attention", list(KINDS), key=widget_key(page, "kind"), format_func=KINDS.get, required=True)
    stack = next(stack for stack in trace.stacks if stack.kind == kind)
    layers, heads = stack.weights.shape[:2]
    wall, head = widget_key(page, "wall"), st.session_state[widget_key(page, "head")] or best
    head = head if head[0] < layers and head[1] < heads else best

    def take_head() -> None:
        if chosen := chosen_heads(wall, layers, heads):
            st.session_state[widget_key(page, "head")] = chosen[-1]

    left, right = st.columns([1, 2], gap="medium")
    with left:
        st.caption("All heads of this kind")
        head_wall(thumbnails(stack.weights), [head], scale="blues", key=wall, on_choose=take_head)
    rows = marked(stack.query_tokens.tokens) if kind == "self" else steps(stack.query_tokens.tokens, found.written)
    with right:
        told = f"{KINDS[kind]}, {head_name(*head)}: {_axes(stack)}"
        st.text(told)
        attention_map(
            rows,
            marked(stack.key_tokens.tokens),
            stack.weights[head],
            label=told,
            scale="blues",
            strongest=40,
            show="both",
            focus=None,
            key=widget_key(page, "map"),
            on_focus=lambda: None,
        )


def _axes(stack: "AttentionStack") -> str:
    looking, looked_at = {
        "cross": ("the target so far", "the source"),
        "self": ("the source", "itself"),
        "decoder": ("the target so far", "itself"),
    }[stack.kind]
    return f"{looking} ({len(stack.query_tokens)} tokens) looks at {looked_at} ({len(stack.key_tokens)} tokens)."


def show_masks(page: str, run: "ShapesRun") -> None:
    """Draw the three masks side by side."""
    titles = (
        ("Within the source", run.encoder_mask, "s", "s", "hides the padding of the source"),
        ("Within the target", run.decoder_mask, "t", "t", "hides what comes later, and the padding"),
        ("Target to source", run.cross_mask, "t", "s", "hides the padding of the source"),
    )
    for column, (title, mask, row, other, note) in zip(st.columns(3, gap="medium"), titles, strict=True):
        rows, columns = (
            [f"{letter}{place + 1}" for place in range(size)] for letter, size in zip((row, other), mask.shape, strict=True)
        )
        allowed = f"{int(mask.sum())} of {mask.size} pairs are allowed"
        with column:
            matrices(
                rows,
                columns,
                [Matrix(title, "mask", mask, f"{allowed}.", note=f"{note}: {allowed}")],
                key=widget_key(page, f"mask_{row}{other}"),
                across=1,
                naming=Naming(joint="looks at", hint=""),
            )


def show_shapes(run: "ShapesRun") -> None:
    """List every tensor with its shape in numbers and in words."""
    rows = [
        {
            "Where": one.where,
            "Tensor": one.name,
            "Shape": "(" + ", ".join(f"{size:,}" for size in one.shape) + ")",
            "Axes": " × ".join(one.axes).replace("head_dim", "head dim"),
            "How many": "one" if one.layers == 1 else f"one in each of {one.layers} layers",
        }
        for one in run.shapes
    ]
    st.table(rows)
