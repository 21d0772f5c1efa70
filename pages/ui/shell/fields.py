"""The fields of the view of a page: how an address writes their values, and what is read from one. They know no session."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Self, TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True)
class Field(Generic[Value]):
    """One value of a page's view.

    default: its value where the address does not name it. read: parses the parameter; raises ValueError for nonsense.
    """

    name: str
    default: Value
    read: Callable[[str], Value]
    write: Callable[[Value], str] = str


def text_field(name: str, default: str = "") -> Field[str]:
    """Return a field of any text."""
    return Field(name, default, str)


def flag_field(name: str) -> Field[bool]:
    """Return a field that is on or off, off by default."""
    return Field(name, False, lambda written: {"1": True, "0": False}[check(written, ("0", "1"))], lambda on: str(int(on)))


def choice_field(name: str, options: Sequence[str]) -> Field[str]:
    """Return a field that takes one of a few names, the first by default."""
    return Field(name, options[0], lambda written: check(written, options))


def place_field(name: str, pattern: str, rule: str) -> Field[str]:
    """Return a field that takes a place, whose numbers begin at 1, as links write it, or nothing.

    pattern: with {number} for a number. rule: what the visitor is told of any other value.
    """

    def read(written: str) -> str:
        if written and not re.fullmatch(pattern.replace("{number}", "[1-9][0-9]{0,3}"), written, flags=re.ASCII):
            raise ValueError(rule)
        return written

    return Field(name, "", read)


def number_field(name: str, default: int, minimum: int, maximum: int) -> Field[int]:
    """Return a field that takes an integer from `minimum` to `maximum`, in plain digits."""

    def read(written: str) -> int:
        number = int(written)
        if str(number) != written or not minimum <= number <= maximum:
            raise ValueError(f"must be a whole number from {minimum} to {maximum}")
        return number

    return Field(name, default, read)


def numbers_field(
    name: str, default: Sequence[int], limits: tuple[int, int], *, most: int = 0, sign: str = "-", empty: str = "none"
) -> Field[list[int]]:
    """Return a field of whole numbers, each once, in order: 1-2-5.

    limits: the least and the greatest. most: how many, 0 for any number. sign: stands between them, `empty` for none.
    """

    def read(written: str) -> list[int]:
        words = [] if written == empty else written.split(sign)
        numbers = sorted(int(word) for word in words if word.isascii() and word.isdecimal() and len(word) < 6)
        is_allowed = all(limits[0] <= number <= limits[1] for number in numbers) and not 0 < most < len(numbers)
        if not is_allowed or len(set(numbers)) < len(words):
            raise ValueError(f"must be numbers of {limits[0]} to {limits[1]}, each once")
        return numbers

    return Field(name, list(default), read, lambda numbers: sign.join(map(str, sorted(numbers))) or empty)


def check(written: str, allowed: Sequence[str]) -> str:
    """Return `written` if it is allowed; raise ValueError otherwise."""
    if written not in allowed:
        raise ValueError(f"must be one of {', '.join(allowed)}")
    return written


@dataclass(frozen=True)
class StageFields:
    """The fields of a page with a stage.

    own: what is computed; the first is the sentence. first: values of the first view that are not the defaults. names: of looks
    that a link calls otherwise than the stage does, each with the stage's name. carried: returns a sentence that comes along
    from another page as this page takes it; "" to leave it there.
    """

    own: tuple[Field, ...]
    looks: tuple[Field, ...]
    first: Mapping[str, object] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    carried: Callable[[str], str] = str

    @property
    def all(self) -> tuple[Field, ...]:
        """Every field, as a link may name them."""
        return (*self.own, *self.looks)

    @property
    def first_values(self) -> dict[str, object]:
        """The value of every field in the first view."""
        return {one.name: one.default for one in self.all} | dict(self.first)

    def with_default(self, name: str, value: object) -> Self:
        """Return the fields with another default of a look, which is then not linked."""
        looks = tuple(replace(look, default=value) if look.name == name else look for look in self.looks)
        return replace(self, looks=looks)


def without_texts(fields: Sequence[Field], address: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of a view but for those that hold any text."""
    return {one.name: address[one.name] for one in fields if one.name in address and one.read is not str}


def parse_view(fields: Sequence[Field], parameters: Mapping[str, str]) -> tuple[dict[str, object], list[str]]:
    """Parse every field from the parameters of an address; return the values and the names of those that made no sense."""
    values, unknown = {}, []
    for one in fields:
        values[one.name] = one.default
        if one.name in parameters:
            try:
                values[one.name] = one.read(parameters[one.name])
            except ValueError:
                unknown.append(one.name)
    return values, unknown


def format_view(fields: Sequence[Field], values: Mapping[str, object], first: Mapping[str, object]) -> dict[str, str]:
    """Format values for an address: nothing for the first view, else the first field and all that is not default."""
    if all(values[field.name] == first.get(field.name, field.default) for field in fields):
        return {}
    return write_fields(fields, values)


def write_fields(fields: Sequence[Field], values: Mapping[str, object]) -> dict[str, str]:
    """Write the first of some fields and all that are not as by default."""
    return {one.name: one.write(values[one.name]) for one in fields if one is fields[0] or values[one.name] != one.default}
