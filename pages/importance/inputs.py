"""What the page is asked: which prompts, of which model, and what takes the place of a part; and the importance of its parts."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import NamedTuple, get_args

import streamlit as st

from pages.importance import texts
from pages.ui.shell import cache, controls
from pages.ui.shell.address import ask_for_view, read_stage_address, value_of, widget_key
from pages.ui.shell.examples import Example, find, hint, offer_examples, read_examples
from pages.ui.shell.fields import Field, StageFields, choice_field, place_field
from pages.ui.shell.level import is_hidden
from pages.ui.shell.session import UploadedFile
from pages.ui.stage import background_runs
from pages.ui.stage.controls import Control
from pages.ui.stage.inputs import PageInputs, ask_model, has_answers, input_values
from pages.ui.stage.tokens import SPECIAL_FIELD, escape_markdown
from tx_core.causal.importance import (
    Ablation,
    Importance,
    Measuring,
    describe_left_out,
    importance,
    parse_answer_prompts,
    read_prompts,
)
from tx_core.causal.prompt_sets import PROMPT_SETS, kept_scores, prompt_set
from tx_core.corpus.sentence_file import MAX_FILE_BYTES
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine
from tx_core.errors import TextProblem

PAGE = KIND = "importance"
OWN = "own"
ASKED_WIDTH = 800
"""Pixels of the sets and what to notice: the model stands beside them, on a phone below."""
MAX_PROMPTS = 1000
"""Of a file: the model runs once for each of its parts in each prompt."""


EXAMPLES = read_examples(PAGE, dict.fromkeys(("set", "ablation", "what"), str), ("set",))
FIELDS = StageFields(
    own=(
        choice_field("set", (*PROMPT_SETS, OWN)),
        choice_field("ablation", get_args(Ablation)),
        Field("model", catalogue.DEFAULT, controls.read_model),
        SPECIAL_FIELD,
    ),
    looks=(
        choice_field("what", tuple(texts.WHATS)),
        place_field(
            "head",
            "{number}-({number}|attention|mlp)",
            "a part must be written like 4-7, by its layer and its head, or like 4-mlp",
        ),
    ),
)
CONTROLS = [
    Control("what", "segments", texts.WHAT, tuple(texts.WHATS.items())),
    Control("ablation", "segments", texts.ABLATION, tuple(texts.ABLATIONS.items()), help=texts.ABLATION_HELP),
]


class Upload(NamedTuple):
    """A visitor's file: its name and its prompts."""

    name: str
    prompts: tuple[Mapping[str, str], ...]


@dataclass(frozen=True)
class ImportanceInputs(PageInputs):
    """What the page is asked.

    name: of PROMPT_SETS, or OWN. ablation: what takes the place of a part. upload: the visitor's file, where it is asked for and
    there.
    """

    name: str
    ablation: Ablation
    upload: Upload | None

    @property
    def prompts(self) -> list[Mapping[str, str]]:
        """The prompts, none as long as a file is awaited."""
        return prompt_set(self.name) if self.name != OWN else list(self.upload.prompts) if self.upload else []

    @property
    def file(self) -> str:
        """What the prompts are called."""
        title = next(one.title for one in EXAMPLES if one.view["set"] == self.name)
        return self.upload.name if self.upload else texts.BUILT_IN.format(name=title)

    @property
    def is_usual(self) -> bool:
        """Whether the embedded model reads a built-in set: of these the scores are kept."""
        return self.name != OWN and self.model == catalogue.DEFAULT and not self.bare


class Found(NamedTuple):
    """What the page shows: the importance, None as long as there is none, of what was asked; and the visitor's run."""

    importance: Importance | None
    inputs: ImportanceInputs
    run: background_runs.OfferedRun


def importance_inputs() -> ImportanceInputs:
    """Read the address, offer the sets and the models, take in a file, and return what is asked."""
    read_stage_address(PAGE, FIELDS, lambda: dict(example.view) if (example := find(EXAMPLES, _is_shown)[0]) else {})
    choices = [example for example in EXAMPLES if not is_hidden(f"set={example.view['set']}")]
    with st.container(horizontal=True, vertical_alignment="top", key=widget_key(PAGE, "asked")):
        with st.container(gap="small", width=ASKED_WIDTH):
            offer_examples(PAGE, choices, _is_shown, _show_example, _hint)
        ask_model(PAGE, has_answers)
    values = input_values(PAGE, FIELDS.own)
    return ImportanceInputs(values.pop("set"), upload=_ask_file() if _value("set") == OWN else None, **values)


def _value(name: str) -> object:
    return value_of(PAGE, name)


def _is_shown(example: Example) -> bool:
    """Return whether an example has the set and the ablation of the page; of a visitor's own file, any ablation."""
    name = example.view["set"]
    return _value("set") == name and (name == OWN or _value("ablation") == example.view.get("ablation", "off"))


def _show_example(example: Example) -> None:
    ask_for_view(PAGE, {"ablation": "off", "head": "", "what": "head"} | dict(example.view))


def _hint(example: Example) -> str:
    """Return what to notice: it was found in the embedded model."""
    is_true = example.notice and _value("model") == catalogue.DEFAULT and not _value(SPECIAL_FIELD.name)
    return hint(example) if is_true else ""


def _ask_file() -> Upload | None:
    """Ask for a file, and say what it must look like as long as there is none."""
    types = ["jsonl", "json", "csv", "tsv"]
    upload = background_runs.ask_upload(PAGE, "file", texts.UPLOAD, types, "upload", _read_file, lambda kept: kept.name)
    if upload is None:
        st.caption(texts.UPLOAD_FIRST.format(pair=f"`{texts.PAIR}`", prompt=f"`{texts.PROMPT}`"))
    else:
        st.text(texts.FILE_READ.format(file=upload.name, count=len(upload.prompts)))
    return upload


def _read_file(file: UploadedFile) -> Upload:
    data = file.getvalue()
    if len(data) > MAX_FILE_BYTES:
        raise TextProblem(texts.TOO_LARGE.format(most=MAX_FILE_BYTES))
    prompts = parse_answer_prompts(data, file.name)
    if not prompts:
        raise TextProblem(texts.NO_LINES)
    if len(prompts) > MAX_PROMPTS:
        raise TextProblem(texts.TOO_MANY.format(count=len(prompts), most=MAX_PROMPTS))
    return Upload(file.name, tuple(prompts))


def find_importance(inputs: ImportanceInputs, engine: Engine) -> Found:
    """Return the importance of what is asked, or of the visitor's last run, which is said. Raises TextProblem without either."""
    if inputs.upload:
        _show_left_out(inputs, _unanswered(inputs, engine))
    can_run, start = inputs.prompts and not inputs.is_usual, (texts.RUN, texts.RUN_HELP)
    make = partial(Measuring, engine, inputs.prompts, inputs.ablation) if can_run else None
    run = background_runs.offer_run(PAGE, KIND, inputs, make, texts.PROGRESS, start)
    if inputs.is_usual:
        kept = kept_scores(inputs.name, inputs.ablation)
        key = (PAGE, inputs.name, inputs.ablation, cache.engine_key(engine))
        measured = cache.get_or_compute(key, lambda: importance(engine, inputs.prompts, inputs.ablation, kept_in=kept))
        return Found(measured, inputs, run)
    measured, asked = None, inputs
    if run.last and len((found := run.last.work.result()).scores):
        measured, asked = found, run.last.asked
    if measured and asked != inputs:
        model, ablation = controls.model_title(asked.model), texts.ABLATIONS[asked.ablation]
        st.text(texts.LAST_RUN.format(file=asked.file, model=model, ablation=ablation))
        _show_left_out(asked, measured.left_out)
    if measured and len(measured.scores) < len(asked.prompts) - sum(measured.left_out.values()):
        st.caption(texts.STOPPED.format(count=len(measured.scores), total=len(asked.prompts)))
    if not measured and make and not run.running:
        st.caption(texts.PRESS_RUN)
    return Found(measured, asked, run)


def _unanswered(inputs: ImportanceInputs, engine: Engine) -> dict[str, int]:
    """Count the prompts of a file that this model cannot answer, by reason."""
    digest = sha256(json.dumps(inputs.prompts).encode()).hexdigest()
    key = (PAGE, "left out", digest, cache.engine_key(engine))
    return cache.get_or_compute(key, lambda: read_prompts(engine, inputs.prompts).left_out)


def sentence_of_left_out(asked: ImportanceInputs, left_out: Mapping[str, int]) -> str:
    """Return how many of the prompts are not used, and why; "" where all are."""
    count = sum(left_out.values())
    said = texts.LEFT_OUT.format(count=count, total=len(asked.prompts), reasons=describe_left_out(left_out))
    return said if count else ""


def _show_left_out(asked: ImportanceInputs, left_out: Mapping[str, int]) -> None:
    if said := sentence_of_left_out(asked, left_out):
        st.caption(f":material/filter_alt_off: {escape_markdown(said)}")
