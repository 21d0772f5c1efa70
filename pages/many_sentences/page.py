"""What does each head do over many sentences? A file, or the built-in set, read by any model; every head averaged."""

from pages.ui.shell.frame import open_page

PAGE = "many_sentences"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.many_sentences.heads import explain_heads, heads_about, heads_controls, heads_pictures
from pages.many_sentences.inputs import FIELDS, find_report
from pages.ui.shell.frame import page_links
from pages.ui.stage.pictures import empty_pictures, pictures_stage

found = find_report(badge)
if found is None:
    empty_pictures(PAGE, FIELDS)
else:
    about = heads_about(found.report, found.colour, found.opened)
    pictures_stage(PAGE, FIELDS, heads_controls(found.report), heads_pictures(found.report, found.rank), about)
    explain_heads(PAGE, found.report, found.colour, found.opened)
page_links("", "", "attention", "summaries")
