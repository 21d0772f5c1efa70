"""Frame every page: its question, the engine that computes, the link to this view, links to other pages, and the code shown."""

import inspect
import secrets
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from functools import cache
from pathlib import Path
from types import MappingProxyType
from urllib.parse import parse_qs, urlencode, urlsplit

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages import contents
from pages.ui.shell import metrics, readiness, texts
from pages.ui.shell.address import (
    LEAD,
    LESSON,
    PLACE,
    ROOM,
    SHOWN_STEP,
    STEP_HOSTS,
    is_offered,
    shows_stage_alone,
    shows_step,
    view_parameters,
    widget_key,
)
from pages.ui.shell.level import is_hidden, level_in_link, show_formula
from tx_core.engine.threads import use_one_core
from tx_core.errors import (
    Busy,
    ChangeProblem,
    CheckpointProblem,
    ExplorerError,
    ModelUnavailable,
    OutOfMemory,
    RoomProblem,
    TakesLong,
    TextMissing,
    TextProblem,
    memory_checked,
)

HEADINGS: dict[type[ExplorerError], str] = {
    TextMissing: texts.TEXT_MISSING,
    TakesLong: texts.TAKES_LONG,
    TextProblem: texts.CHECK_INPUT,
    CheckpointProblem: texts.MODEL_NOT_LOADED,
    ModelUnavailable: texts.NOT_AVAILABLE,
    ChangeProblem: texts.CHANGE_DOES_NOT_FIT,
    Busy: texts.BUSY,
    OutOfMemory: texts.OUT_OF_MEMORY,
    RoomProblem: texts.ABOUT_THE_ROOM,
}
"""What stands above the message of each kind of problem."""


class StageShown(Exception):
    """Ends the script of a page of which the stage alone is shown, once it is mounted."""


def open_page(key: str) -> DeltaGenerator:
    """Begin a page with its question as title and, but in a lesson or a class, one sentence on what it shows.

    Returns the badge of the engine: a page that computes with another model than the default one passes it to `show_engine`. It
    stays empty where nothing is computed.
    """
    use_one_core()  # what a page trains or ships is small; `cache.engine` takes all cores for a large model
    page = contents.page(key)
    if not shows_step() and key not in STEP_HOSTS:
        st.session_state.pop(SHOWN_STEP, None)  # the step comes back with its own view, not with that of a page opened since
    if page.computes and shows_stage_alone():
        return st.empty()
    with st.container(gap=None):
        st.title(page.question, anchor=False)
        # assets/page.css leaves this row out on a phone, where the picture has to be in sight
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom", key="lead"):
            if not {LESSON, ROOM, LEAD} & st.query_params.keys():
                st.markdown(page.lead, width="content")
            badge = st.empty()
    status = readiness.default_engine.status
    asked = {st.session_state.get(widget_key(key, "model")), view_parameters().get("model")}
    if not page.computes:
        return badge
    if status.state == "warming up":
        badge.caption(f":material/hourglass_top: {texts.WARMING_UP}", width="content")
    # Another model, which the page or the link to it asks for, may take long to load.
    elif status.state == "ready" and asked <= {None, "embedded"}:
        show_engine(badge, status.model, status.device)
    return badge


def show_engine(badge: DeltaGenerator, model: str, device: str) -> None:
    """Show in the badge which model computed on which device; "" for a model that is still awaited, as the badge says already."""
    if not device:
        return
    where = texts.DEVICES.get(device.split(":")[0], device)
    notice = readiness.default_engine.status.notice if device == "cpu" else ""
    badge.caption(
        f":material/memory: {texts.ENGINE.format(model=model, device=where)}{notice and f'. {notice}'}", width="content"
    )


def new_id() -> str:
    """Return a random unique id for a lesson part."""
    return secrets.token_hex(6)


def explain(error: ExplorerError) -> None:
    """Show what went wrong and what to do about it. The message may quote the visitor, so it is never markup."""
    metrics.count_problem(error)
    with st.container(border=True):
        heading = next((title for kind, title in HEADINGS.items() if isinstance(error, kind)), texts.CANNOT_BE_SHOWN)
        st.markdown(f":orange[:material/info:] **{heading}**")
        st.text(str(error))


@contextmanager
def memory_explained() -> Iterator[None]:
    """Explain an out-of-memory error raised within the block, in a sentence."""
    try:
        with memory_checked():
            yield
    except OutOfMemory as problem:
        explain(problem)


def page_links(
    text: str, second: str, *keys: str, text_b: str = "", views: Mapping[str, Mapping[str, str]] = MappingProxyType({})
) -> None:
    """Link to other pages by the questions that they answer, unless a lesson shows no links; the sentences go along.

    second: read together with the first. text_b: a sentence of its own, for pages that take A and B. views: further parameters
    of a link, by the key of its page.
    """
    if not is_offered("links"):
        return
    level = level_in_link()
    with st.container(horizontal=True, gap="small", key="ways"):
        for page in map(contents.page, keys):
            other = {"pair": second, "text_b": text_b or second}.get(page.second, "")
            sentences = {name: written for name, written in (("text", text), (page.second, other)) if name and written}
            view = level | sentences | dict(views.get(page.key, {}))
            st.page_link(_described(page.key), label=page.question, query_params=view)


def page_link(key: str, label: str, parameters: Mapping[str, str], *, icon: str | None = None) -> None:
    """Link to a view of a page, unless a lesson shows no such links."""
    if is_offered("links"):
        st.page_link(_described(key), label=label, icon=icon, query_params=level_in_link() | dict(parameters))


def page_address(key: str, parameters: Mapping[str, str]) -> str:
    """Write the address of a view of a page, relative to that of any other page."""
    page = contents.page(key)
    return f"./{page.address or key}?{urlencode(level_in_link() | dict(parameters))}"


def open_address(written: object) -> None:
    """Open a view by an address as `page_address` writes it, which anybody can forge; nothing happens for any other."""
    parts = urlsplit(written) if isinstance(written, str) else None
    pages = {f"./{page.address or page.key}": page for page in contents.PAGES}
    if parts and parts.path in pages:
        st.switch_page(pages[parts.path].path, query_params=parse_qs(parts.query))


def navigation(*, listed: bool) -> tuple[contents.Page, st.Page]:
    """Draw the list of pages, if `listed`; return the one that is asked for: as we describe it, and as Streamlit runs it once."""
    pages = {page.key: copy(_described(page.key)) for page in contents.PAGES}  # Streamlit writes into them
    listing = {name: [pages[page.key] for page in section] for name, section in contents.SECTIONS.items()}
    chosen = st.navigation(listing, position="sidebar" if listed else "hidden", expanded=True)
    return next(page for page in contents.PAGES if pages[page.key] is chosen), chosen


@cache
def _described(key: str) -> st.Page:
    """Describe a page to Streamlit: once, since it looks for the page's file on disk each time."""
    page = contents.page(key)
    address = contents.page_address(page) or "home"
    return st.Page(page.path, title=page.name, icon=f":material/{page.icon}:", url_path=address, default=key == contents.HOME)


def way_back() -> tuple[str, dict[str, str], str]:
    """Return the link to the step of a lesson that was shown last: its page, its address and its label."""
    path, address, number = st.session_state[PLACE]
    return path, address, texts.BACK_TO_LESSON.format(number=number)


def next_page(key: str) -> None:
    """Link on from the end of a page: back to the lesson that was left, else to the next page of the list."""
    if key == contents.HOME:
        return  # its doors are the ways on
    keys = [page.key for page in contents.PAGES]
    following = contents.page([*keys[1:], contents.HOME][keys.index(key)])
    path, address, label = _described(following.key), {}, texts.NEXT_PAGE.format(page=following.name)
    if PLACE in st.session_state:
        path, address, label = way_back()
    with st.container(width="content", key="next_page"):
        st.page_link(path, label=label, icon=":material/arrow_forward:", query_params=address | level_in_link())


ROOT = Path(__file__).parents[3]


def explain_computation(formulas: Sequence[str] = (), letters: str = "", sources: Sequence[Callable[..., object]] = ()) -> None:
    """Explain what a picture shows by its formulas and by the code that computes it; the level may hide both.

    formulas: in LaTeX. letters: what their letters stand for, in Markdown.
    """
    if formulas and not is_hidden("formulas"):
        with st.expander(texts.FORMULA, icon=":material/function:"):
            for formula in formulas:
                show_formula(formula)
            if letters:
                st.markdown(letters)
    if sources:
        show_source(*sources)


def show_source(*parts: Callable[..., object]) -> None:
    """Show functions or classes of the core, each below the name of its file; nothing is sent while the box is folded."""
    if is_hidden("code"):
        return
    folded = st.expander(texts.SOURCE_CODE, icon=":material/code:", key="source_code", on_change="rerun")
    if not folded.open:
        return
    with folded:
        for part in parts:
            home = Path(inspect.getfile(inspect.unwrap(part))).relative_to(ROOT).as_posix()
            st.caption(f"`{home}`")
            st.code(textwrap.dedent(inspect.getsource(part)).rstrip(), language="python", wrap_lines=True)
