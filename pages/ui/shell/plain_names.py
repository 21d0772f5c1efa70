"""What visitors and models write, where only plain letters are safe: in comments, captions and names of files."""

import re

JOINERS = "\u200c\u200d"
"""Unseen, but they are spelling: Persian words and families of emoji need them."""


def one_line(text: str) -> str:
    """Let a text stand in a comment or a caption: what ends a line, is unseen, or turns its neighbours around is a space."""
    return " ".join("".join(sign if sign.isprintable() or sign in JOINERS else " " for sign in text).split())


def file_stem(what: str, model: str) -> str:
    """Name a file of a model without its ending, in letters that every system takes."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", f"{what}-{model}")


def shortened(text: str, most: int) -> str:
    """Give a text, or as many of its first words as fit into `most` letters, and an ellipsis."""
    written = one_line(text)
    if len(written) <= most:
        return text
    start = written[:most]
    return (start if written[most] == " " else start.rpartition(" ")[0] or start).rstrip() + " …"
