"""What many blocks do to vectors: residual connections, pre- and post-norm, and a word on its way through the layers."""

import streamlit as st

from pages.heads_and_blocks import texts
from pages.heads_and_blocks.inputs import PAGE, BlockInputs
from pages.ui.export.computation import call, computed, each, engine_call, named
from pages.ui.export.part import Part
from pages.ui.shell import cache
from pages.ui.shell.address import value_of
from pages.ui.stage.charts import depths, lines_drawing
from pages.ui.stage.pictures import Picture
from tx_core.engine.bert_engine import BertEngine
from tx_core.lessons.residual_stream import StackRun, run_random_blocks, run_without_skips, skip_effect, token_path, token_paths
from tx_core.transformer import layers

BLOCKS = 24
COSINES = (-0.15, 1.05)
"""The ends of an axis of cosines."""
ALIKE_AFTER = 4
"""Blocks after which the page names the similarity of tokens without residual connections."""


def depth_part(inputs: BlockInputs, engine: BertEngine) -> Part:
    """Compute what happens to vectors in many blocks, pre-norm and post-norm, with and without residual connections."""
    given = {"skips": not inputs.cut, "blocks": BLOCKS, "seed": inputs.seed}
    computations = [
        named(name, call(run_random_blocks, norm_first=first, **given)) for name, first in (("post", False), ("pre", True))
    ]
    own_computation = named("trained", call(skip_effect, engine_call(inputs), *inputs.sentences))
    post, pre, own = (computed(one, engine) for one in (*computations, own_computation))
    charts = (
        ("length", texts.MEAN_LENGTH, None, False),
        ("cosine", texts.SIMILARITY, COSINES, False),
        ("gradient", texts.GRADIENT, None, True),
    )
    similarities = {"post": f"{post.cosine[ALIKE_AFTER]:.2f}", "pre": f"{pre.cosine[ALIKE_AFTER]:.2f}"}
    alike = texts.WITHOUT_RESIDUALS.format(blocks=ALIKE_AFTER, **similarities)
    notes = ("", alike, "") if inputs.cut else _notes_on_depth(post, pre)
    pictures = []
    for (name, title, limits, logarithmic), note in zip(charts, notes, strict=True):
        series = {texts.POST_NORM: getattr(post, name), texts.PRE_NORM: getattr(pre, name)}
        drawing = lines_drawing(title, depths(BLOCKS), series, limits=limits, logarithmic=logarithmic)
        pictures.append(Picture(drawing, note, cell=texts.AT_DEPTH))
    series = {texts.AS_TRAINED: own.with_skips, texts.RESIDUALS_CUT: own.without_skips}
    trained = lines_drawing(texts.TRAINED_SIMILARITY, depths(engine.info.num_layers), series, limits=COSINES)
    kept = texts.TRAINED_NOTE.format(kept=own.with_skips[-1], cut=own.without_skips[-1])
    said = f"{texts.TRAINED.format(model=engine.title)} {kept}"
    measures = [number for run in computations for number in (run.length, run.cosine, run.gradient)]
    return Part(
        [*pictures, Picture(trained, said, row=1, cell=texts.AT_DEPTH)],
        inputs.numbers([*measures, own_computation.with_skips, own_computation.without_skips], "cut", "seed"),
        [texts.DEPTH_TEXT.format(blocks=BLOCKS), texts.WARM_UP],
        lambda: st.caption(texts.RESIDUAL_BUG),
        texts.DEPTH_FORMULAS,
        sources=(layers.EncoderBlock, run_without_skips),
    )


def _notes_on_depth(post: StackRun, pre: StackRun) -> tuple[str, str, str]:
    """Return what is to be seen in each of the three charts of untrained blocks."""
    numbers = {
        "pre_start": pre.length[0],
        "pre_end": pre.length[-1],
        "post_end": post.length[-1],
        "post_similarity": post.cosine[-1],
        "pre_similarity": pre.cosine[-1],
        "post_gradient": min(post.gradient),
        "pre_gradient": min(pre.gradient),
    }
    return tuple(text.format(**numbers) for text in texts.WITH_RESIDUALS)


def journey_part(inputs: BlockInputs, engine: BertEngine) -> Part:
    """Follow every token through the layers: how far its vector turns, and how long it is."""
    trace = cache.trace_with(engine, *inputs.sentences, keep=("hidden",))
    tokens = trace.attention.query_tokens.tokens
    names = [texts.TOKEN_NAME.format(token=token, position=number) for number, token in enumerate(tokens, 1)]
    paths = token_paths(trace, range(len(tokens)))
    pictures = []
    for name, title, limits in (
        ("cosine_to_embedding", texts.COSINE_TO_START, COSINES),
        ("cosine_to_previous", texts.COSINE_TO_LAST, COSINES),
        ("length", texts.LENGTH, None),
    ):
        series = dict(zip(names, (getattr(path, name) for path in paths), strict=True))
        drawing = lines_drawing(title, depths(engine.info.num_layers), series, limits=limits)
        pictures.append(Picture(drawing, cell=texts.AT_DEPTH, picks="words"))
    traced = named("trace", engine_call(inputs).trace(*inputs.sentences, keep=("hidden",)))
    followed = [word - 1 for word in value_of(PAGE, "words")]
    measured = named("paths", call(token_paths, traced, followed), "tokens, counted from 0")
    measures = each(measured, lambda path: (path.token, path.cosine_to_embedding, path.cosine_to_previous, path.length))
    return Part(
        pictures,
        inputs.numbers([measures], "words"),
        [texts.WORD_PATH_TEXT],
        formulas=texts.WORD_PATH_FORMULAS,
        sources=(layers.Encoder, token_path),
    )
