"""Forward passes of several visitors in shared batches, against one after another in free threads."""

import random
import threading
import time
from dataclasses import replace
from typing import NamedTuple

from tests.bench.table import Row
from tests.bench.visitors import WORDS
from tx_core.engine import catalogue
from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.device import DeviceRunner
from tx_core.transformer.bert import random_bert

BASE = {"hidden_size": 768, "num_layers": 12, "num_heads": 12, "intermediate_size": 3072}
"""The sizes of BERT base."""

CALLERS = (1, 4, 16)
ROUNDS = 2


class Rate(NamedTuple):
    """Calls a second, processor time of one in milliseconds, and the time of 95 % of them in milliseconds."""

    calls: float
    processor: float
    late: float


def rate(engine: BertEngine, callers: int, seconds: float, *, shared: bool) -> Rate:
    """Trace sentences of 6 to 14 words, each for as long as the others."""
    end, times = time.monotonic() + seconds, []

    def call(number: int) -> None:
        chance = random.Random(number)
        while time.monotonic() < end:
            begun = time.monotonic()
            # A runner of its own shares with nobody.
            one = engine if shared else replace(engine, runner=DeviceRunner(engine.model, "cpu"))
            one.trace(" ".join(chance.choice(WORDS) for _ in range(chance.randint(6, 14))))
            times.append(time.monotonic() - begun)

    used, begun = time.process_time(), time.monotonic()
    threads = [threading.Thread(target=call, args=[number]) for number in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    passed, used = time.monotonic() - begun, time.process_time() - used
    return Rate(len(times) / passed, 1000 * used / len(times), 1000 * sorted(times)[int(0.95 * len(times))])


def rows(seconds: float = 4) -> list[Row]:
    """Compare both ways in turns, with the embedded model and with one of BERT base's size and random weights."""
    embedded = catalogue.load(catalogue.DEFAULT)
    model = random_bert(replace(embedded.model.config, **BASE), 0).requires_grad_(False)
    large = BertEngine("large", "large", embedded.tokenizer, model, DeviceRunner(model, "cpu"))
    return [
        row(name, engine, callers, seconds) for name, engine in (("embedded", embedded), ("base", large)) for callers in CALLERS
    ]


def row(name: str, engine: BertEngine, callers: int, seconds: float) -> Row:
    """Measure one number of callers, the best of a few rounds of each way."""
    rounds = [[rate(engine, callers, seconds, shared=shared) for shared in (False, True)] for _ in range(ROUNDS)]
    free, shared = (max(found, key=lambda one: one.calls) for found in zip(*rounds, strict=True))
    measured = (
        f"{free.calls:.1f} / {shared.calls:.1f} calls a second, {free.processor:.1f} / {shared.processor:.1f} ms of processor "
        f"each, {free.late:.0f} / {shared.late:.0f} ms at 95 %"
    )
    return Row(f"{callers} callers at once, {name} model: free threads / shared batches", measured, "", True)
