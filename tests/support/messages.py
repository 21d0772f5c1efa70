"""Sentences of the shell as a test expects them on a page."""

from pages.ui.shell import texts

HINT_ELSEWHERE = texts.HINT_ELSEWHERE.partition("{")[0].partition("**")[2]
"""How the hint begins on the screen where its view is not shown."""
TOO_LONG_TO_SHARE = texts.LINK_TOO_LONG_TO_SHARE.partition("{")[0]
"""How the message about a link that is too long begins."""

UNKNOWN = texts.UNKNOWN_PARAMETERS.partition("{")[0]
"""How the message about a link with nonsense begins."""


def unknown_parameters(*names: str) -> str:
    """The message about these parameters of a link."""
    return texts.UNKNOWN_PARAMETERS.format(names=", ".join(names))
