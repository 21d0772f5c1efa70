"""What does the class think? A teacher opens a room from a lesson; students guess; what all said stands beside the model."""

import streamlit as st

from pages.ui.shell.frame import open_page

open_page("classroom")

# The title is on its way: what follows takes longer to import.
from pages.classroom import entrance, student, teacher
from tx_core.errors import ExplorerError

try:
    entrance.accept_launch()
    entrance.accept_secret_link()
    code, lead = st.query_params.get(entrance.ROOM, ""), st.query_params.get(entrance.LEAD, "")
    if lead:
        teacher.teach(lead)
    elif code:
        student.take_part(code)
    else:
        entrance.join_or_open()
except ExplorerError as error:
    entrance.explain_or_wait(error)
    entrance.lead_to_entrance()
if entrance.ROOM in st.query_params or entrance.LEAD in st.query_params:
    st.stop()  # a room is left by what is in it: no way on to the next page below it
