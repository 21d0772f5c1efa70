"""What differs between A and B? Two runs as states of one map, their difference word by word, and a word's vectors in both."""

from pages.ui.shell.frame import open_page

PAGE = "compare"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.compare.below import show_below
from pages.compare.inputs import ask_sides
from pages.compare.runs import note_reading, run_sides
from pages.compare.stage import comparison_stage, empty_stage
from pages.compare.words import chosen_word, follow_words
from pages.ui.shell import cache
from pages.ui.shell.frame import page_links, show_engine
from tx_core.engine.tokenizer import BLANK

sides = ask_sides()
pair = run_sides(sides)
if pair is None:
    empty_stage()
    badge.empty()
else:
    note_reading(pair)
    followed = follow_words(pair)
    word = chosen_word(pair, followed)
    comparison_stage(pair, followed)
    engine = cache.engine(sides.one.model)
    show_engine(badge, engine.title, engine.device)
    show_below(pair, word)
other = sides.other.text if sides.other.text != sides.one.text else ""
can_patch = other and all(BLANK.search(text) for text in (sides.one.text, other))
ways = [*(["patching"] if can_patch else []), "attention", "fill_mask", "bert"]
page_links(sides.one.text, sides.one.pair, *ways, text_b=other)
