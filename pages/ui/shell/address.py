"""The view of a page in its address: the browser writes it, Python reads it; and what lesson or class an address names.

The page's own fields say what is computed, such as the sentence: the widgets hold them. The others say how it is looked at: the
browser holds those, and every run finds them in the address as they were when it was asked for. Only on arrival, after Back, and
where the page itself asks for a view, as an example does, does Python say how to look.

Streamlit (1.67) goes on sending the parameters with which a page was loaded, or that Python set, whatever the address says since
then. The same parameters as in the run before therefore say nothing, and every report of the browser brings how it looks along.
Its own binding of widgets to query parameters forgets a control as soon as it is not drawn (while the text has an error, say)
and writes the labels on the screen into the link. Here a link holds short names, and nothing is forgotten.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from pages.contents import Page, page_address
from pages.ui.shell import texts
from pages.ui.shell.fields import Field, StageFields, format_view, parse_view, without_texts, write_fields
from pages.ui.shell.level import LEVEL, is_hidden, level_in_link, show_hidden_values
from pages.ui.shell.session import came_by_history
from pages.ui.shell.step import shown_controls, step_of_run

MAX_LINK_CHARACTERS = 6000
"""A tenth of what this server accepts (64 KiB): mail programs and chats may accept far less."""
SHARED_FIELDS = ("text", "pair", "text_b")
"""Fields, on any page, of the sentence, the second one read with it, and the one beside it: they follow the visitor elsewhere."""
LESSON, STEP, LOCK, PRESENT = LESSON_PARAMETERS = ("lesson", "step", "lock", "present")
"""Parameters of the lesson that the reader takes, and how: they stay in the address of the page that the step shows."""
DRAFT, ADDED_VIEWS, MAX_ADDED_VIEWS = "lesson_draft", "lesson_added_views", 60
"""Session entries of the lesson that this visitor writes, and of views that are to become its next steps: id, page and view."""
KEPT_PARAMETERS = (*LESSON_PARAMETERS, LEVEL)
"""Parameters that belong to no page: they stay when a page writes its view."""
WAYS_OUT = ("links", "share", "export")
"""What a locked lesson never shows, by the names that `is_offered` takes."""
CHANGED_STEPS = "lesson_changed_steps"
"""Session entry: the steps of lessons that a change of their view has completed."""
PLACE = "lesson_place"
"""Session entry of the step shown last: its page, the parameters of its address, its number as the reader is told it."""
FOR_CLASS = "open"
"""Query parameter of the class page: the lesson that a teacher is about to open a room for."""
ROOM, LEAD = "room", "lead"
"""Query parameters of whoever is in the room of a class: of a student, of its teacher."""
TICKET = "launch"
"""Query parameter by which a learning platform's launch leads into a room; it is taken out of the address."""
SHOWN_STEP, STEP_HOSTS = "shown_step", ("classroom", "lesson_editor")
"""Session entry of the step whose stage was shown last (pages/ui/panels/step.py); the pages that show such."""
LAST_SENTENCE = "typed"
"""Session entry of the sentence that the visitor typed last, on any page: values by SHARED_FIELDS."""
HELD = "held_by_session"
"""Session entry: this session holds what no address brings back, such as a training or a lesson from a file."""
LOST_AT = "lost_at"
"""Session entry: when the browser came here from a server that held what no address brings back, by `time.monotonic()`."""
KNOWN_ADDRESSES = 8
"""Own fields, as they were handed to the browser last: a request with some of them was on its way, and is no link."""


def widget_key(page: str, name: str) -> str:
    """Return the key of a field's widget, which is also its session entry."""
    return f"{page}_{name}"


def widget_binding(name: str, on_change: Callable[[], None] | None = None) -> dict[str, object]:
    """Return the keyword arguments that bind a widget to its session entry; `on_change` runs after the reader changed it.

    Until the reader has touched the widget, every run sends its value to the browser again. Streamlit sends it once only,
    and a browser that draws the widget later (in a popover, or when two runs follow each other quickly) would show the
    widget's own default and send that back.
    """
    sent = f"{name}_given"
    if st.session_state.get(sent, (None,)) != st.session_state[name]:
        st.session_state[name] = st.session_state[name]

    def accept() -> None:
        st.session_state[sent] = st.session_state[name]
        if on_change:
            on_change()

    return {"key": name, "on_change": accept, "persist_state": "page"}


def is_locked() -> bool:
    """Return whether a lesson was opened by a locked link, or a room by its teacher so that menu and other pages are hidden."""
    return st.query_params.get(LOCK) == "1" and bool({LESSON, ROOM} & st.query_params.keys())


def is_presented() -> bool:
    """Return whether the page is shown to a room. Only a lesson and a class ask: any other page leaves that to the browser."""
    return st.query_params.get(PRESENT) == "1"


def shows_step() -> bool:
    """Return whether a page runs within a room or the lesson editor, which show its stage and nothing else of it."""
    step = step_of_run()
    return step is not None and step.view is not None


def shows_stage_alone() -> bool:
    """Return whether nothing but the stage of a page is shown: also in a lesson whose step names the controls, and in a frame.

    A frame's address has embed=true, which Streamlit takes for itself.
    """
    return shows_step() or shown_controls() is not None or st.context.is_embedded


def view_parameters() -> Mapping[str, str]:
    """Return the parameters of the view that a page is asked for: of the address, or of a step shown elsewhere."""
    return step_of_run().view if shows_step() else st.query_params


def present_or_not(wanted: bool) -> None:
    """Show a lesson or a class to a room, or no longer."""
    if wanted:
        st.query_params[PRESENT] = "1"
    else:
        st.query_params.pop(PRESENT, None)


def is_offered(name: str) -> bool:
    """Return whether a page shows a control: a lesson's step may show some only, and the level hides others.

    name: of the field, or of its widget; "examples", "tables" and WAYS_OUT for what is no field.
    """
    shown = shown_controls()
    if (name in WAYS_OUT and (is_locked() or shows_step())) or (name == "examples" and shows_step() and shown is None):
        return False
    if shown is None:
        return not is_hidden(name)
    return any(name == one or name.endswith(f"_{one}") for one in shown)


NO_FIELDS = StageFields((), ())


@dataclass(frozen=True)
class PageView:
    """What the session keeps of the view of a page, beside the entries of its fields (`widget_key`).

    Attributes:
        values: of the fields, as they were handed to the browser last.
        address: the parameters of that view, or those that the browser has asked with since.
        sent: the parameters of the request before.
        handed: own fields of the page, as they were handed to the browser: a request with some of them was on its way.
        arrivals: how often Python said how to look.
        is_restored: whether the visitor came back to the view that was left.
        is_asked: whether the page itself asks for a view, as an example does.
    """

    fields: StageFields = NO_FIELDS
    values: Mapping[str, object] = field(default_factory=dict)
    address: Mapping[str, str] | None = None
    sent: Mapping[str, str] | None = None
    handed: tuple[Mapping[str, str], ...] = ()
    arrivals: int = 0
    is_restored: bool = False
    is_asked: bool = False
    unknown: tuple[str, ...] = ()


def page_view(page: str) -> PageView:
    """Return what is kept of the view of a page."""
    return st.session_state.get(f"{page}_view", PageView())


def keep_view(page: str, **changes: object) -> None:
    """Change what is kept of the view of a page."""
    st.session_state[f"{page}_view"] = replace(page_view(page), **changes)


def forget_view(page: str) -> None:
    """Forget how a page was left: it is about to begin with another view."""
    view = page_view(page)
    for one in view.fields.all:
        st.session_state.pop(widget_key(page, one.name), None)
    st.session_state[f"{page}_view"] = PageView(arrivals=view.arrivals)


def value_of(page: str, name: str) -> Any:
    """Return the value of a field as the session has it now; of a control that the last run did not draw, as it was."""
    state, key = st.session_state, widget_key(page, name)
    return state[key] if key in state else page_view(page).values[name]


def set_values(page: str, values: Mapping[str, object]) -> None:
    """Set fields of a page to other values, before their controls are drawn, or after a report of the browser."""
    st.session_state.update({widget_key(page, name): value for name, value in values.items()})


def values_of(page: str, fields: Sequence[Field]) -> dict[str, Any]:
    """Return the values of fields as the session has them now; of a control that is not drawn, as they were."""
    before, state = page_view(page).values, st.session_state
    return {field.name: state.get(widget_key(page, field.name), before.get(field.name, field.default)) for field in fields}


def request_parameters(names: Iterable[str]) -> dict[str, str]:
    """Return those of the parameters that the browser sent."""
    sent = dict(view_parameters())
    return {name: sent[name] for name in names if name in sent}


def is_changed(page: str) -> bool:
    """Return whether the reader has changed what a page computes with since the browser was last told of it."""
    view = page_view(page)
    return _differs(page, {one.name: view.values[one.name] for one in view.fields.own})


def _differs(page: str, values: Mapping[str, object]) -> bool:
    """Return whether an entry of a page is no longer the value that is given for it."""
    return any(st.session_state.get(widget_key(page, name), value) != value for name, value in values.items())


def pinned_view(page: str) -> dict[str, str]:
    """Serialize the whole view of a page as its controls are now, defaults included.

    A field is left out where it is empty, now and by default.
    """
    fields = page_view(page).fields.all
    values = zip(fields, values_of(page, fields).values(), strict=True)
    written = [(field, field.write(value) if value is not None else "") for field, value in values]
    return {field.name: value for field, value in written if value or field.default}


def view_link(page: str) -> str:
    """Return the link of a page's view as its controls are now; texts that are too long for a link are left out."""
    fields = page_view(page).fields
    link = link_with(address := format_view(fields.all, values_of(page, fields.all), fields.first))
    return link if len(link) <= MAX_LINK_CHARACTERS else link_with(without_texts(fields.all, address))


def sentence_from_other_page(page_fields: StageFields, left: Mapping[str, object]) -> dict[str, str]:
    """Return the sentence typed last on another page, as parameters; nothing if the visitor typed another one on this page.

    left: the values that the visitor left on this page, if any.
    """
    fields = page_fields.all
    sentence = fields[0]
    if sentence.name != SHARED_FIELDS[0] or left.get(sentence.name, sentence.default) != sentence.default:
        return {}
    typed = st.session_state.get(LAST_SENTENCE, {})
    carried = page_fields.carried(typed.get(sentence.name, ""))
    if not carried:
        return {}
    return {field.name: typed[field.name] for field in fields if field.name in typed} | {sentence.name: carried}


def remember_sentence(fields: Sequence[Field], values: Mapping[str, object], left: Mapping[str, object]) -> None:
    """Remember a new sentence for other pages, and the second one; not an empty one, nor one that a page begins with."""
    defaults = {field.name: field.default for field in fields}
    text = SHARED_FIELDS[0]
    new = [name for name in SHARED_FIELDS if name in values and values[name] != left.get(name, defaults[name])]
    if fields[0].name != text or not new:
        return
    own = {name: values[name] for name in SHARED_FIELDS if values.get(name, "") not in ("", defaults.get(name))}
    if text in own or text in new:
        st.session_state[LAST_SENTENCE] = own if text in own else {}


def link_with(parameters: Mapping[str, str | list[str]], page: Page | None = None) -> str:
    """Write the address of a page on this server, by default the current one, with these parameters."""
    scheme, host, path, _, _ = urlsplit(st.context.url or "")
    if page:
        path = f"{path.rpartition('/')[0]}/{page_address(page)}"
    return urlunsplit((scheme, host, path, urlencode(parameters, doseq=True), ""))


def read_stage_address(page: str, fields: StageFields, set_along: Callable[[], Mapping[str, object]] = dict) -> bool:
    """Update the session's entries from the address before any widget is drawn; warn of parameters that cannot be read.

    Returns whether the reader has just come to the page.

    The address wins on arrival and after Back or Forward: these bring the view that was there, which at an empty address is
    the first view, the defaults and the values of `first`. The list of pages leads to the view that was left; where that has
    no sentence of the visitor's, to the first view with the sentence typed last on another page. After a change by a control,
    the address is one that the browser has not updated yet, and loses.

    set_along: returns values set by what the page shows, such as an example: the notice on hidden values leaves them out.
    """
    view = page_view(page)
    values, unknown = view.values, view.unknown
    sent, own = (request_parameters(one.name for one in some) for some in (fields.all, fields.own))
    arriving, by_history = widget_key(page, fields.own[0].name) not in st.session_state, came_by_history()
    is_known = not arriving and not by_history and (view.is_asked or sent == view.sent or own in view.handed)
    if is_known and not view.is_asked and sent != view.sent and own == view.handed[-1]:
        remember_looks(page, fields.looks, sent)
    address = sent if is_known else view.address
    carried = sentence_from_other_page(fields, values) if arriving and not by_history and not sent else {}
    wanted = sent or carried
    navigated = not arriving and not _differs(page, values) and address not in (None, wanted)
    is_restored = arriving and view.address is not None and wanted == (address if by_history else {})
    if navigated or (arriving and not is_restored):
        values, unknown = parse_view(fields.all, wanted)
        values |= {} if wanted else fields.first
        if not carried:  # else it is remembered whole
            remember_sentence(fields.all, values, {})
        set_values(page, values)
        address = wanted
    keep_view(
        page,
        fields=fields,
        values=values,
        address=address,
        sent=sent,
        arrivals=view.arrivals + (view.is_asked or not is_known),
        is_restored=is_restored and not by_history,
        is_asked=False,
        unknown=tuple(unknown),
    )
    _fill_entries(page, fields.all, values, arriving=arriving)
    if unknown:
        st.info(texts.UNKNOWN_PARAMETERS.format(names=", ".join(unknown)), icon=":material/link_off:")
    if shown_controls() is None:
        now, along = values_of(page, fields.all), set_along()
        written = format_view(fields.all, now, fields.first)
        show_hidden_values([name for name in written if name not in along or along[name] != now[name]])
    return arriving


def _fill_entries(page: str, fields: Sequence[Field], values: Mapping[str, object], *, arriving: bool) -> None:
    """Set every field's session entry: keep it where it exists, else restore the last view's value, else the default."""
    for one in fields:
        name = widget_key(page, one.name)
        if arriving:
            st.session_state.pop(f"{name}_given", None)  # a widget that is not drawn is forgotten by the browser
        st.session_state.setdefault(name, values.get(one.name, one.default))
        if one.read is not str:  # sent again, see `widget_binding`; what is being typed is left alone
            st.session_state[name] = st.session_state[name]


def remember_looks(page: str, looks: Sequence[Field], written: object) -> None:
    """Store how the browser looks now, as its address or a report says, which anybody can forge."""
    if isinstance(written, Mapping) and written:  # none at all is the first view's
        values, _ = parse_view(looks, {name: value for name, value in written.items() if isinstance(value, str)})
        set_values(page, values)


def ask_for_view(page: str, values: Mapping[str, object]) -> None:
    """Set fields of a page, own ones and how it is looked at; the next run tells the browser."""
    set_values(page, values)
    keep_view(page, is_asked=True)


def ask_for_first_view(page: str) -> None:
    """Set every field of a page as its first view has it."""
    ask_for_view(page, page_view(page).fields.first_values)


def hand_over(page: str, fields: StageFields) -> dict[str, object]:
    """Return what the stage needs to write the address, and how it is to look on arrival; remember the view and the sentence.

    Texts that would make the link longer than MAX_LINK_CHARACTERS stay in the session only.
    """
    view, values = page_view(page), values_of(page, fields.all)
    address = format_view(fields.all, values, fields.first)
    length = len(link_with(address))
    is_first = all(values[field.name] == fields.first.get(field.name, field.default) for field in fields.own)
    own, problem = write_fields(fields.own, values), ""
    if length > MAX_LINK_CHARACTERS:
        own, is_first = without_texts(fields.own, own), False
        problem = texts.LINK_TOO_LONG_TO_SHARE.format(length=length, limit=MAX_LINK_CHARACTERS)
    remember_sentence(fields.all, values, view.values)
    handed = (*view.handed, *([{}] if is_first else []), own)[-KNOWN_ADDRESSES:]
    # The fields again: a default can follow from what was computed.
    keep_view(page, fields=fields, values=values, address=address, handed=handed)
    named = {field.name: fields.names.get(field.name, field.name) for field in fields.looks}
    step = step_of_run()
    place = step.place if step else ""
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
        "linkProblem": problem,
    }
