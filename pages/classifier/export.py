"""The training of a classifier, and what it makes of a text, for export: what was drawn, and the code of its numbers."""

from collections.abc import Sequence

from pages.classifier import texts
from pages.classifier.drawings import shown_head
from pages.ui.export.lessons import Computation, computation_code
from pages.ui.panels.view_options import head_in_sentence
from tx_core.training.classifier import ClassifierTraining, LabelPrediction

HOME = "from tx_core.training.classifier import ClassifierSettings, {}"
DATA = {
    "opinions": ("from tx_core.training.classifier_data import opinions", ["data = opinions()"]),
    "imdb": ("from tx_core.training.classifier_data import imdb", ["data = imdb({examples})"]),
    "own": (
        "from tx_core.training.classifier_data import read_csv",
        ["with open({source!r}, 'rb') as file:  # your file", "    data = read_csv(file.read())"],
    ),
}
"""By kind of data: the import, and the lines that make it."""


def training_computation(model: ClassifierTraining) -> Computation:
    """Say how a classifier was trained, and write the code that trains it."""
    title = texts.EXPORT_TRAINING.format(batches=model.done)
    imports, lines = _trained(model)
    lines = [*lines, "", "print(*((one.batch, one.loss, one.accuracy) for one in records), sep='\\n')"]
    code = computation_code(title, [HOME.format("start_training, train_classifier"), *imports], lines)
    return Computation(title, _source(model), code, texts.EXPORT_TRAINING_RESULT)


def prediction_computation(model: ClassifierTraining, prediction: LabelPrediction, text: str) -> Computation:
    """Say what the classifier makes of a text, and write the code that trains it and asks it."""
    title = texts.EXPORT_PREDICTION.format(batches=model.done)
    imports, lines = _trained(model)
    lines = [
        *lines,
        f"prediction = classify(training, {text!r})",
        "",
        "print(prediction.names, prediction.probabilities, prediction.contributions, sep='\\n')",
    ]
    code = computation_code(title, [HOME.format("classify, start_training, train_classifier"), *imports], lines)
    source = _source(model) | {"text": text, "labels": list(prediction.names)}
    return Computation(title, source, code, texts.EXPORT_PREDICTION_RESULT)


def attention_computation(page: str, model: ClassifierTraining, prediction: LabelPrediction, text: str) -> Computation:
    """Say where a head of the classifier looks in a text, and write the code that trains the classifier and asks it."""
    layer, head = shown_head(page, prediction)
    title = texts.EXPORT_ATTENTION.format(layer=layer + 1, head=head + 1, batches=model.done)
    imports, lines = _trained(model)
    lines = [
        *lines,
        f"attention = classify(training, {text!r}).trace.attention",
        f"weights = attention.weights[{layer}, {head}]  # layer and head, counted from 0",
        "",
        "print(attention.query_tokens.tokens, weights.round(3), sep='\\n')",
    ]
    code = computation_code(title, [HOME.format("classify, start_training, train_classifier"), *imports], lines)
    about = _source(model) | {"text": text, "heads": head_in_sentence((layer, head))}
    return Computation(title, about, code, texts.EXPORT_ATTENTION_RESULT)


def _source(model: ClassifierTraining) -> dict[str, object]:
    return {"settings": repr(model.settings), "batches": model.done, "data": model.data.source}


def _trained(model: ClassifierTraining) -> tuple[Sequence[str], Sequence[str]]:
    """Write what trains a classifier for as many batches as this one was."""
    needed, lines = DATA[model.data.kind]
    examples = len(model.data.train_texts)
    return [needed], [
        *(line.format(source=model.data.source, examples=examples) for line in lines),
        f"training = start_training({model.settings!r}, data)",
        f"records = [record for _, record in zip(range({model.done}), train_classifier(training))]",
    ]
