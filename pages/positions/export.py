"""The parts of this page for export: what they drew, and the code of its numbers."""

from pages.positions import texts
from pages.positions.encodings import ENCODING_VIEWS, Choice
from pages.ui.export.code import load_line
from pages.ui.export.lessons import Computation, computation_code
from pages.ui.export.records import reading, source
from tx_core.engine.catalogue import DEFAULT
from tx_core.engine.engine import Engine

HOME = "from tx_core.lessons.position_encodings import {}"
LOAD = "from tx_core import load"


def encoding_computation(view: str, choice: Choice) -> Computation:
    """Say which encoding is drawn from which side, and write its code."""
    encoding, written = ENCODING_VIEWS[choice.scheme], {"map": _map, "waves": _waves, "similarity": _distance, "effect": _effect}
    imports, lines = written[view](choice)
    title = texts.EXPORT_ENCODING.format(encoding=encoding.name, view=texts.VIEWS[view])
    names = ("scheme", "length", "width", "base", "head")
    about = {name: getattr(choice, name) for name in names} | {"head": choice.head + 1}
    if encoding.of_model:
        about = source(choice.engine.name) | about
    code = computation_code(title, [LOAD, *imports], [f"engine = load({choice.engine.name!r})", *lines, "", "print(numbers)"])
    return Computation(title, about, code, texts.EXPORT_RESULT)


def _vectors(choice: Choice) -> str:
    return f"ENCODINGS[{choice.scheme!r}].vectors({choice.length}, {choice.width}, {choice.base}, engine)"


def _map(choice: Choice) -> tuple[list[str], list[str]]:
    if choice.encoding.vectors:
        return [HOME.format("ENCODINGS")], [f"numbers = {_vectors(choice)}  # position, dimension"]
    if choice.encoding.distances:
        return [HOME.format("ENCODINGS")], [f"numbers = ENCODINGS[{choice.scheme!r}].distances({choice.length})  # query, key"]
    return [HOME.format("biases")], [f"numbers = biases({choice.scheme!r}, {choice.length})[{choice.head}]  # query, key"]


def _waves(choice: Choice) -> tuple[list[str], list[str]]:
    if choice.encoding.vectors:
        dims = [dim for dim in choice.dims if dim < choice.width]
        return [HOME.format("ENCODINGS")], [f"numbers = {_vectors(choice)}[:, {dims}].T  # dimension, position"]
    most = ENCODING_VIEWS[choice.scheme].max_curves
    lines = [
        f"added = biases({choice.scheme!r}, {choice.length})[:{most}]",
        "numbers = [distance_profile(bias).mean for bias in added]",
    ]
    return [HOME.format("biases, distance_profile")], lines


def _distance(choice: Choice) -> tuple[list[str], list[str]]:
    end = ["numbers = [profile.mean]  # by distance, from the far left to the far right"]
    if choice.encoding.adds_to == "word vectors":
        imports = [HOME.format("ENCODINGS, distance_profile"), "from tx_core.transformer.positions import similarity"]
        return imports, [f"profile = distance_profile(similarity({_vectors(choice)}))", *end]
    return [HOME.format("distance_profile, encoding_scores")], [f"profile = distance_profile({_scores(choice)}.scores)", *end]


def _effect(choice: Choice) -> tuple[list[str], list[str]]:
    lines = [f"run = {_scores(choice)}", "weights, numbers = run.weights, run.scores - run.scores.mean()  # query, key"]
    return [HOME.format("encoding_scores")], lines


def _scores(choice: Choice) -> str:
    arguments = f"{choice.scheme!r}, {choice.length}, {choice.width}, {choice.base}, {choice.head}"
    return f"encoding_scores({arguments}, engine)"


def requirements_computation(length: int, width: int, base: float) -> Computation:
    """Say how the requirements were measured, and write the code that measures them."""
    title = texts.EXPORT_REQUIREMENTS.format(length=length)
    lines = [
        f"table = learned_table(load({DEFAULT!r}))",
        f"checked = check_encodings({width}, {base}, table, {length})",
        "numbers = [[criterion.value for criterion in criteria] for criteria in checked.values()]",
        "",
        "print(list(checked), numbers, sep='\\n')",
    ]
    about = source(DEFAULT, length=length, width=width, base=base)
    return Computation(
        title, about, computation_code(title, [LOAD, HOME.format("check_encodings, learned_table")], lines), texts.EXPORT_RESULT
    )


def shuffle_computation(engine: Engine, text: str, seed: int) -> Computation:
    """Say which words were shuffled, and write the code that shuffles them."""
    special = engine.tokenizer.special_tokens
    lines = [
        load_line(engine.name, special),
        f"run = shuffle_test(engine, {text!r}, {seed})",
        "numbers = [run.with_positions.by_token, run.without_positions.by_token]",
        "",
        "print(run.tokens_shuffled, numbers, run.ordered, run.shuffled, run.without_ordered, sep='\\n')",
    ]
    imports = [LOAD, "from tx_core.lessons.word_order import shuffle_test"]
    title, about = texts.EXPORT_SHUFFLE, source(engine.name, text=text, **reading(special), seed=seed)
    return Computation(title, about, computation_code(title, imports, lines), texts.EXPORT_RESULT)
