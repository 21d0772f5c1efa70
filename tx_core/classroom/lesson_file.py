"""A lesson: a sequence of steps, each with a view, a text and optionally a question.

A lesson is a YAML file (docs: assets/lessons/README.md). It may come from a stranger: its size is bounded, texts are never
markup, and nothing in it is executed or fetched. This module imports no torch.
"""

import base64
import binascii
import re
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Literal, get_args

import yaml
from pydantic import Field, StringConstraints, ValidationError, ValidationInfo, field_validator

from tx_core.classroom.measures import LessonPart, Short
from tx_core.classroom.questions import Question
from tx_core.errors import ChangeProblem, CheckpointProblem, ExplorerError, LessonProblem, ModelUnavailable, TextProblem

MAX_LESSON_BYTES = 100_000
MAX_PACKED_CHARACTERS = 4000
"""Limit of a lesson within a URL, which leaves as much for the view."""
PACKED_MARK = "z."
"""Prefix of a packed lesson; names of lessons have no dot."""
MAX_DEPTH = 8
MAX_STEPS = 60
MAX_LONG = 3000
"""Limit in characters of a longer text."""
MAX_SETTINGS, MAX_SETTING = 30, 2000
"""Limits of a view: parameters, and characters of each."""
MAX_ENTRIES = 10_000
"""Limit of YAML events in a file; a lesson at all its other limits has about 9,000."""
MAX_NAME = 40
"""Characters of a field's name that a message quotes."""
MAX_ERRORS = 50
"""Validation errors of a file that are examined; ten are reported."""

TOO_LONG_TO_PACK = (
    "This lesson would take {size:,} characters of an address, and at most {limit:,} arrive everywhere. Share it as a file."
)
NOT_PACKED = "This link does not hold a whole lesson: it was cut off or changed on its way. Ask for it again, or for the file."
NOT_TEXT = "This lesson is not a text file in UTF-8. Save it so and open it again."
TOO_LARGE = "This lesson has {size:,} bytes, and at most {limit:,} are read. Shorten its texts or make two lessons of it."
TOO_DEEP = "Line {line}: nested more than {limit} deep. A lesson needs four."
TOO_MANY = "Line {line}: more than {limit:,} entries, which no lesson needs. Shorten its lists or make two lessons of it."
NO_ALIASES = "Line {line}: aliases (& and *) are not read. Write the text out."
NO_SUCH_CHARACTER = "Line {line}: a character does not exist or cannot be printed. Remove it, or write the line again."
NO_NAME = "Line {line}: “{name}” is no value, so it cannot name a field. Write the name, or put the word in quotation marks."
TWICE = "Line {line}: “{name}” stands twice in the same place. Remove one of the two."
WRONG_FIELD = "Line {line}, {field}: {problem}."

Long = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_LONG)]
Setting = Annotated[str, StringConstraints(max_length=MAX_SETTING)]
Difficulty = Literal["beginner", "intermediate", "advanced"]
DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)
"""From easy to hard."""
Parameter = Annotated[str, StringConstraints(pattern=r"^[a-z_][a-z0-9_]{0,39}$")]
WRONG_FOR_MODEL: dict[type[ExplorerError], tuple[str, ...]] = {
    TextProblem: ("question", "answer", "text"),
    ChangeProblem: ("question", "answer", "changes"),
    ModelUnavailable: ("view", "model"),
    CheckpointProblem: ("view", "model"),
}
"""The field of a step that an error of the model is about."""


class Step(LessonPart):
    """One step: a view, instructions, and a question.

    Attributes:
        view: The parameters of its address, all pinned.
        controls: The names of the controls that the page shows, as its address names them; None for all of them.
        text: Instructions, shown before the question is answered.
        question: The view is shown once it is answered.
        then: Explanation, shown with the view.
        done: "change" where the step is complete once the learner has changed its view; else it is once its question is answered,
            and without a question when a later step is.
        notes: For the teacher.
    """

    title: Short
    page: Parameter
    view: dict[Parameter, Setting] = Field({}, max_length=MAX_SETTINGS)
    controls: Annotated[tuple[Parameter, ...], Field(max_length=30)] | None = None
    text: Long
    question: Question | None = None
    then: Long | None = None
    done: Literal["answer", "change"] | None = None
    notes: Long | None = None

    @field_validator("page")
    @classmethod
    def is_here(cls, page: str, info: ValidationInfo) -> str:
        """Reject a page that is not among those passed to `read_lesson`."""
        if info.context is not None and page not in info.context:
            raise ValueError(f"there is no page “{page}” with a view here")
        return page


class Lesson(LessonPart):
    """A lesson as its file describes it.

    language: of its texts, as "en". level: its difficulty. about: what students will learn, in a sentence or two. recap: what was
    learned, shown at the end. notes: for the teacher.
    """

    title: Short
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(-[A-Za-z]{2,8})?$")]
    level: Difficulty
    minutes: Annotated[int, Field(ge=1, le=600)]
    about: Long
    recap: Long | None = None
    notes: Long | None = None
    steps: Annotated[tuple[Step, ...], Field(min_length=1, max_length=MAX_STEPS)]

    def recap_after(self, step: int) -> str:
        """Return what was learned, after the last step; "" after any other, counted from 1."""
        return self.recap or "" if step == len(self.steps) else ""


NULL = "tag:yaml.org,2002:null"


class _Loader(yaml.BaseLoader):
    """Every scalar is a text, but for a plain null, which is None: pydantic knows better than YAML what is a number."""


_Loader.add_implicit_resolver(NULL, re.compile(r"(?:~|null|Null|NULL)\Z"), list("~nN"))
_Loader.add_constructor(NULL, lambda loader, node: None)


def read_lesson(written: bytes, pages: Collection[str] | None = None) -> Lesson:
    """Parse a lesson from the bytes of its file. pages: those that steps may open, None for any.

    Raises LessonProblem, whose message names the line and what to do.
    """
    if len(written) > MAX_LESSON_BYTES:
        raise LessonProblem(TOO_LARGE.format(size=len(written), limit=MAX_LESSON_BYTES))
    try:
        text = written.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise LessonProblem(NOT_TEXT) from None
    try:
        _check_shape(text)
        node = yaml.compose(text, Loader=_Loader)
        _check_names(node)
        return Lesson.model_validate(yaml.load(text, Loader=_Loader), context=pages)
    except yaml.reader.ReaderError as problem:
        raise LessonProblem(NO_SUCH_CHARACTER.format(line=text.count("\n", 0, problem.position) + 1)) from None
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        said = str(getattr(problem, "problem", None) or "It cannot be read").capitalize()
        raise LessonProblem(f"Line {mark.line + 1 if mark else 1}: this is not YAML. {said}.") from None
    except ValidationError as problem:
        errors = problem.errors(include_url=False, include_context=False, include_input=False)[:MAX_ERRORS]
        # pydantic drops an invalid entry and then reports its list as too short as well: report the inner error only.
        inner = [
            one for one in errors if not any(other["loc"][: len(one["loc"])] == one["loc"] != other["loc"] for other in errors)
        ]
        raise LessonProblem("\n".join(_wrong_field(error["loc"], error["msg"], node) for error in inner[:10])) from None


def with_line(problem: ExplorerError, written: str, number: int) -> ExplorerError:
    """Add the line of the lesson's file to a model's error at a step, counted from 1; other errors are returned unchanged."""
    own = ("question", "answer", problem.field) if isinstance(problem, LessonProblem) and problem.field else None
    field = own or WRONG_FOR_MODEL.get(type(problem))
    if field is None:
        return problem
    return LessonProblem(_wrong_field(("steps", number - 1, *field), str(problem), yaml.compose(written, Loader=yaml.BaseLoader)))


def write_lesson(lesson: Lesson) -> str:
    """Return the YAML source of a lesson, defaults left out."""
    fields = lesson.model_dump(mode="json", exclude_defaults=True)
    return yaml.safe_dump(fields, allow_unicode=True, sort_keys=False, width=120)


def pack_lesson(lesson: Lesson) -> str:
    """Return a lesson compressed for a URL.

    Raises LessonProblem for one that is too long.
    """
    packed = base64.urlsafe_b64encode(zlib.compress(write_lesson(lesson).encode(), 9)).decode("ascii").rstrip("=")
    written = f"{PACKED_MARK}{packed}"
    if len(written) > MAX_PACKED_CHARACTERS:
        raise LessonProblem(TOO_LONG_TO_PACK.format(size=len(written), limit=MAX_PACKED_CHARACTERS))
    return written


def unpack_lesson(written: str, pages: Collection[str] | None = None) -> Lesson:
    """Parse a lesson from a URL. At most as many bytes as a file may have are decompressed, so a zip bomb cannot fill memory.

    pages: see `read_lesson`.

    Raises LessonProblem.
    """
    packed = written.removeprefix(PACKED_MARK)
    if len(written) > MAX_PACKED_CHARACTERS or not re.fullmatch(r"[A-Za-z0-9_-]+", packed):
        raise LessonProblem(NOT_PACKED)
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), MAX_LESSON_BYTES + 1)
    except (binascii.Error, zlib.error):
        raise LessonProblem(NOT_PACKED) from None
    if not unpacker.eof and len(data) <= MAX_LESSON_BYTES:
        raise LessonProblem(NOT_PACKED)
    return read_lesson(data, pages)


def open_lesson(path: Path) -> Lesson:
    """Read a lesson from its file; raises LessonProblem."""
    with path.open("rb") as file:
        return read_lesson(file.read(MAX_LESSON_BYTES + 1))


def _check_shape(text: str) -> None:
    """Reject aliases (a small file could expand to gigabytes), and too many or too deep entries, before construction."""
    depth, line = 0, 1
    try:
        for count, event in enumerate(yaml.parse(text, Loader=yaml.BaseLoader)):
            line = event.start_mark.line + 1
            if isinstance(event, yaml.AliasEvent):
                raise LessonProblem(NO_ALIASES.format(line=line))
            if count >= MAX_ENTRIES:
                raise LessonProblem(TOO_MANY.format(line=line, limit=MAX_ENTRIES))
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise LessonProblem(TOO_DEEP.format(line=line, limit=MAX_DEPTH))
    except (ValueError, OverflowError):  # of an escape sequence such as "\UFFFFFFFF"
        raise LessonProblem(NO_SUCH_CHARACTER.format(line=line)) from None


def _check_names(node: yaml.Node | None) -> None:
    """Reject keys without a value, and duplicate ones: YAML silently keeps the last."""
    if isinstance(node, yaml.MappingNode):
        keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        seen: set[str] = set()
        for key in keys:
            if key.tag == NULL:
                raise LessonProblem(NO_NAME.format(line=key.start_mark.line + 1, name=_short(key.value)))
            if key.value in seen:
                raise LessonProblem(TWICE.format(line=key.start_mark.line + 1, name=_short(key.value)))
            seen.add(key.value)
        for _, value in node.value:
            _check_names(value)
    elif isinstance(node, yaml.SequenceNode):
        for one in node.value:
            _check_names(one)


def _short(name: str) -> str:
    """Return a field's name for a message: truncated, lone surrogates replaced, since the file may come from a stranger."""
    written = name.encode("utf-8", "replace").decode()
    return written if len(written) <= MAX_NAME else f"{written[: MAX_NAME - 1]}…"


def _wrong_field(path: tuple[str | int, ...], problem: str, node: yaml.Node | None) -> str:
    """Return the message for a wrong field, with its line and the reason."""
    said = re.sub(r"^Value error, ", "", problem).rstrip(".")
    names = [str(part + 1) if isinstance(part, int) else _short(part) for part in path]
    return WRONG_FIELD.format(line=_line(node, path), field=" › ".join(names) or "the file", problem=said)


def _line(node: yaml.Node | None, path: tuple[str | int, ...]) -> int:
    """Return the line, counted from 1, of the value at a path, or of its nearest existing parent."""
    for part in path:
        if isinstance(node, yaml.MappingNode):
            inside = next((value for key, value in node.value if key.value == part), None)
        else:
            inside = node.value[part] if isinstance(node, yaml.SequenceNode) and isinstance(part, int) else None
        if inside is None:
            break
        node = inside
    return node.start_mark.line + 1 if node is not None else 1
