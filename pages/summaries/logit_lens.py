"""Layer-by-layer predictions: what the model would answer at a token after each layer (logit lens)."""

from pages.summaries import texts
from pages.summaries.run import ask_token, engine_of, part_of, trace_call
from pages.ui.export.computation import Computation, call, computed, named
from pages.ui.export.part import Part
from pages.ui.export.records import DataTable, table_of
from pages.ui.shell.numbers import percent
from pages.ui.stage.charts import depths, lines_drawing, listing_drawing
from pages.ui.stage.inputs import SentenceInputs
from pages.ui.stage.pictures import Picture
from pages.ui.stage.tokens import numbered_tokens
from pages.ui.stage.view_options import token_to_link
from tx_core.analysis import logit_lens
from tx_core.analysis.logit_lens import LayerPredictions
from tx_core.engine.engine import Engine
from tx_core.transformer.trace import Trace

EQUATION = r"p_\ell = \mathrm{softmax}\bigl(\mathrm{head}(h_\ell)\bigr)"
MARGINS = (-0.04, 1.08)
"""The ends of the chart's axis, as multiples of the largest probability."""
MOST_VECTORS = 150
"""How many vectors are read beyond those of the token that is looked at: about 50 ms."""


def sum_up(_inputs: SentenceInputs, engine: Engine, trace: Trace) -> Part:
    """Compute the answers after every layer: at all tokens, if they are few."""
    encoding = trace.attention.query_tokens
    predicts_next = engine.info.predicts_next
    place, control = ask_token(encoding, range(len(encoding)), texts.ASK_TOKEN, last=predicts_next)
    sent = range(len(encoding)) if len(encoding) * len(trace.hidden) <= MOST_VECTORS else [place]
    answers = {one: computed(answers_call(trace, one), engine, trace=trace) for one in sent}
    labels = numbered_tokens(encoding.tokens)
    pictures = [
        picture for one, found in answers.items() for picture in _pictures(found, labels[one], predicts_next=predicts_next)
    ]
    return part_of(
        trace,
        texts.LENS_SUBJECT.format(token=labels[place]),
        pictures,
        numbers(trace, place),
        texts.LENS_CAVEAT,
        texts.LENS_TEXT,
        formulas=[EQUATION],
        sources=[logit_lens.logit_lens],
        table=lambda: _table(answers[place]),
        partial={} if len(sent) == len(encoding) else {"token": [token_to_link(place)]},
        controls=[control],
    )


def _pictures(answers: LayerPredictions, token: str, *, predicts_next: bool) -> list[Picture]:
    """Draw the answers by layer as a table, and the probability of the final one as a line."""
    when, table = {"token": [token_to_link(answers.place)]}, answer_table(answers)
    said = describe_answer(answers, token, predicts_next=predicts_next)
    largest, steps = float(answers.probability.max()), depths(len(answers.words) - 1)
    series = {texts.PROBABILITY: answers.probability.tolist()}
    line = lines_drawing(texts.FINAL_PROBABILITY, steps, series, limits=(MARGINS[0] * largest, MARGINS[1] * largest))
    return [
        Picture(listing_drawing(head=list(table[0]), rows=[list(row.values()) for row in table]), said, when=when),
        Picture(line, when=when, row=1, cell=texts.AFTER_STEP),
    ]


def answer_table(answers: LayerPredictions) -> list[dict[str, str]]:
    """List the top answers after each layer, and the rank of the final one."""
    cells = [
        [*(f"{word} {percent(float(share))}" for word, share in zip(words, shares, strict=True)), f"{rank:,}"]
        for words, shares, rank in zip(answers.words, answers.shares, answers.rank.tolist(), strict=True)
    ]
    columns = ["", *(texts.RANK.format(rank=rank) for rank in range(1, answers.shares.shape[1] + 1)), texts.FINAL_RANK]
    return [dict(zip(columns, [name, *row], strict=True)) for name, row in zip(_depth_names(answers), cells, strict=True)]


def describe_answer(answers: LayerPredictions, token: str, *, predicts_next: bool) -> str:
    """Return a sentence on the final prediction, and on the layer from which it ranks first."""
    template = texts.ANSWER_NEXT_TOKEN if predicts_next else texts.ANSWER
    answer = template.format(token=token, answer=answers.answer, probability=percent(float(answers.probability[-1])))
    layer = len(answers.rank)
    while layer and answers.rank[layer - 1] == 1:
        layer -= 1
    first = texts.FIRST_FROM_LAYER.format(layer=layer) if layer else texts.FIRST_FROM_EMBEDDINGS
    return f"{answer} {first}"


def _depth_names(answers: LayerPredictions) -> list[str]:
    return [texts.EMBEDDINGS, *(texts.AFTER_LAYER.format(layer=layer) for layer in range(1, len(answers.words)))]


def _table(answers: LayerPredictions) -> DataTable:
    return table_of(
        [
            {
                "depth": depth,
                "rank": rank,
                "word": word,
                "probability": float(share),
                "probability of the final answer": float(answers.probability[number]),
                texts.FINAL_RANK: int(answers.rank[number]),
            }
            for number, depth in enumerate(_depth_names(answers))
            for rank, (word, share) in enumerate(zip(answers.words[number], answers.shares[number], strict=True), start=1)
        ]
    )


def answers_call(trace: Trace, place: int) -> Computation:
    """Return the computation of the answers after every layer."""
    engine = engine_of(trace)
    return named("answers", call(logit_lens.logit_lens, engine, trace_call(engine, trace, keep=("hidden",)), place))


def numbers(trace: Trace, place: int) -> list[Computation]:
    """Return the computation of the answers, of their shares, and of the final one's probability and rank."""
    answers = answers_call(trace, place)
    shares, probability, rank = (named(name, getattr(answers, name)) for name in ("shares", "probability", "rank"))
    return [answers.words, shares.round(4), probability.round(4), rank]
