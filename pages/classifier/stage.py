"""The stage of the classifier: what it makes of a sentence at any moment of its training, word by word, and where heads look."""

from collections.abc import Mapping, Sequence
from functools import partial

from pages.classifier import texts
from pages.classifier.model import TRAINER, LabelInputs, untrained
from pages.ui.shell.numbers import percent
from pages.ui.stage.charts import Drawing, bars_drawing, matrix_drawing
from pages.ui.stage.training import (
    Curves,
    Moment,
    ShownTraining,
    answers_at_moments,
    curve,
    curves_of,
    empty_training_stage,
    moment_title,
    training_stage,
)
from tx_core.engine.progress import Progress
from tx_core.lessons.labels import LabelPrediction
from tx_core.training.classifier import classify
from tx_core.training.classifier_model import split_words

LEAST_AGAINST = 0.1
"""What a word must take from a label to be named."""


def predictions(inputs: LabelInputs, shown: ShownTraining) -> dict[int, LabelPrediction]:
    """Return what the model makes of the sentence at each moment that is shown, by how many batches it was trained on."""
    return answers_at_moments(shown, partial(untrained, inputs), lambda model: classify(model, inputs.text))


def is_of_sentence(found: LabelPrediction, inputs: LabelInputs) -> bool:
    """Return whether a prediction is of the sentence on the page."""
    return list(found.trace.attention.query_tokens.tokens) == split_words(inputs.text)


def label_stage(inputs: LabelInputs, shown: ShownTraining, found: Mapping[int, LabelPrediction]) -> None:
    """Draw the stage of a classifier."""
    curves = training_charts(shown.records)
    if not found:
        return empty_training_stage(TRAINER, shown, curves)
    batches = shown.model.batches if shown.model else shown.records[0].total if shown.records else 0
    limit = max(float(abs(one.contributions).max()) for one in found.values())
    moments = [_moment(batch, batches, one, inputs, limit, shown.is_running) for batch, one in found.items()]

    about = {"model": texts.MODEL, "text": inputs.text, "stem": "classifier", "kinds": {"self": texts.HEADS}}
    return training_stage(TRAINER, shown, moments, curves, about)


def _moment(batch: int, batches: int, found: LabelPrediction, inputs: LabelInputs, limit: float, is_running: bool) -> Moment:
    words = found.trace.attention.query_tokens
    title = moment_title(batch, batches, "" if is_of_sentence(found, inputs) else words.text)
    waits = is_running and not is_of_sentence(found, inputs)
    return labelled_moment(batch, title, found, limit, [texts.STILL_TRAINING] if waits else [])


def labelled_moment(
    batch: int, title: str, found: LabelPrediction, limit: float | None = None, notes: Sequence[str] = ()
) -> Moment:
    """Return what a model makes of a sentence as a moment of a stage. limit: as of `contribution_drawing`."""
    words = found.trace.attention.query_tokens
    unknown = [words.tokens[place] for place in words.unknown]
    told = [texts.UNKNOWN.format(words=", ".join(unknown))] if unknown else []
    drawn = {
        "side": label_drawing(found).chart,
        "above": None if found.all_unknown else contribution_drawing(found, limit).chart,
        "notes": [texts.ALL_UNKNOWN] if found.all_unknown else [top_contribution(found), *told, *notes],
    }
    said = texts.SAID.format(label=found.label, share=percent(max(found.probabilities)))
    return Moment(batch, title, said, found.trace, drawn)


def label_drawing(found: LabelPrediction) -> Drawing:
    """Draw the bars of the labels."""
    return bars_drawing(texts.LABEL_PROBABILITIES, found.names, found.probabilities, limit=1.0)


def contribution_drawing(found: LabelPrediction, limit: float | None = None) -> Drawing:
    """Draw how much each word adds to the score of each label. limit: where the colours end, by default the largest."""
    words, numbers = found.of_words()
    limit = limit or float(abs(numbers).max()) or 1.0
    return matrix_drawing(texts.CONTRIBUTIONS_TITLE, "signed", numbers, found.names, words, limit=limit)


def top_contribution(found: LabelPrediction) -> str:
    """Return in a sentence which word adds most to the label, and which, if any, speaks most against it."""
    words, numbers = found.of_words()
    row = numbers[found.names.index(found.label)]

    def write(template: str, place: int) -> str:
        return template.format(word=words[place], label=found.label, amount=f"{row[place]:+.2f}".replace("-", "−"))

    against = write(texts.MOST_AGAINST, int(row.argmin())) if row.min() < -LEAST_AGAINST else ""
    return write(texts.TOP_CONTRIBUTION, int(row.argmax())) + against


def losses_and_accuracies(records: Sequence[Progress]) -> tuple[Curves, Curves]:
    """Return loss and accuracy on the training and the test texts."""
    tests = [(record.done, record.test) for record in records if record.test]
    losses = curves_of(records, {"loss": texts.LOSS}) | {texts.TEST_LOSS: [(batch, test.loss) for batch, test in tests]}
    accuracies = curves_of(records, {"accuracy": texts.ACCURACY})
    return losses, accuracies | {texts.TEST_ACCURACY: [(batch, test.accuracy) for batch, test in tests]}


def training_charts(records: Sequence[Progress]) -> list[Drawing]:
    """Draw the curves of a training; none before it has begun."""
    if not records:
        return []
    losses, accuracies = losses_and_accuracies(records)
    batches = records[0].total
    return [curve(texts.LOSS_CURVE, losses, batches, logarithmic=True), curve(texts.ACCURACY_CURVE, accuracies, batches)]
