"""All heads of a run at a glance: a table of layers × heads, coloured by what each head does."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pages.summaries import texts
from pages.summaries.run import PAGE, ask_head, engine_of, part_of, trace_call
from pages.ui.export.computation import Computation, call, each, evaluate, named
from pages.ui.export.part import Part
from pages.ui.export.records import table_of
from pages.ui.shell import cache
from pages.ui.shell.address import is_offered
from pages.ui.shell.frame import page_address
from pages.ui.stage.charts import listing_drawing
from pages.ui.stage.controls import Control
from pages.ui.stage.heads import (
    GRAMMAR_COLUMNS_NOTE,
    all_heads,
    beside_heads,
    describe_grammar,
    describe_head,
    heads_pictures,
    rows_of_heads,
)
from pages.ui.stage.inputs import SentenceInputs
from pages.ui.stage.pictures import Picture
from tx_core.analysis import patterns
from tx_core.engine.engine import Engine
from tx_core.errors import TextProblem
from tx_core.transformer.trace import AttentionStack, Encoding, Trace


@dataclass(frozen=True)
class HeadSummary:
    """The heads of one text in numbers: `MeasuredHeads`."""

    model: str
    example: Encoding
    sums: patterns.PatternSums
    patterns: tuple[patterns.HeadPattern, ...]
    spread: Float[np.ndarray, "layer head"]
    distance: Float[np.ndarray, "layer head"]


def summarise(model: str, stack: AttentionStack) -> HeadSummary:
    """Classify and measure every head of a run, over the text's own tokens. Raises TextProblem if it has special tokens only."""
    own = ~np.array(stack.query_tokens.special)
    if not own.any():
        raise TextProblem(texts.SPECIAL_TOKENS_ONLY)
    return HeadSummary(model, stack.query_tokens, *evaluate(measures(named("stack", stack))))


def measures(stack: Computation) -> list[Computation]:
    """Return the computation of the pattern sums, and of the kind, spread and distance of every head of a run."""
    own = named("own", ~call(np.array, stack.query_tokens.special), "the text's own tokens")
    sums = named("sums", call(patterns.pattern_sums, stack.weights, stack.query_tokens))
    # One layer at a time: a long text would double its memory.
    spread = call(np.stack, each(stack.weights, lambda layer: call(patterns.normalised_entropy, layer[:, own]).mean(-1)))
    distance = call(np.stack, each(stack.weights, lambda layer: call(patterns.mean_distance, layer)[:, own].mean(-1)))
    return [sums, named("kinds", call(patterns.name_heads, sums)), named("spread", spread), named("distance", distance)]


def summary_of(inputs: SentenceInputs, stack: AttentionStack) -> HeadSummary:
    """Return the summary of a run, cached."""
    key = (PAGE, "heads", cache.engine_key(inputs.engine()), inputs.text, inputs.pair or None)
    return cache.get_or_compute(key, lambda: summarise(inputs.model, stack))


def sum_up(inputs: SentenceInputs, _engine: Engine, trace: Trace) -> Part:
    """Compute the table in every colouring, and each head in words."""
    stack = trace.attention
    summary = summary_of(inputs, stack)
    _, heads = ask_head(*summary.spread.shape)
    colours = Control("colour", "list", texts.COLOUR_BY, tuple(texts.COLOURS.items()), labelled=True)
    even = patterns.uniform_distance(len(stack.query_tokens))
    said, alts = {"pattern": texts.KINDS_SENTENCE}, {"pattern": texts.CONFIDENCE}
    tables = heads_pictures(summary, texts.KINDS_SUBJECTS, said, alts, even)
    measured = (patterns.pattern_sums, patterns.entropy, patterns.mean_distance)
    return part_of(
        trace,
        texts.KINDS_TITLE,
        [*tables, _words(inputs, trace, summary)],
        numbers(trace),
        texts.KINDS_CAVEAT,
        sources=(patterns.TokenMarks, *patterns.TARGETS.values(), *measured),
        table=lambda: table_of(rows_of(summary), f"{texts.KINDS_NUMBERS} {GRAMMAR_COLUMNS_NOTE}"),
        controls=[colours, heads],
    )


def _words(inputs: SentenceInputs, trace: Trace, summary: HeadSummary) -> Picture:
    """Describe every head, with a link to its map."""
    shape = summary.spread.shape
    said = {
        link: {"sentence": f"{describe_head(summary, head)} {describe_grammar(trace.model, head)}"}
        for link, head in all_heads(*shape).items()
    }
    view = inputs.in_link(text=inputs.text, pair=inputs.pair)
    link = (texts.SEE_HEAD, page_address("attention", view)) if is_offered("links") else None
    return Picture(listing_drawing(), varies="heads", variants=said, link=link, **beside_heads(shape[1]))


def rows_of(summary: HeadSummary) -> list[dict[str, object]]:
    """List the heads, one row each, with every number that is known of them."""

    def measures(one: patterns.HeadPattern) -> dict[str, float]:
        place = one.layer, one.head
        spread, distance = float(summary.spread[place]), float(summary.distance[place])
        return {"spread (0 to 1)": spread, "distance (tokens)": distance}

    return rows_of_heads(summary, measures)


def numbers(trace: Trace) -> list[Computation]:
    """Return the computation of the kind and the measures of every head."""
    _, kinds, spread, distance = measures(named("stack", trace_call(engine_of(trace), trace).attention))
    return [kinds, spread.round(3), distance.round(2)]
