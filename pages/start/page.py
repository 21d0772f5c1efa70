"""What does a language model look at? The first page: one sentence, a picture of its attention, and three ways on."""

import streamlit as st

from pages import contents
from pages.start import texts
from pages.ui.shell.frame import explain, open_page
from pages.ui.shell.level import level_in_link

PAGE = "start"
open_page(PAGE)
picture = st.container(key="start_picture").empty()  # a container with nothing in it has no space
with st.container(horizontal=True, key="start_doors"):
    for door in texts.DOORS:
        with st.container(border=True, gap="xsmall", key=f"start_door_{door.page}"):
            settings = door.settings | level_in_link()
            st.page_link(contents.page(door.page).path, label=f"**{door.name}**", icon=door.icon, query_params=settings)
            st.markdown(door.promise)
st.page_link(contents.page("learn").path, label=texts.FOR_TEACHERS, icon=":material/groups:", query_params=level_in_link())
caption = st.empty()

# The title and the doors are on their way: what follows takes longer to import.
from pages.start.looks import SMALLEST, draw_arcs, sentence_looks
from tx_core.errors import ExplorerError

try:
    looks = sentence_looks(texts.SENTENCE)
except ExplorerError as error:
    with picture.container():
        explain(error)
else:
    with picture:
        draw_arcs(looks, key="start_arcs")
    caption.caption(texts.HOW_DRAWN.format(heads=looks.heads, share=SMALLEST))
