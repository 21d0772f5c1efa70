"""What does each head do over many sentences? A file, or the built-in set, read by any model; every head averaged."""

from pages.ui.shell.frame import open_page

PAGE = "many_sentences"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.many_sentences.heads import explain_heads, heads_about, heads_controls, heads_pictures
from pages.many_sentences.inputs import FIELDS, find_report
from pages.ui.shell.address import value_of
from pages.ui.shell.frame import page_links
from pages.ui.stage.pictures import About, pictures_stage

report, opened, run, take = find_report(badge)
if report is None:
    pictures_stage(PAGE, FIELDS, (), (), About("", {}), training=run, take=take)
else:
    colour, rank = (value_of(PAGE, name) for name in ("colour", "rank"))
    about, pictures = heads_about(report, colour, opened), heads_pictures(report, rank)
    pictures_stage(PAGE, FIELDS, heads_controls(report), pictures, about, training=run, take=take)
    explain_heads(PAGE, report, colour, opened)
page_links("", "", "attention", "summaries")
