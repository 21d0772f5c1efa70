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

from pages.ui.shell import texts
from pages.ui.shell.address import (
    LINK_LENGTH,
    MAX_LINK_CHARACTERS,
    OFFERED,
    Field,
    came_by_history,
    format_view,
    keep_view,
    link_with,
    note_awaited_change,
    page_view,
    parse_view,
    remember_sentence,
    request_parameters,
    resend_value,
    restore_lost_texts,
    sentence_from_other_page,
    set_values,
    shows_step,
    values_of,
    widget_key,
)
from pages.ui.shell.level import level_in_link, show_hidden_values

SHARED_PLACE = "shared_place"
"""Session entry: the step of a room whose stage is shown, which a browser may have been shown before this session drew it."""
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
    """Update the session's entries from the address before any widget is drawn; warn of parameters that cannot be read.

    The address wins on arrival and after Back or Forward: these bring the view that was there, which at an empty address is
    the first view, the defaults and the values of `first`. The list of pages leads to the view that was left; where that has
    no sentence of the visitor's, to the first view with the sentence typed last on another page. After a change by a control,
    the address is one that the browser has not updated yet, and loses.

    set_along: returns values set by what the page shows, such as an example: the notice on hidden values leaves them out.
    """
    state, view = st.session_state, page_view(page)
    sent = request_parameters(field.name for field in fields.all)
    own = request_parameters(field.name for field in fields.own)
    arriving, by_history = widget_key(page, fields.own[0].name) not in state, came_by_history()
    is_old = sent == view.sent
    is_known = not arriving and not by_history and (view.is_asked or is_old or own in view.handed)
    if is_known and not view.is_asked and not is_old and own == view.handed[-1]:
        remember_looks(page, fields.looks, sent)
    address = sent if is_known else view.address
    says_how = view.is_asked or not is_known
    existed, values = view.address is not None, view.values
    is_changed = any(state.get(widget_key(page, name), value) != value for name, value in values.items())
    caught_up = not arriving and (sent == address or is_changed)
    if arriving and not by_history and not sent:
        sent = sentence_from_other_page(fields.all, values)
    navigated = not arriving and not is_changed and address not in (None, sent)
    is_restored = arriving and existed and sent == (address if by_history else {})
    unknown = view.unknown
    if navigated or (arriving and not is_restored):
        values, unknown = _take_address(page, fields, sent)
        address = sent
    keep_view(
        page,
        fields=fields.all,
        own=tuple(field.name for field in fields.own),
        first=fields.first,
        values=values,
        address=address,
        sent=request_parameters(field.name for field in fields.all),
        arrivals=view.arrivals + says_how,
        is_restored=is_restored and not by_history,
        is_asked=False,
        unknown=tuple(unknown),
    )
    restore_lost_texts(page, fields.all, caught_up)
    _fill_entries(page, fields.all, values, arriving=arriving)
    if unknown:
        st.info(texts.UNKNOWN_PARAMETERS.format(names=", ".join(unknown)), icon=":material/link_off:")
    if state.get(OFFERED) is None:
        now, along = values_of(page, fields.all), set_along()
        written = format_view(fields.all, now, fields.first)
        show_hidden_values([name for name in written if name not in along or along[name] != now[name]])


def _fill_entries(page: str, fields: Sequence[Field], values: Mapping[str, object], *, arriving: bool) -> None:
    """Set every field's session entry: keep it where it exists, else restore the last view's value, else the default."""
    for one in fields:
        name = widget_key(page, one.name)
        if arriving:
            resend_value(name)
        st.session_state.setdefault(name, values.get(one.name, one.default))
        if one.read is not str:  # sent again, see `widget_binding`; what is being typed is left alone
            st.session_state[name] = st.session_state[name]


def _take_address(page: str, fields: StageFields, parameters: Mapping[str, str]) -> tuple[dict[str, object], list[str]]:
    """Write the values of an address into the session; return them, and the names of parameters that made no sense."""
    values, unknown = parse_view(fields.all, parameters)
    if not parameters:
        values |= fields.first
    remember_sentence(fields.all, values, {})
    set_values(page, values)
    return values, unknown


def remember_looks(page: str, looks: Sequence[Field], written: object) -> None:
    """Store how the browser looks now, as its address or a report says, which anybody can forge."""
    if isinstance(written, Mapping) and written:  # none at all is the first view's
        values, _ = parse_view(looks, {name: value for name, value in written.items() if isinstance(value, str)})
        set_values(page, values)


def ask_for_view(page: str, values: Mapping[str, object]) -> None:
    """Set fields of a page, own ones and how it is looked at; the next run tells the browser."""
    set_values(page, values)
    keep_view(page, is_asked=True)


def hand_over(page: str, fields: StageFields) -> dict[str, object]:
    """Return what the stage needs to write the address, and how it is to look on arrival; remember the view and the sentence.

    Texts that would make the link longer than MAX_LINK_CHARACTERS stay in the session only.
    """
    view, values = page_view(page), values_of(page, fields.all)
    address = format_view(fields.all, values, fields.first)
    length = len(link_with(address))
    st.session_state[LINK_LENGTH] = length if length > MAX_LINK_CHARACTERS else 0
    own_values = {field.name: values[field.name] for field in fields.own}
    is_first = own_values == {field.name: fields.first.get(field.name, field.default) for field in fields.own}
    written = {field.name: field.write(own_values[field.name]) for field in fields.own if own_values[field.name] != field.default}
    own = {fields.own[0].name: own_values[fields.own[0].name], **written}
    if length > MAX_LINK_CHARACTERS:
        kept = {field.name for field in fields.own if field.read is not str}
        own, is_first = {name: value for name, value in own.items() if name in kept}, False
    remember_sentence(fields.all, values, view.values)
    handed = (*view.handed, *([{}] if is_first else []), own)[-KNOWN_ADDRESSES:]
    # The fields again: a default can follow from what was computed.
    keep_view(page, fields=fields.all, first=fields.first, values=values, address=address, handed=handed)
    note_awaited_change(page, own_values)
    named = {field.name: fields.names.get(field.name, field.name) for field in fields.looks}
    place = st.session_state.get(SHARED_PLACE, "")
    return {
        "arrival": {"number": view.arrivals, "restored": view.is_restored or bool(place), "place": place or page},
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
