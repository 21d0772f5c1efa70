"""What does each head do over many sentences? A file, or the built-in set, read by any model; every head averaged."""

from pages.ui.shell.frame import open_page

PAGE = "many_sentences"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from dataclasses import replace

import streamlit as st

from pages.many_sentences import texts
from pages.many_sentences.heads import heads_part
from pages.many_sentences.inputs import FIELDS, PART_CONTROL, find_report
from pages.many_sentences.relation import relation_part
from pages.ui.export.part import Part, show_part
from pages.ui.shell.address import value_of
from pages.ui.shell.frame import explain, page_links
from tx_core.errors import TextProblem

report, opened, run = find_report(badge)
part = Part()
if report and value_of(PAGE, "part") == "find":
    try:
        part = relation_part(PAGE, report)
        st.markdown(texts.NOTICE)
    except TextProblem as problem:
        explain(problem)
elif report:
    part = heads_part(report, value_of(PAGE, "rank"), opened)
show_part(PAGE, FIELDS, replace(part, run=run, controls=[PART_CONTROL, *part.controls]))
page_links("", "", "attention", "summaries")
