"""The view of a page with a stage in its address: the browser writes it, Python reads it.

The page's own fields say what is computed, such as the sentence: the widgets hold them. The others say how it is looked at: the
browser holds those, and every run finds them in the address as they were when it was asked for. Only on arrival, after Back, and
where the page itself asks for a view, as an example does, does Python say how to look.

Streamlit (1.67) goes on sending the parameters with which a page was loaded, or that Python set, whatever the address says since
then. The same parameters as in the run before therefore say nothing, and every report of the browser brings how it looks along.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st

from pages.ui.shell.address import (
    LINK_LENGTH,
    MAX_LINK_CHARACTERS,
    Field,
    came_by_history,
    format_view,
    link_with,
    note_awaited_change,
    parse_view,
    read_view,
    remember_sentence,
    shows_step,
    view_parameters,
    widget_key,
)
from pages.ui.shell.level import level_in_link

KNOWN_ADDRESSES = 8
"""Own fields, as they were handed to the browser last: a request with some of them was on its way, and is no link."""


@dataclass(frozen=True)
class StageFields:
    """The fields of a page with a stage.

    Attributes:
        own: what is computed; the first is the sentence.
        looks: how it is looked at.
        first: values of the first view that are not the defaults.
        names: of looks that a link calls otherwise than the stage does, each with the stage's name.
    """

    own: tuple[Field, ...]
    looks: tuple[Field, ...]
    first: Mapping[str, object]
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def all(self) -> tuple[Field, ...]:
        """Every field, as a link may name them."""
        return (*self.own, *self.looks)


def read_stage_address(page: str, fields: StageFields, set_along: Callable[[], Mapping[str, object]] = dict) -> None:
    """Update the session's entries from the address, before any widget is drawn; warn of what cannot be read.

    set_along: as of `read_view`.
    """
    state = st.session_state
    asked_for = view_parameters()
    sent = {field.name: asked_for[field.name] for field in fields.all if field.name in asked_for}
    own = {field.name: sent[field.name] for field in fields.own if field.name in sent}
    left, handed = state.get(f"{page}_view", {}), state.get(f"{page}_handed", [])
    arriving = widget_key(page, fields.own[0].name) not in state
    asked = state.pop(f"{page}_asked_view", False)
    is_old = sent == state.get(f"{page}_sent")
    state[f"{page}_sent"] = sent
    is_known = not arriving and not came_by_history() and (asked or is_old or own in handed)
    if is_known:
        if not asked and not is_old and own == handed[-1]:
            remember_looks(page, fields.looks, sent)
        state[f"{page}_view"]["address"] = sent
    if asked or not is_known:
        state[f"{page}_arrivals"] = state.get(f"{page}_arrivals", 0) + 1
    read_view(page, fields.all, fields.first, set_along)
    state[f"{page}_found_again"] = arriving and not came_by_history() and bool(left) and state.get(f"{page}_view") is left


def remember_looks(page: str, looks: Sequence[Field], written: object) -> None:
    """Store how the browser looks now, as its address or a report says, which anybody can forge."""
    if isinstance(written, Mapping) and written:  # none at all is the first view's
        values, _ = parse_view(looks, {name: value for name, value in written.items() if isinstance(value, str)})
        st.session_state.update({widget_key(page, name): value for name, value in values.items()})


def ask_for_view(page: str, values: Mapping[str, object]) -> None:
    """Set fields of a page, own ones and how it is looked at; the next run tells the browser."""
    st.session_state.update({widget_key(page, name): value for name, value in values.items()})
    st.session_state[f"{page}_asked_view"] = True


def hand_over(page: str, fields: StageFields) -> dict[str, object]:
    """Return what the stage needs to write the address, and how it is to look on arrival; remember the view and the sentence.

    Texts that would make the link longer than MAX_LINK_CHARACTERS stay in the session only.
    """
    state = st.session_state
    state[f"{page}_fields"] = (fields.all, dict(fields.first))  # a default can follow from what was computed
    values = {field.name: state.get(widget_key(page, field.name), field.default) for field in fields.all}
    address = format_view(fields.all, values, fields.first)
    length = len(link_with(address))
    state[LINK_LENGTH] = length if length > MAX_LINK_CHARACTERS else 0
    own_values = {field.name: values[field.name] for field in fields.own}
    is_first = own_values == {field.name: fields.first.get(field.name, field.default) for field in fields.own}
    written = {field.name: field.write(own_values[field.name]) for field in fields.own if own_values[field.name] != field.default}
    own = {fields.own[0].name: own_values[fields.own[0].name], **written}
    if length > MAX_LINK_CHARACTERS:
        kept = {field.name for field in fields.own if field.read is not str}
        own, is_first = {name: value for name, value in own.items() if name in kept}, False
    left = state.get(f"{page}_view", {})
    remember_sentence(fields.all, values, left.get("values", {}))
    state[f"{page}_view"] = {"values": values, "address": address}
    addresses = [*([{}] if is_first else []), own]
    state[f"{page}_own"] = {"names": [field.name for field in fields.own], "addresses": addresses}
    state[f"{page}_handed"] = [*state.get(f"{page}_handed", []), *addresses][-KNOWN_ADDRESSES:]
    note_awaited_change(page, own_values)
    named = {field.name: fields.names.get(field.name, field.name) for field in fields.looks}
    return {
        "arrival": {"number": state.get(f"{page}_arrivals", 0), "restored": state.get(f"{page}_found_again", False)},
        "view": {as_state: values[name] for name, as_state in named.items()},
        "address": {
            "own": own,
            "isFirst": is_first,
            "defaults": {named[field.name]: field.default for field in fields.looks},
            "first": {as_state: fields.first[name] for name, as_state in named.items() if name in fields.first},
            "level": level_in_link(),
            "isKept": shows_step(),
        },
    }
