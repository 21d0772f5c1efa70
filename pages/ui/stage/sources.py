"""Where numbers come from: what a view is of, what a caption says of its texts, and names that are safe in files."""

import re
from collections.abc import Mapping

from pages.ui.stage import texts
from pages.ui.stage.browser_texts import CAPTION
from tx_core.engine import catalogue

Source = Mapping[str, object]
"""What somebody needs to find the numbers of a view again, by name: see `source`."""


def source(model: str, *, revision: str = "", **more: object) -> dict[str, object]:
    """Name what a view is of: its model with the revision, this server's by default, and whatever else applies, such as text."""
    about = {"model": model, "revision": revision or catalogue.revision(model)}
    return about | {name: value for name, value in more.items() if value}


def sentences_read(about: Source) -> list[str]:
    """Return what a caption says of the texts that were read."""
    named = (("text", CAPTION["text"]), ("pair", CAPTION["second"]))
    read = [template.format(sentence=quoted(str(about[name]))) for name, template in named if name in about]
    return [*read, *([CAPTION["withoutSpecial"]] if about.get("special_tokens") == texts.NONE_ADDED else [])]


def quoted(sentence: str) -> str:
    """Return a sentence in quotation marks, with a full stop if it has no final punctuation of its own."""
    return f"“{sentence}”" if sentence.rstrip()[-1:] in ".!?…" else f"“{sentence}”."


def reading(special_tokens: bool) -> dict[str, str]:
    """Name for `source` how a text was read; nothing where it was read as the model was trained."""
    return {} if special_tokens else {"special_tokens": texts.NONE_ADDED}


JOINERS = "\u200c\u200d"
"""Invisible, but part of the spelling of Persian words and of emoji sequences."""


def one_line(text: str) -> str:
    """Make a text fit for a comment or caption: line ends, invisible characters and direction marks become spaces."""
    return " ".join("".join(character if character.isprintable() or character in JOINERS else " " for character in text).split())


def file_stem(*parts: str) -> str:
    """Return a file name, without its extension, in characters that every system accepts."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", "-".join(parts))


def title_stem(title: str, about: Source) -> str:
    """Return the file name of what has a title, without its extension."""
    return file_stem(re.sub(r"\W+", "-", title.lower())[:40].strip("-"), str(about.get("model", "no-model")))


def shortened(text: str, max_characters: int) -> str:
    """Return a text, or as many of its first words as fit into `max_characters`, with an ellipsis."""
    written = one_line(text)
    if len(written) <= max_characters:
        return text
    start = written[:max_characters]
    return (start if written[max_characters] == " " else start.rpartition(" ")[0] or start).rstrip() + " …"
