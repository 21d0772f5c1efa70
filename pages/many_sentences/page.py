"""What does each head do over many sentences? A file, or the built-in set, read by any model; every head averaged."""

from pages.ui.shell.frame import open_page

PAGE = "many_sentences"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from functools import partial

import streamlit as st

from pages.many_sentences import relation, texts
from pages.many_sentences.heads import explain_heads, heads_about, heads_controls, report_pictures
from pages.many_sentences.inputs import FIELDS, PART_CONTROL, find_report
from pages.ui.shell.address import value_of
from pages.ui.shell.frame import explain, page_links
from pages.ui.stage.pictures import About, pictures_stage
from tx_core.errors import TextProblem

report, opened, run = find_report(badge)
about, controls, pictures, explain_part = About("", {}), [], [], lambda: None
if report and value_of(PAGE, "part") == "find":
    try:
        found = relation.find(PAGE, report)
    except TextProblem as problem:
        explain(problem)
    else:
        about, pictures = relation.about_relation(found), relation.relation_pictures(found)
        explain_part = partial(relation.explain_relation, PAGE, found)
        st.markdown(texts.NOTICE)
elif report:
    colour, rank = (value_of(PAGE, name) for name in ("colour", "rank"))
    about, controls, pictures = heads_about(report, colour, opened), heads_controls(report), report_pictures(report, rank)
    explain_part = partial(explain_heads, PAGE, report, colour, opened)
pictures_stage(PAGE, FIELDS, [PART_CONTROL, *controls], pictures, about, run=run)
explain_part()
page_links("", "", "attention", "summaries")
