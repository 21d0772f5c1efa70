"""Plain records of rooms, for modules that do not import SQLAlchemy (its import is slow)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

TEACHER, STUDENT = "teacher", "student"
"""The roles of the members of a room."""


@dataclass(frozen=True)
class Room:
    """A room as its members see it.

    Attributes:
        id: Its key in the database; no request names it.
        code: What students type.
        lesson: Name of the lesson that ships with the app, "" for the teacher's own.
        source: The lesson's file.
        steps: How many steps the lesson has.
        step: The step that the teacher is at, from 1.
        together: Whether students follow the teacher's step; else each goes at their own pace.
        nicknames: Whether students are asked for a nickname.
        opened: When, in seconds since 1970.
        version: Grows with every change of the room itself; not with an answer.
        shown: The student whose sentence everyone sees at the step; None for nobody.
    """

    id: int
    code: str
    lesson: str
    source: str
    steps: int
    step: int
    together: bool
    nicknames: bool
    opened: int
    version: int
    shown: int | None


@dataclass(frozen=True)
class Student:
    """A student in a room: no name but a nickname, if the teacher asks for one; the step of their own pace."""

    id: int
    room: Room
    nickname: str
    own_step: int

    @property
    def step(self) -> int:
        """The step that this student is at, from 1."""
        return self.room.step if self.room.together else self.own_step


@dataclass(frozen=True)
class Member:
    """A student as the teacher sees them: the key, the number in the room, the nickname, and how many guesses there are."""

    id: int
    number: int
    nickname: str
    guesses: int


@dataclass(frozen=True)
class Word:
    """A guess as several students may have written it, how many did, and whether it is kept from the class."""

    text: str
    count: int
    hidden: bool


@dataclass(frozen=True)
class Sentence:
    """A student's own sentence for the view of a step."""

    student: int
    nickname: str
    text: str


@dataclass(frozen=True)
class State:
    """The state of a room that is pushed to its members.

    Attributes:
        room: The room as it is now.
        students: How many have joined.
        answered: How many have answered, by step.
        revealed: The model's answer of every step that is revealed.
        sentence: The student's sentence that everyone sees; None for none.
        locked: Whether nobody new may join.
        alone: Whether students see no menu and no other pages.
        discussed: The steps at which the class votes again, each with whether it sees the first vote.
    """

    room: Room
    students: int
    answered: Mapping[int, int]
    revealed: Mapping[int, Mapping[str, object]]
    sentence: str | None
    locked: bool = False
    alone: bool = False
    discussed: Mapping[int, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Limits:
    """The limits that a host sets for rooms."""

    rooms: int = 100
    students: int = 250
    answers_a_minute: int = 30
    hours: float = 24.0

    @property
    def share(self) -> int:
        """The number of rooms that one address may have open: half of all, so that it cannot take every room."""
        return -(-self.rooms // 2)
