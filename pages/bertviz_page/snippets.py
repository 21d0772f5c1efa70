"""Python for the weights that bertviz draws: of one kind of attention, or of all of an encoder-decoder."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pages.ui.export.project_code import header
from pages.ui.export.texts import TRANSFORMERS_COMMENT
from pages.ui.export.transformers_code import import_lines, output_attentions, run_lines
from pages.ui.shell.plain_names import one_line

if TYPE_CHECKING:
    from tx_core.transformer.trace import Trace

NAMES = {"self": "encoder", "decoder": "decoder", "cross": "cross"}
"""What bertviz calls the kinds of attention of an encoder-decoder."""


def core_weights(title: str, trace: "Trace", kinds: Sequence[str]) -> str:
    """Write the code that computes every weight by tx_core."""
    source, every = trace.attention.query_tokens, [stack.kind for stack in trace.stacks]
    given = repr(source.text) + (f", {source.pair!r}" if source.pair else "")
    computed = (
        [
            f"stack = engine.trace({given}).stacks[{every.index(kinds[0])}]",
            "weights = stack.weights",
            "",
            "print(stack.query_tokens.tokens, stack.key_tokens.tokens, weights.shape)",
        ]
        if len(kinds) == 1
        else [
            f"trace = engine.trace({given})",
            "weights = {stack.kind: stack.weights for stack in trace.stacks}",
            "",
            "for stack in trace.stacks:",
            "    print(stack.kind, stack.query_tokens.tokens, stack.key_tokens.tokens, stack.weights.shape)",
        ]
    )
    return "\n".join([*header(title, trace.model, "from tx_core import load"), *computed, ""])


def library_weights(title: str, trace: "Trace", kinds: Sequence[str], call: str | None) -> str:
    """Write the code that computes every weight without this project. call: what draws them in a notebook, if anything."""
    if len(kinds) == 1:
        computed = ["weights = torch.stack(list(layers))[:, 0]", "", *_one_drawing(trace, call), "print(weights.shape)"]
    else:
        computed = [
            "weights = {",
            *[f'    "{kind}": torch.stack(list({output_attentions(trace, kind)}))[:, 0],' for kind in kinds],
            "}",
            "",
            *_drawing_of_all(trace, kinds, call),
            "print({kind: one.shape for kind, one in weights.items()})",
        ]
    first = [TRANSFORMERS_COMMENT.format(title=one_line(title)), *import_lines(trace), ""]
    return "\n".join([*first, *run_lines(trace, kinds[0]), *computed, ""])


def _one_drawing(trace: "Trace", call: str | None) -> list[str]:
    if call is None or len(trace.stacks) > 1:
        return []
    return _in_a_notebook(call, "layers, tokenizer.convert_ids_to_tokens(inputs.input_ids[0])")


def _drawing_of_all(trace: "Trace", kinds: Sequence[str], call: str | None) -> list[str]:
    if call is None:
        return []
    given = [f"{NAMES[kind]}_attention={output_attentions(trace, kind)}" for kind in kinds]
    tokens = [("encoder", "input_ids[0]"), ("decoder", "decoder_input_ids[0]")]
    given += [f"{name}_tokens=tokenizer.convert_ids_to_tokens(inputs.{ids})" for name, ids in tokens]
    return _in_a_notebook(call, ", ".join(given))


def _in_a_notebook(call: str, given: str) -> list[str]:
    return ["# In a notebook, bertviz draws it:", f"# from bertviz import {call}", f"# {call}({given})"]
