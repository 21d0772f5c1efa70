"""The glossary, of assets/glossary.json: terms that explain one another, in groups, and views that show them.

A browser fetches the terms once and explains them where a page uses them first (assets/canvas/terms).
"""

import json
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from pages.ui.shell import texts
from tx_core.settings import ASSETS


@dataclass(frozen=True)
class Term:
    """A term of the field and its meaning, in Markdown: text of ours, never a visitor's.

    everyday: names of it that are words of everyday language, too: not underlined, since a page may mean those.
    """

    name: str
    meaning: str
    everyday: tuple[str, ...] = ()

    @property
    def marked_names(self) -> list[str]:
        """The names that are underlined where a page uses them first."""
        return [name for name in self.name.split(", ") if name not in self.everyday]


@dataclass(frozen=True)
class Group:
    """Terms that explain one another, and views that show them: pages, each with the settings of its address."""

    title: str
    terms: tuple[Term, ...]
    views: dict[str, dict[str, str]]


GROUPS = tuple(
    Group(group["title"], tuple(Term(**term) for term in group["terms"]), group["views"])
    for group in json.loads((ASSETS / "glossary.json").read_text("utf-8"))
)


async def answer_glossary(_request: Request) -> JSONResponse:
    """Serve every term with its meaning, and what stands around it."""
    terms = [{"names": term.marked_names, "meaning": term.meaning} for group in GROUPS for term in group.terms]
    words = {"explain": texts.EXPLAIN_TERM, "all": texts.ALL_TERMS, "close": texts.CLOSE_TERM}
    return JSONResponse({"terms": terms, "texts": words}, headers={"Cache-Control": "max-age=600"})


GLOSSARY_ROUTE = Route("/glossary.json", answer_glossary)
