"""Measure the design's numbers on this machine: `python -m tests.bench` prints the table of tests/bench/README.md."""

import app  # noqa: F401 - it sets this process as the app sets its own
from tests.bench import browser, build_pages, classes, core, sentences, visitors
from tests.bench.table import markdown

print(markdown([*browser.rows(), *build_pages.rows(), *core.rows(), *sentences.rows(), *visitors.rows(), *classes.rows()]))
