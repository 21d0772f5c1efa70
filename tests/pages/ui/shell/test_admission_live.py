"""A full server: who waits reads why, and comes in once there is a place."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from pages.contents import PAGES
from pages.ui.shell import texts
from tests.support.apart import run_apart
from tests.support.serving import ROOT, WITHOUT_MODELS, serving
from tests.support.stream_client import Visitor, visit

pytestmark = pytest.mark.ci
LESSONS = next(page for page in PAGES if page.key == "learn")


@pytest.fixture
def limited(tmp_path: Path) -> Callable[..., AbstractContextManager[str]]:
    """Start a server with limits, which computes nothing: `with limited(TX_MAX_VISITORS="1") as url`."""
    return lambda **variables: serving(ROOT, tmp_path / "log.txt", **WITHOUT_MODELS, **variables)


def titles(visitor: Visitor) -> list[str]:
    return [one.heading.body for one in visitor.elements.values() if one.WhichOneof("type") == "heading"]


def test_a_visitor_beyond_the_limit_reads_why_and_sees_the_page_when_there_is_a_place(limited):
    async def come(url: str) -> None:
        async with visit(url, LESSONS.key) as first:
            assert titles(first)[0] == LESSONS.question
            async with visit(url, LESSONS.key) as second:
                said = " ".join(str(one) for one in second.elements.values())
                assert titles(second) == [texts.PLEASE_WAIT]
                assert texts.SERVER_FULL_OF_ONE in said
                await first.socket.close()
                async with asyncio.timeout(120):
                    while titles(second)[0] != LESSONS.question:
                        await second.run()  # of the page that was asked for, as the browser does every few seconds

    with limited(TX_MAX_VISITORS="1") as url:
        run_apart(come(url))
