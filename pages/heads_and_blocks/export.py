"""The parts of this page for export: what they drew, and the computation of its numbers."""

from collections.abc import Callable, Sequence

from pages.heads_and_blocks import texts
from pages.heads_and_blocks.depth import BLOCKS
from pages.ui.export.computation import Computation, call, each, named
from pages.ui.export.lessons import PartCode, draw_and_export, part_numbers
from tx_core.engine.bert_engine import BertEngine
from tx_core.lessons import bert_parts, residual_stream

EXPORTED_FIELDS = ("layer", "heads", "bend", "norm", "cut", "seed", "words")
FROM_0 = "layers and heads are counted from 0"
Sentences = tuple[str, ...]
Shown = tuple[Sequence[Computation], tuple[str, ...]]
"""What is shown, and the fields that it depends on."""


def with_export(part: str, draw: Callable[..., None]) -> Callable[..., None]:
    """Return `draw` followed by an export menu of what it drew."""
    code = PartCode(texts.EXPORT_TITLES[part], texts.EXPORT_RESULT, NUMBERS[part])

    def draw_part(page: str, engine: BertEngine, text: str, pair: str) -> None:
        asked = page, engine, text, pair
        draw_and_export(page, lambda: part_numbers(code, EXPORTED_FIELDS, *asked), draw, *asked)

    return draw_part


def _embeddings(values: dict, engine: Computation, sentences: Sentences) -> Shown:
    run = named("run", call(bert_parts.embedding_run, engine, *sentences))
    return [run.tokens, run.summed, run.normed], ()


def _heads(values: dict, engine: Computation, sentences: Sentences) -> Shown:
    layer, heads = values["layer"] - 1, tuple(head - 1 for head in sorted(values["heads"]))
    run = named("run", call(bert_parts.block_run, engine, *sentences, layer=layer), FROM_0)
    projection = call(bert_parts.matrix_and_bias, engine.model.encoder.blocks[layer].attention.output)
    output = named("output", run.output_of(heads, projection.bias))
    return [run.tokens, output, run.head_lengths], ("layer", "heads")


def _feed_forward(values: dict, engine: Computation, sentences: Sentences) -> Shown:
    layer = values["layer"] - 1
    block = named("block", call(bert_parts.block_run, engine, *sentences, layer=layer), FROM_0)
    run = named("run", call(bert_parts.feed_forward_run, engine, block.attention_normed, layer, values["bend"]))
    return [block.tokens, run.up_projected, run.activated, run.convolution.ours], ("layer", "bend")


def _norm(values: dict, engine: Computation, sentences: Sentences) -> Shown:
    layer = 0 if values["norm"] == "embeddings" else values["layer"] - 1
    run = named("run", call(bert_parts.norm_run, engine, *sentences, place=values["norm"], layer=layer), FROM_0)
    return [run.tokens, run.tensors.before, run.tensors.normed, run.tensors.result.ours], ("layer", "norm")


def _depth(values: dict, engine: Computation, sentences: Sentences) -> Shown:
    given = {"skips": not values["cut"], "blocks": BLOCKS, "seed": values["seed"]}
    runs = [
        named(name, call(residual_stream.run_random_blocks, norm_first=first, **given))
        for name, first in (("post", False), ("pre", True))
    ]
    trained = named("trained", call(residual_stream.skip_effect, engine, *sentences))
    measures = [number for run in runs for number in (run.length, run.cosine, run.gradient)]
    return [*measures, trained.with_skips, trained.without_skips], ("cut", "seed")


def _word_path(values: dict, engine: Computation, sentences: Sentences) -> Shown:
    trace = named("trace", engine.trace(*sentences, keep=("hidden",)))
    words = [word - 1 for word in values["words"]]
    paths = named("paths", call(residual_stream.token_paths, trace, words), "tokens, counted from 0")
    measures = each(paths, lambda path: (path.token, path.cosine_to_embedding, path.cosine_to_previous, path.length))
    return [measures], ("words",)


NUMBERS: dict[str, Callable[[dict, Computation, Sentences], Shown]] = {
    "embeddings": _embeddings,
    "heads": _heads,
    "feed": _feed_forward,
    "norm": _norm,
    "depth": _depth,
    "journey": _word_path,
}
