"""The page of self-attention as browser tests use it: opened with its matrices painted, and a cell of them clicked."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

AT = "/self_attention?text=time+flies+like+an+arrow&layer=1&head=8&cell=matches-4-3"


def open_at(page_at: Callable[..., Page], path: str = AT, **options: object) -> Page:
    """Open the page and wait until its matrices are painted."""
    page = page_at(path, **options)
    expect(page.get_by_test_id("matrix-row").last).to_have_attribute("data-paints", re.compile(r"\d"), timeout=30_000)
    return page


def click_cell(page: Page, name: str, row: int, column: int) -> None:
    """Click a cell of a matrix, counted from 0."""
    canvas = page.get_by_test_id(f"matrix-{name}").first
    expect(canvas).to_have_attribute("data-cell", re.compile(r"\d"))
    cell, wide, top = (float(canvas.get_attribute(f"data-{what}")) for what in ("cell", "wide", "top"))
    canvas.click(position={"x": 3 + (column + 0.5) * wide, "y": top + (row + 0.5) * cell})


def linked(page: Page, words: str) -> None:
    """Wait until the address says so."""
    page.wait_for_url(re.compile(f"[?&]{words}(&|$)"))
