"""The families that come through transformers, by what they are, and a text for all of them."""

FAMILIES = ["roberta", "xlm-roberta", "distilbert", "albert", "electra", "modernbert", "gpt2", "t5", "bart"]
TWO_SIDED = ["t5", "bart"]
"""Encoder-decoders."""
FILLING = [family for family in FAMILIES if family not in ("gpt2", "t5")]
"""Those that fill blanks."""
TEXT, PAIR = "Time flies like an arrow", "fruit flies"
