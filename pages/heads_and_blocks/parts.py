"""The parts of a block, each computed and shown as matrices; residual connections and a word's path are in `depth`."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
from numpy.typing import ArrayLike

from pages.heads_and_blocks import texts
from pages.heads_and_blocks.depth import depth_part, journey_part
from pages.heads_and_blocks.inputs import DIMENSIONS_SHOWN, BlockInputs, block_architecture, block_controls
from pages.ui.export.computation import call, computed, engine_call, named
from pages.ui.export.part import Part
from pages.ui.shell.numbers import small_number, whole_percent
from pages.ui.stage.charts import matrix_drawing
from pages.ui.stage.matrices import Matrix, MatrixNames, MatrixStep, MatrixSteps, Origin, cell_origin, numbers_from_1, operand
from pages.ui.stage.pictures import Picture
from pages.ui.stage.tokens import note_how_read
from tx_core.engine.bert_engine import BertEngine
from tx_core.lessons.bert_parts import (
    Affine,
    BlockRun,
    ComparedResults,
    EmbeddingRun,
    block_run,
    embedding_run,
    feed_forward_as_convolution,
    feed_forward_run,
    matrix_and_bias,
    mean_token_cosine,
    norm_run,
    norm_tensors,
    on_cpu,
    repeated_word,
)
from tx_core.transformer import attention, bert, layers

SHOWN = DIMENSIONS_SHOWN[1]
SHOWN_OF_HEAD = 3
"""Dimensions of the results of a head, since they stand beside those of all others."""
CONVOLVED = 12
"""Dimensions shown of what the two convolutions give."""
QUIET_DELTA = {"delta_color": "off", "delta_arrow": "off"}
FROM_0 = "layers and heads are counted from 0"


def block_part(inputs: BlockInputs, engine: BertEngine) -> Part:
    """Compute the part that is asked for; raise ExplorerError where the text cannot be read."""
    part = PARTS[inputs.part](inputs, engine)
    note_how_read(engine, inputs.text, pair=inputs.pair)
    return replace(part, controls=block_controls(inputs, engine), architecture=block_architecture(inputs))


def embeddings_part(inputs: BlockInputs, engine: BertEngine) -> Part:
    """Compute the three look-ups, their sum, and its norm."""
    computation = named("run", call(embedding_run, engine_call(inputs), *inputs.sentences))
    run, norm = computed(computation, engine), on_cpu(engine.model.embeddings.norm)
    names = MatrixNames(run.tokens, texts.MATRICES["embeddings"], SHOWN)
    learned = {"weight": _first(norm.weight.detach()), "bias": _first(norm.bias.detach())}
    parts = ("words", "positions", "segments")
    matrices = [
        *(names.by_token(name, getattr(run, name), group="looked up", lead="+") for name in parts),
        names.by_token("sum", run.summed, cell_origin("added", *parts), group="looked up", lead="="),
        names.by_token("normed", run.normed, cell_origin("normalised", "sum", eps=norm.eps, **learned), group="normed"),
    ]
    steps = [
        MatrixStep("sum", "W + P + S", names.said["sum"][0], "words + positions + segments = sum"),
        MatrixStep("norm", "LayerNorm", names.said["normed"][0], "sum → normed"),
    ]
    ids = (texts.TOKEN_ID.format(token=token, id=number) for token, number in zip(run.tokens, run.ids.tolist(), strict=True))
    said = f"{texts.IDS.format(ids=' · '.join(ids))} {_word_twice(run)}"
    return Part(
        [Picture(MatrixSteps(matrices, steps, texts.TOKENS), said)],
        inputs.numbers([computation.tokens, computation.summed, computation.normed]),
        [texts.EMBEDDINGS_TEXT],
        lambda: st.caption(texts.DROPOUT),
        [texts.EMBEDDINGS_FORMULA],
        sources=(bert.BertEmbeddings,),
    )


def _word_twice(run: EmbeddingRun) -> str:
    twice = repeated_word(run)
    if twice is None:
        return texts.NO_WORD_TWICE
    first, second, difference = twice
    return texts.WORD_TWICE.format(token=run.tokens[first], first=first + 1, second=second + 1, difference=difference)


def heads_part(inputs: BlockInputs, engine: BertEngine) -> Part:
    """Compute what each head adds, then the results of the chosen heads, their concatenation and projection."""
    chosen = tuple(head - 1 for head in inputs.heads)
    computation = named("run", call(block_run, engine_call(inputs), *inputs.sentences, layer=inputs.block), FROM_0)
    bias = call(matrix_and_bias, engine_call(inputs).model.encoder.blocks[inputs.block].attention.output).bias
    run, size = computed(computation, engine), engine.model.config.hidden_size
    sizes = {"size": size, "heads": engine.info.num_heads, "width": size // engine.info.num_heads}
    projection = matrix_and_bias(engine.model.encoder.blocks[inputs.block].attention.output)
    joined = " → ".join(filter(None, [" | ".join(map(_name, chosen)), "output"]))
    steps = [
        MatrixStep("adds", texts.ADDS_SIGN, texts.ADDS_TITLE, "lengths", numbers=True),
        MatrixStep("joined", texts.JOINED_SIGN, texts.MATRICES["heads"]["output"][0], joined),
    ]
    shown = MatrixSteps(_head_matrices(run, chosen, projection), steps, texts.TOKENS)

    def below() -> None:
        st.caption(texts.SHAPES.format(tokens=len(run.tokens), **sizes))
        all_heads = run.output_of(tuple(range(len(run.by_head))), projection.bias)
        cosine = mean_token_cosine(run.output_of(chosen, projection.bias), run.attention_output)
        one, two = st.columns(2)
        with one:
            _show_difference(texts.HEADS_SUM, ComparedResults(all_heads, run.attention_output))
        two.metric(texts.HEADS_CHOSEN, f"{cosine:.2f}", texts.HEADS_CHOSEN_NOTE, **QUIET_DELTA)

    output = named("output", computation.output_of(chosen, bias))
    return Part(
        [Picture(shown, _most_added(run) if chosen else texts.NO_HEAD)],
        inputs.numbers([computation.tokens, output, computation.head_lengths], "layer", "heads"),
        [f"{texts.HEADS_ADD_TEXT} {texts.HEADS_TEXT.format(**sizes)}"],
        below,
        [formula.format(**sizes) for formula in (texts.HEAD_FORMULA, texts.HEADS_FORMULA)],
        sources=(layers.MultiHeadAttention, attention.split_heads, attention.merge_heads),
    )


def _head_matrices(run: BlockRun, heads: Sequence[int], projection: Affine) -> list[Matrix]:
    """Concatenate the results of some heads, counted from 0, and mix them by the output projection."""
    said = dict(texts.MATRICES["heads"])
    for head in heads:
        said[_name(head)] = tuple(part.format(head=head + 1) for part in said["head"])
    names, lengths = MatrixNames(run.tokens, said, SHOWN), run.head_lengths.numpy()
    rows = tuple(texts.HEAD_ROW.format(head=number) for number in range(1, len(lengths) + 1))
    about = {"group": "lengths", "alt": texts.LENGTH_ALT}
    return [
        Matrix("lengths", texts.HEADS_ADD, texts.LENGTH_FORMULA, lengths, rows, run.tokens, "", "token", **about),
        *(
            names.by_token(_name(head), run.context[head], shown=SHOWN_OF_HEAD, group="heads", lead="|" * (at > 0))
            for at, head in enumerate(heads)
        ),
        operand("joined", run.concatenated_of(tuple(heads))),
        operand("projection", projection.matrix[:, :SHOWN]),
        names.by_token("output", run.output_of(tuple(heads), projection.bias), _product("joined", "projection", projection)),
    ]


def _name(head: int) -> str:
    """The matrix of a head, counted from 0: names have letters alone."""
    return f"head{chr(97 + head)}"


def _most_added(run: BlockRun) -> str:
    lengths = run.head_lengths
    head, token = divmod(int(lengths.argmax()), lengths.shape[1])
    means = lengths.mean(dim=1)
    ends = {"most": int(means.argmax()) + 1, "most_mean": float(means.max())}
    ends |= {"least": int(means.argmin()) + 1, "least_mean": float(means.min())}
    return texts.HEAD_ADDS_MOST.format(head=head + 1, length=float(lengths.max()), token=run.tokens[token], **ends)


def feed_part(inputs: BlockInputs, engine: BertEngine) -> Part:
    """Compute a feed-forward layer, and the same as a convolution."""
    config, function = engine.model.config, texts.ACTIVATIONS[inputs.bend]
    attended = named("block", call(block_run, engine_call(inputs), *inputs.sentences, layer=inputs.block), FROM_0)
    fed = named("run", call(feed_forward_run, engine_call(inputs), attended.attention_normed, inputs.block, inputs.bend))
    block = computed(attended, engine)
    run = computed(fed, engine, block=block)
    weights = engine.model.encoder.blocks[inputs.block].feed_forward
    up, down = matrix_and_bias(weights.up), matrix_and_bias(weights.down)
    said = {name: tuple(part.format(function=function) for part in parts) for name, parts in texts.MATRICES["feed"].items()}
    names = MatrixNames(block.tokens, said, SHOWN)
    matrices = [
        names.by_token("vectors", block.attention_normed),
        operand("widen", up.matrix[:, :SHOWN]),
        names.by_token("widened", run.up_projected, _product("vectors", "widen", up), group="wide"),
        names.by_token("bent", run.activated, cell_origin("activation", "widened", how=function), group="wide"),
        operand("narrow", down.matrix[:, :SHOWN]),
        names.by_token("output", run.convolution.ours, _product("bent", "narrow", down), group="output"),
    ]
    steps = [
        MatrixStep("widened", "· W₁ + b₁", said["widened"][0], "vectors → widened"),
        MatrixStep("bent", function, said["bent"][0], "widened → bent"),
        MatrixStep("output", "· W₂ + b₂", said["output"][0], "bent → output"),
    ]
    shares = {"share": whole_percent(run.share_below_zero), "carried": whole_percent(run.share_passed_below_zero)}
    shown = Picture(MatrixSteps(matrices, steps, texts.TOKENS), texts.BELOW_ZERO[inputs.bend].format(**shares))

    def below() -> None:
        one, two = st.columns(2)
        with one:
            _show_difference(texts.CONVOLUTION_DIFFERENCE, run.convolution)
        two.metric(texts.ALONE, small_number(run.difference_alone), texts.ALONE_NOTE, **QUIET_DELTA)

    numbers = [attended.tokens, fed.up_projected, fed.activated, fed.convolution.ours]
    return Part(
        [shown, *_convolution(block.tokens, run.convolution)],
        inputs.numbers(numbers, "layer", "bend"),
        [texts.FEED_FORWARD_TEXT.format(size=config.hidden_size, inner=config.intermediate_size), texts.CONVOLUTION_TEXT],
        below,
        texts.FEED_FORWARD_FORMULAS,
        sources=(layers.FeedForward, layers.gelu, feed_forward_as_convolution),
    )


def _convolution(tokens: Sequence[str], both: ComparedResults) -> list[Picture]:
    """Return the same result in two ways, side by side, with what differs between them."""
    ours, theirs = both.ours[:, :CONVOLVED].numpy(), both.theirs[:, :CONVOLVED].numpy()
    note = texts.FIRST_DIMENSIONS.format(shown=CONVOLVED, size=both.ours.shape[1])
    scale = {"limit": float(abs(ours).max()), "root": True, "numbered": True}
    ways = (
        (texts.LINEAR_LAYERS, ours, note),
        (texts.CONVOLUTIONS, theirs, note),
        (texts.DIFFERENCE, ours - theirs, texts.DIFFERENCE_NOTE),
    )
    drawn = [
        matrix_drawing(title, "signed", cells, tokens, numbers_from_1(CONVOLVED), note=note, **scale)
        for title, cells, note in ways
    ]
    return [Picture(drawing, row=1, cell=texts.DIMENSION) for drawing in drawn]


def norm_part(inputs: BlockInputs, engine: BertEngine) -> Part:
    """Compute a layer norm step by step."""
    layer = 0 if inputs.norm == "embeddings" else inputs.block
    computation = named("run", call(norm_run, engine_call(inputs), *inputs.sentences, place=inputs.norm, layer=layer), FROM_0)
    run = computed(computation, engine)
    names, tensors = MatrixNames(run.tokens, texts.MATRICES["norm"], SHOWN), run.tensors
    learned = {"weight": _first(run.weight), "bias": _first(run.bias)}
    matrices = [
        names.by_token("before", tensors.before, group="before", lead=""),
        names.by_token("mean", tensors.mean[:, None], cell_origin("mean", "before"), group="mean"),
        names.by_token("variance", tensors.variance[:, None], cell_origin("variance", "before"), group="variance", lead=""),
        names.by_token("normed", tensors.normed, cell_origin("normalised", "before", eps=run.eps), group="after"),
        names.by_token("ours", tensors.result.ours, cell_origin("normalised", "before", eps=run.eps, **learned), group="after"),
        names.by_token("theirs", tensors.result.theirs, group="after", lead="="),
    ]
    steps = [
        MatrixStep("statistics", "μ, σ²", texts.STATISTICS, "before → mean variance"),
        *(
            MatrixStep(name, names.said[name][1], names.said[name][0], shows)
            for name, shows in (("normed", "before → normed"), ("ours", "before → ours = theirs"))
        ),
    ]
    shown = [computation.tokens, *(getattr(computation.tensors, name) for name in ("before", "normed"))]
    return Part(
        [Picture(MatrixSteps(matrices, steps, texts.TOKENS))],
        inputs.numbers([*shown, computation.tensors.result.ours], "layer", "norm"),
        [texts.NORM_TEXT],
        lambda: _show_difference(texts.NORM_DIFFERENCE, tensors.result),
        texts.NORM_FORMULAS,
        sources=(layers.layer_norm, norm_tensors),
    )


def _product(left: str, right: str, layer: Affine) -> Origin:
    return cell_origin("product", left, right, bias=_first(layer.bias))


def _first(numbers: ArrayLike) -> tuple[float, ...]:
    """The numbers of the columns that can be shown."""
    return tuple(numbers[:SHOWN].tolist())


def _show_difference(label: str, both: ComparedResults) -> None:
    """Show the largest difference of two results, and how large their numbers are."""
    difference = both.greatest_difference
    rounding = texts.DIFFERENCE_BESIDE.format(size=float(both.ours.abs().max()))
    st.metric(label, small_number(difference), rounding if difference else texts.NO_DIFFERENCE, **QUIET_DELTA)


PARTS = {
    "heads": heads_part,
    "embeddings": embeddings_part,
    "feed": feed_part,
    "norm": norm_part,
    "depth": depth_part,
    "journey": journey_part,
}
