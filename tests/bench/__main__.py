"""Measure the design's numbers on this machine: `python -m tests.bench` prints the table of tests/bench/README.md."""

import app  # noqa: F401 - it sets this process as the app sets its own
from tests.bench import browser, classes, core, memory, neighbours, orders, ray_models, sentences, visitors
from tests.bench.table import markdown

PARTS = (browser, core, sentences, visitors, ray_models, neighbours, orders, classes, memory)
print(markdown([row for part in PARTS for row in part.rows()]))
