"""The parts of this page for export: what they drew, and the code of its numbers."""

from collections.abc import Callable

from pages.heads_and_blocks import texts
from pages.heads_and_blocks.depth import BLOCKS
from pages.ui.export.lessons import PartCode, Written, draw_and_export, part_computation
from tx_core.engine.bert_engine import BertEngine

EXPORTED_FIELDS = ("layer", "heads", "bend", "norm", "cut", "seed", "words")
STEPS = "from tx_core.lessons.bert_parts import {}"


def with_export(part: str, draw: Callable[..., None]) -> Callable[..., None]:
    """Return `draw` followed by an export menu of what it drew."""
    code = PartCode(texts.EXPORT_TITLES[part], texts.EXPORT_RESULT, CODE[part])

    def draw_part(page: str, engine: BertEngine, text: str, pair: str) -> None:
        asked = page, engine, text, pair
        draw_and_export(page, lambda: part_computation(code, EXPORTED_FIELDS, *asked), draw, *asked)

    return draw_part


def _embeddings(values: dict, sentences: str) -> Written:
    lines = [f"run = embedding_run(engine, {sentences})", "", "print(run.tokens, run.summed, run.normed, sep='\\n')"]
    return [STEPS.format("embedding_run")], lines, ()


def _heads(values: dict, sentences: str) -> Written:
    heads = tuple(head - 1 for head in sorted(values["heads"]))
    lines = [
        f"run = block_run(engine, {sentences}, layer={values['layer'] - 1})  # layers and heads are counted from 0",
        f"projection = matrix_and_bias(engine.model.encoder.blocks[{values['layer'] - 1}].attention.output)",
        f"output = run.output_of({heads}, projection.bias)",
        "",
        "print(run.tokens, output, run.head_lengths, sep='\\n')",
    ]
    return [STEPS.format("block_run, matrix_and_bias")], lines, ("layer", "heads")


def _feed_forward(values: dict, sentences: str) -> Written:
    layer = values["layer"] - 1
    lines = [
        f"block = block_run(engine, {sentences}, layer={layer})  # layers are counted from 0",
        f"run = feed_forward_run(engine, block.attention_normed, {layer}, {values['bend']!r})",
        "",
        "print(block.tokens, run.up_projected, run.activated, run.convolution.ours, sep='\\n')",
    ]
    return [STEPS.format("block_run, feed_forward_run")], lines, ("layer", "bend")


def _norm(values: dict, sentences: str) -> Written:
    layer = 0 if values["norm"] == "embeddings" else values["layer"] - 1
    lines = [
        f"run = norm_run(engine, {sentences}, place={values['norm']!r}, layer={layer})  # layers are counted from 0",
        "",
        "print(run.tokens, run.tensors.before, run.tensors.normed, run.tensors.result.ours, sep='\\n')",
    ]
    return [STEPS.format("norm_run")], lines, ("layer", "norm")


def _depth(values: dict, sentences: str) -> Written:
    arguments = f"skips={not values['cut']}, blocks={BLOCKS}, seed={values['seed']}"
    lines = [
        f"post, pre = (run_random_blocks(norm_first=first, {arguments}) for first in (False, True))",
        f"trained = skip_effect(engine, {sentences})",
        "",
        "for run in (post, pre):",
        "    print(run.length, run.cosine, run.gradient, sep='\\n')",
        "print(trained.with_skips, trained.without_skips, sep='\\n')",
    ]
    return ["from tx_core.lessons.residual_stream import run_random_blocks, skip_effect"], lines, ("cut", "seed")


def _word_path(values: dict, sentences: str) -> Written:
    lines = [
        f"trace = engine.trace({sentences}, keep=('hidden',))",
        f"paths = token_paths(trace, {[word - 1 for word in values['words']]})  # tokens, counted from 0",
        "",
        "for path in paths:",
        "    print(path.token, path.cosine_to_embedding, path.cosine_to_previous, path.length, sep='\\n')",
    ]
    return ["from tx_core.lessons.residual_stream import token_paths"], lines, ("words",)


CODE: dict[str, Callable[[dict, str], Written]] = {
    "embeddings": _embeddings,
    "heads": _heads,
    "feed": _feed_forward,
    "norm": _norm,
    "depth": _depth,
    "journey": _word_path,
}
