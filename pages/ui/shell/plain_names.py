"""Make the texts of visitors and models safe for comments, captions and file names."""

import re

JOINERS = "\u200c\u200d"
"""Invisible, but part of the spelling of Persian words and of emoji sequences."""


def one_line(text: str) -> str:
    """Make a text fit for a comment or caption: line ends, invisible characters and direction marks become spaces."""
    return " ".join("".join(character if character.isprintable() or character in JOINERS else " " for character in text).split())


def file_stem(what: str, model: str) -> str:
    """Name a file of a model, without its extension, in characters that every system accepts."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", f"{what}-{model}")


def shortened(text: str, max_characters: int) -> str:
    """Return a text, or as many of its first words as fit into `max_characters`, with an ellipsis."""
    written = one_line(text)
    if len(written) <= max_characters:
        return text
    start = written[:max_characters]
    return (start if written[max_characters] == " " else start.rpartition(" ")[0] or start).rstrip() + " …"
