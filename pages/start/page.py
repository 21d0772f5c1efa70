"""What does a language model look at? The first page: a sentence's way to a prediction, and three ways on."""

from pages.ui.shell.frame import open_page

PAGE = "start"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
import streamlit as st

from pages import contents
from pages.start import texts
from pages.start.inputs import FIELDS
from pages.ui.shell.address import widget_key
from pages.ui.shell.frame import show_engine
from pages.ui.shell.level import level_in_link
from pages.ui.shell.two_kinds import show_two_kinds
from pages.ui.stage.inputs import explain_problem, sentence_inputs
from pages.ui.stage.routes import route_run, routes_stage
from pages.ui.stage.tokens import note_how_read
from tx_core.errors import ExplorerError

inputs = sentence_inputs(PAGE, FIELDS, asks=texts.ASK_SENTENCE, counts=False)
try:
    engine, run = inputs.engine(), route_run(inputs, texts.MEANINGS)
    note_how_read(engine, inputs.text, key=widget_key(PAGE, "model"))
except ExplorerError as problem:
    explain_problem(PAGE, problem)
    routes_stage(inputs, FIELDS)
    badge.empty()
else:
    routes_stage(inputs, FIELDS, run)
    show_engine(badge, engine.title, engine.device)
for column, door in zip(st.columns(len(texts.DOORS)), texts.DOORS, strict=True):
    with column.container(border=True):
        label, settings = f"**{door.name}:** {door.promise}", door.settings | level_in_link()
        st.page_link(contents.page(door.page).path, label=label, icon=door.icon, query_params=settings, width="stretch")
for key, label, icon in (("next_word", texts.WRITES, "edit"), ("learn", texts.FOR_TEACHERS, "groups")):
    st.page_link(contents.page(key).path, label=label, icon=f":material/{icon}:", query_params=level_in_link())
show_two_kinds()
