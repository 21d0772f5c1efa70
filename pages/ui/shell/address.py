"""The view of a page in its address: read on arrival and after Back, written after every change.

Streamlit's own binding of widgets to the address forgets a control as soon as it is not drawn (while the text
has an error, say) and writes the words on the screen into the link; here a link holds short names, and nothing is forgotten.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st

from pages.ui.shell.link_length import MAX_LINK_CHARACTERS, link_with, note_length

Value = TypeVar("Value")
TYPED = "typed"
ALONG = ("text", "pair")
"""Fields, on any page, of a sentence and of the second one that it is read with."""


@dataclass(frozen=True)
class Field(Generic[Value]):
    """One thing that a page remembers: its name in the address, its default, and how it is read and written.

    read raises ValueError for what it cannot make sense of.
    """

    name: str
    default: Value
    read: Callable[[str], Value]
    write: Callable[[Value], str] = str


def widget_key(page: str, name: str) -> str:
    """Name the widget (and its entry in the session) that holds a field of a page."""
    return f"{page}_{name}"


def widget_binding(name: str, then: Callable[[], None] | None = None) -> dict[str, object]:
    """Give the arguments that tie a widget to its entry in the session; `then` runs after a change by the reader.

    Until the reader has touched the widget, every run tells the browser its value anew. Streamlit tells it once only,
    and a browser that draws the widget later (in a popover, or when two runs follow each other at once) would
    show the widget's own default and send that back.
    """
    given = f"{name}_given"
    if st.session_state.get(given, (None,)) != st.session_state[name]:
        st.session_state[name] = st.session_state[name]

    def take() -> None:
        st.session_state[given] = st.session_state[name]
        if then:
            then()

    return {"key": name, "on_change": take}


def forget_told(name: str) -> None:
    """Have the browser told the value of a widget again that this run does not draw: it forgets the widget."""
    st.session_state.pop(f"{name}_given", None)


def text_field(name: str, default: str = "") -> Field[str]:
    """A field of any text."""
    return Field(name, default, str)


def flag_field(name: str) -> Field[bool]:
    """A field that is on or off, off by default."""
    return Field(name, False, lambda written: {"1": True, "0": False}[check(written, ("0", "1"))], lambda on: str(int(on)))


def choice_field(name: str, options: Sequence[str]) -> Field[str]:
    """A field that takes one of a few names, the first by default."""
    return Field(name, options[0], lambda written: check(written, options))


def number_field(name: str, default: int, least: int, most: int) -> Field[int]:
    """A field that takes a whole number within limits."""

    allowed = [str(number) for number in range(least, most + 1)]
    return Field(name, default, lambda written: int(check(written, allowed)))


def check(written: str, allowed: Sequence[str]) -> str:
    """Give back what is allowed; raise ValueError for anything else."""
    if written not in allowed:
        raise ValueError(f"must be one of {', '.join(allowed)}")
    return written


def read_view(page: str, fields: Sequence[Field], first: Mapping[str, object]) -> None:
    """Bring the session's entries up to date before any widget of the page is drawn.

    The address wins on arrival and after Back or Forward; coming back from another page without a link brings
    the view back that was left. An empty address is the first view: the defaults, but for what `first` says and for
    a sentence typed on another page, where none was typed on this one.
    Where a control brought a change, the address is one that the browser has not brought up to date yet, and loses.
    Fields that the address spells wrongly take their defaults, and tell_not_understood names them.
    """
    st.session_state.pop("link_told", None)
    asked = {field.name: st.query_params[field.name] for field in fields if field.name in st.query_params}
    left = st.session_state.get(f"{page}_view", {})
    arriving = widget_key(page, fields[0].name) not in st.session_state
    if arriving and not asked:
        asked = typed_elsewhere(fields, left.get("values", {}))
    went = not arriving and asked != left.get("address", asked) and not _changed(page, left)
    if went or (arriving and (asked or not left)):
        values, wrong = understand(fields, asked)
        if not asked:
            values |= first
        remember_typed(fields, values, {})
        st.session_state[f"{page}_wrong"] = wrong
        st.session_state.update({widget_key(page, name): value for name, value in values.items()})
        left = st.session_state[f"{page}_view"] = {"values": values, "address": asked}  # should another Back overtake this run
    for field in fields:
        name = widget_key(page, field.name)
        if arriving:
            forget_told(name)
        st.session_state.setdefault(name, left.get("values", {}).get(field.name, field.default))
        if field.read is not str:  # sent again, see `widget_binding`; what is being typed is left alone
            st.session_state[name] = st.session_state[name]


def _changed(page: str, left: Mapping[str, Mapping[str, object]]) -> bool:
    """Tell whether a field is not what it was when the view was written."""
    return any(st.session_state.get(widget_key(page, name), value) != value for name, value in left.get("values", {}).items())


def keep_view(page: str, fields: Sequence[Field]) -> None:
    """Bring back, at the start of a fragment, the entries of controls that its last run did not draw.

    Streamlit forgets a widget's entry as soon as a run goes by without the widget.
    """
    left = st.session_state.get(f"{page}_view", {}).get("values", {})
    for field in fields:
        st.session_state.setdefault(widget_key(page, field.name), left.get(field.name, field.default))


def understand(fields: Sequence[Field], asked: dict[str, str]) -> tuple[dict[str, object], list[str]]:
    """Read every field from what an address says; give the values and the names of what made no sense."""
    values, wrong = {}, []
    for field in fields:
        values[field.name] = field.default
        if field.name in asked:
            try:
                values[field.name] = field.read(asked[field.name])
            except ValueError:
                wrong.append(field.name)
    return values, wrong


def tell_not_understood(page: str) -> None:
    """Say which parts of the link of this visit made no sense."""
    if wrong := st.session_state.get(f"{page}_wrong"):
        st.info(
            f"This link asks for something that is not known here: {', '.join(wrong)}. The usual is shown instead.",
            icon=":material/link_off:",
        )


def write_view(page: str, fields: Sequence[Field], first: Mapping[str, object]) -> None:
    """Put the view into the address: nothing for the first view, else the first field and all that is not default.

    Parameters that are not of this page are dropped; what an earlier run wrote, which may still be on its way to the
    browser, is overwritten. Texts that would make the link longer than MAX_LINK_CHARACTERS stay in the session alone.
    """
    values = {field.name: st.session_state.get(widget_key(page, field.name), field.default) for field in fields}
    address = spelled_out(fields, values, first)
    length = len(link_with(list(address.items())))
    if length > MAX_LINK_CHARACTERS:
        address = {field.name: address[field.name] for field in fields if field.name in address and field.read is not str}
    note_length(length)
    left = st.session_state.get(f"{page}_view", {})
    remember_typed(fields, values, left.get("values", {}))
    st.session_state[f"{page}_view"] = {"values": values, "address": address}
    if not st.query_params.to_dict() == left.get("address", address) == address:
        st.query_params.from_dict(address)


def spelled_out(fields: Sequence[Field], values: Mapping[str, object], first: Mapping[str, object]) -> dict[str, str]:
    """Write values for an address: nothing for the first view, else the first field and all that is not default."""
    if values == {field.name: field.default for field in fields} | dict(first):
        return {}
    return {
        field.name: field.write(values[field.name])
        for field in fields
        if field is fields[0] or values[field.name] != field.default
    }


def typed_elsewhere(fields: Sequence[Field], left: Mapping[str, object]) -> dict[str, str]:
    """Give what comes along to a page of these fields; nothing where the visitor typed another sentence before.

    left: its fields as the visitor left them, if ever.
    """
    sentence = fields[0]
    if sentence.name != ALONG[0] or left.get(sentence.name, sentence.default) != sentence.default:
        return {}
    typed = st.session_state.get(TYPED, {})
    return {field.name: typed[field.name] for field in fields if field.name in typed}


def remember_typed(fields: Sequence[Field], values: Mapping[str, object], left: Mapping[str, object]) -> None:
    """Keep a page's new sentence for others; the one that the page begins with, or none, is not worth taking along."""
    first = fields[0].default
    if fields[0].name != ALONG[0] or values[ALONG[0]] == left.get(ALONG[0], first):
        return
    own = values[ALONG[0]] not in ("", first)
    st.session_state[TYPED] = {name: values[name] for name in ALONG if own and values.get(name)}
