"""What travels to the models is records and arrays and nothing else; where nobody answers, a sentence says so."""

import logging
import os
import pickle
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pages.ui.shell import readiness
from pages.ui.shell.readiness import Status, Warmup, load_default
from tests.support.serving import ROOT, free_port, wait_until
from tx_core.corpus.batches import label_batch
from tx_core.corpus.measure_weights import measure_batch
from tx_core.corpus.statistics import HeadMeasures
from tx_core.engine import catalogue, remote
from tx_core.engine.remote import (
    ATTEMPTS,
    BACKPRESSURE,
    FAILED,
    FAILURE_HEADER,
    NOT_FOUND,
    NOT_REACHED,
    ask,
    read_message,
    write_message,
)
from tx_core.engine.threads import BUSY
from tx_core.errors import Busy, ChangeProblem, ModelUnavailable, TextProblem
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import ALL_PARTS, Trace

TEXT = "The old cat sat on the mat"
NUMBERS = st.one_of(arrays.boolean_dtypes(), arrays.integer_dtypes(), arrays.floating_dtypes())
Answer = tuple[int, dict[str, str], bytes]


@given(arrays.arrays(NUMBERS, arrays.array_shapes(min_dims=0, min_side=0, max_side=5)), st.booleans())
def test_arrays_travel_bit_by_bit_whatever_their_type_shape_and_order(array: np.ndarray, transposed: bool):
    array = array.T if transposed else array
    there = read_message(write_message((array, "text")))[0]
    assert (there.dtype, there.shape, there.tobytes()) == (array.dtype, array.shape, array.tobytes())


def test_a_trace_travels_whole_and_stays_read_only():
    trace = catalogue.load(catalogue.DEFAULT).trace(TEXT, keep=ALL_PARTS, interventions=[Intervention("off", 1, 2)])
    there = read_message(write_message(trace))
    assert isinstance(there, Trace)
    assert (there.attention.query_tokens, there.interventions) == (trace.attention.query_tokens, trace.interventions)
    np.testing.assert_array_equal(there.attention.weights, trace.attention.weights)
    assert not there.attention.weights.flags.writeable


def test_a_tokenizer_arrives_and_reads_as_before():
    tokenizer = catalogue.load(catalogue.DEFAULT).tokenizer
    assert tokenizer.without_special_tokens.encode(TEXT) != tokenizer.encode(TEXT)
    there = read_message(write_message(tokenizer))
    assert there.encode(TEXT) == tokenizer.encode(TEXT)
    assert there.without_special_tokens.encode(TEXT) == tokenizer.without_special_tokens.encode(TEXT)


@pytest.mark.parametrize(
    "problem", [TextProblem("shorten it"), ChangeProblem("no layer"), Busy(BUSY), ValueError("keep")], ids=repr
)
def test_an_error_arrives_with_its_class_and_its_words(problem: Exception):
    there = read_message(write_message(problem))
    assert (type(there), str(there)) == (type(problem), str(problem))


class Payload:
    """Pickles as a call of whatever it is given."""

    def __init__(self, function: Callable, *arguments: object):
        self.call = function, arguments

    def __reduce__(self) -> tuple:
        return self.call


def framed(head: bytes) -> bytes:
    """Write a pickle as `write_message` frames it."""
    plain = write_message(None)
    return len(head).to_bytes(8, "little").join([plain[:8], bytes(48)]) + head


MARK = "/tmp/forged-message-was-here"
HOSTILE = {
    "a command": pickle.dumps(Payload(os.system, f"touch {MARK}")),
    "Python": pickle.dumps(Payload(eval, f"open({MARK!r}, 'w')")),
    "a file": pickle.dumps(Payload(open, MARK, "w")),
    "a process": pickle.dumps(Payload(subprocess.Popen, ["touch", MARK])),
    "torch's own way": pickle.dumps(torch.zeros(3)),
    "a function of the core": pickle.dumps(catalogue.load),
    "a class that is no record": pickle.dumps(catalogue.HubReach),
    "what a module of the core imports": b"\x80\x04\x8c\x14tx_core.engine.remote\x94\x8c\x0dimport_module\x94\x93.",
    "a name with a dot": b"\x80\x04\x8c\x19tx_core.engine.catalogue\x94\x8c\x0bjson.loads\x94\x93.",
    "a module that is not there": b"ctx_core.nowhere\nThing\n.",
    "an attribute of a class": b"\x80\x04ctx_core.transformer.trace\nTrace\n}\x8c\x06forgedNs\x86b.",
    "the attributes of a class": b"\x80\x04ctx_core.transformer.trace\nTrace\nN}\x8c\x06forgedNs\x86b.",
    "an attribute of a function": b"\x80\x04ctx_core.corpus.measure_weights\nmeasure_batch\n}\x8c\x06forgedNsb.",
    "a call of a measure": b"\x80\x04ctx_core.corpus.measure_weights\nmeasure_batch\n)R.",
    "a call of a partial": pickle.dumps(Payload(partial(os.system, f"touch {MARK}"))),
    "a call of a record": b"\x80\x04ctx_core.transformer.trace\nTrace\n)R.",
    "an instance of protocol 0": b"(itx_core.errors\nBusy\n.",
    "named arguments": b"\x80\x04ctx_core.errors\nBusy\n)}\x92.",
    "an extension": b"\x80\x04\x82\x01.",
    "a code that is none": b"\x80\x04\xff.",
    "what is too deep": b"\x80\x04" + b"(" * 10 + b"t" * 20 + b".",
    "too much memory": pickle.dumps(Payload(np.ndarray, (10**15,))),
    "nothing": b"",
    "noise": bytes(range(256)),
}


@pytest.mark.parametrize("head", HOSTILE.values(), ids=HOSTILE)
def test_a_forged_message_is_refused_and_runs_nothing(head: bytes):
    assert read_message(framed(pickle.dumps("text"))) == "text"
    for message in (framed(head), head):
        with pytest.raises(ValueError, match="message"):
            read_message(message)
    assert not os.path.exists(MARK)
    assert not hasattr(Trace, "forged") and not hasattr(measure_batch, "forged")


def test_what_is_said_of_a_forged_message_quotes_nothing_of_it():
    secret = "words of a visitor"
    for head in (pickle.dumps(Payload(getattr, secret, "x")), f"ctx_core.{secret}\nThing\n.".encode()):
        with pytest.raises(ValueError, match="message") as raised:
            read_message(framed(head))
        assert secret not in str(raised.value)


def test_large_arrays_are_not_read_byte_by_byte():
    arrays_sent = [np.ones(20_000_000, np.float32), np.ones((4000, 5000), np.float32).T]
    message = write_message(arrays_sent)
    began = time.process_time()
    there = read_message(message)
    assert time.process_time() - began < 0.05
    assert all(np.shares_memory(one, np.frombuffer(message, np.uint8)) for one in there)


@given(st.data())
def test_a_message_that_is_cut_off_is_refused(data: st.DataObject):
    message = write_message({"weights": np.arange(100.0), "text": TEXT})
    with pytest.raises(ValueError, match="message"):
        read_message(message[: data.draw(st.integers(0, 2 * len(message) // 3))])


def test_neither_functions_nor_tensors_can_be_sent_but_records_that_can_be_called():
    labels = label_batch([catalogue.load(catalogue.DEFAULT).encode(TEXT)])
    there = read_message(write_message(HeadMeasures(labels)))
    assert isinstance(there, HeadMeasures)
    np.testing.assert_array_equal(there.labels.targets, labels.targets)
    for other in (lambda layers: layers, partial(print, "x"), os.system, torch.zeros(3)):
        with pytest.raises(ValueError, match="records and arrays"):
            write_message(other)


@pytest.fixture
def answering(host: Callable[..., None]) -> Iterator[Callable[[Sequence[Answer | None]], list[bytes]]]:
    """Set this process to ask a server that gives these answers in turn, None for a connection that breaks."""
    servers = []

    def start(answers: Sequence[Answer | None]) -> list[bytes]:
        left, received = list(answers), []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                received.append(self.rfile.read(int(self.headers["Content-Length"])))
                if (answer := left.pop(0)) is None:
                    return self.connection.close()
                self.send_response(answer[0])
                for name, value in (answer[1] | {"Content-Length": str(len(answer[2]))}).items():
                    self.send_header(name, value)
                self.end_headers()
                return self.wfile.write(answer[2])

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        servers.append((server, thread))
        host(engine="ray", ray_address=f"http://127.0.0.1:{server.server_port}")
        return received

    yield start
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


DONE: Answer = (200, {}, write_message("done"))
DIED: Answer = (500, {}, b"Internal Server Error")


@pytest.mark.parametrize("broken", [[DIED], [None], [DIED, None], [(503, {}, b"")]], ids=["died", "cut off", "both", "not there"])
def test_a_computation_that_dies_is_asked_for_again(answering, broken: list[Answer | None]):
    received = answering([*broken, DONE])
    assert ask("embedded", "trace", text=TEXT) == "done"
    assert len(received) == len(broken) + 1 <= ATTEMPTS
    assert len(set(received)) == 1


def test_one_that_dies_every_time_gets_a_sentence(answering):
    received = answering([DIED] * ATTEMPTS)
    with pytest.raises(ModelUnavailable, match=NOT_REACHED):
        ask("embedded", "trace", text=TEXT)
    assert len(received) == ATTEMPTS


def test_what_takes_too_long_is_not_asked_for_again(host, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(remote, "ANSWER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host(engine="ray", ray_address=f"http://127.0.0.1:{silent.getsockname()[1]}", slot_timeout_seconds=0)
        with pytest.raises(ModelUnavailable, match=NOT_REACHED) as raised:
            ask("embedded", "trace", text=TEXT)
        assert remote.host_settings().ray_address in str(raised.value.__cause__)  # what the log tells the host
        silent.settimeout(0.2)
        silent.accept()[0].close()
        with pytest.raises(TimeoutError):
            silent.accept()


def test_a_queue_that_is_full_is_said_as_in_the_process_and_at_once(answering):
    received = answering([(BACKPRESSURE, {}, b"")])
    with pytest.raises(Busy, match=BUSY):
        ask("embedded", "trace", text=TEXT)
    assert len(received) == 1


def test_a_failure_of_the_code_is_not_asked_for_again(answering):
    received = answering([(500, {FAILURE_HEADER: "KeyError"}, b"")])
    with pytest.raises(RuntimeError) as raised:
        ask("embedded", "trace", text=TEXT)
    assert (str(raised.value), len(received)) == (FAILED.format(kind="KeyError"), 1)


def test_the_next_address_is_asked_when_one_does_not_answer(answering, host, monkeypatch):
    monkeypatch.setattr(remote, "CONNECT_SECONDS", 100.0)
    answering([DONE])
    there = remote.host_settings().ray_address
    host(engine="ray", ray_address=f"http://127.0.0.1:{free_port()} {there}")
    began = time.monotonic()
    assert ask("embedded", "trace", text=TEXT) == "done"
    assert time.monotonic() - began < remote.CONNECT_SECONDS


@pytest.fixture
def unreachable(host: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> str:
    """Set this process to ask an address where nobody answers; give the address."""
    address = f"http://127.0.0.1:{free_port()}"
    host(engine="ray", ray_address=address)
    monkeypatch.setattr(remote, "PAUSE_SECONDS", 0.01)
    return address


def test_an_address_where_nobody_answers_is_one_line_of_the_log_and_a_sentence(unreachable, caplog):
    warmup = Warmup(load_default)
    with caplog.at_level(logging.ERROR):
        warmup.attempt()
        warmup.attempt()
    assert (warmup.status.state, warmup.status.reason) == ("failed", NOT_REACHED)
    (record,) = caplog.records
    assert unreachable in record.getMessage() and "\n" not in record.getMessage()
    assert record.exc_info is None


def test_an_address_of_something_else_is_named(answering, caplog):
    answering([(404, {}, b"")] * ATTEMPTS)
    with caplog.at_level(logging.ERROR):
        Warmup(load_default).attempt()
    assert NOT_FOUND.format(address=remote.host_settings().ray_address) in caplog.records[0].getMessage()


def states_after(outcomes: Sequence[Status | Exception], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Watch models that answer so, one outcome after another; give the states that /api/ready tells."""
    monkeypatch.setattr(readiness, "RETRY_SECONDS", 0.0)
    coming, states = list(outcomes), []

    def load() -> Status:
        states.append(warmup.status.state)
        outcome = coming.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    warmup = Warmup(load, lambda: bool(coming))
    warmup.start().join(120)
    wait_until(lambda: len(states) == len(outcomes), 120, "all attempts")
    wait_until(lambda: not any(thread.name == "model-watch" for thread in threading.enumerate()), 120, "the end of the watch")
    return [*states, warmup.status.state]


READY = Status("ready", "A model", "cpu")


@pytest.mark.parametrize("problem", [ModelUnavailable(NOT_REACHED), RuntimeError("nobody foresaw it"), OSError(), Busy(BUSY)])
def test_models_that_come_later_are_found_whatever_went_wrong_before(problem: Exception, monkeypatch: pytest.MonkeyPatch):
    assert states_after([problem, problem, READY], monkeypatch) == ["warming up", "failed", "failed", "ready"]


def test_an_outage_of_the_models_is_followed_and_said_once_each_time(monkeypatch: pytest.MonkeyPatch, caplog):
    gone = ModelUnavailable(NOT_REACHED)
    with caplog.at_level(logging.ERROR):
        found = states_after([READY, READY, gone, gone, READY, gone], monkeypatch)
    assert found == ["warming up", "ready", "ready", "failed", "failed", "ready", "failed"]
    assert len(caplog.records) == 2


def test_models_that_are_busy_are_no_outage(monkeypatch: pytest.MonkeyPatch):
    assert states_after([READY, Busy(BUSY), Busy(BUSY)], monkeypatch)[1:] == ["ready"] * 3


def test_a_page_says_that_the_models_are_not_reached_keeps_what_was_typed_and_offers_to_try_again(unreachable, open_app, host):
    app = open_app("attention", text="A sentence of mine")
    assert not app.exception
    assert NOT_REACHED in " ".join(box.value for box in (*app.warning, *app.error, *app.markdown, *app.text))
    assert app.text_input(key="attention_text").value == "A sentence of mine"
    host(engine="process")
    app.button(key="attention_model_again").click().run()
    assert not app.exception and NOT_REACHED not in " ".join(line.value for line in app.text)
    assert app.text_input(key="attention_text").value == "A sentence of mine"


@pytest.mark.parametrize("engine", ["process", "ray"])
def test_no_package_of_ray_is_imported_by_the_app(engine: str):
    script = (
        "import sys, app\nfrom pages.ui.shell.readiness import default_engine\n"
        "default_engine.attempt()\nprint(default_engine.status.state, 'ray' in sys.modules)"
    )
    settings = {"TX_ENGINE": engine, "TX_RAY_ADDRESS": f"http://127.0.0.1:{free_port()}"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=os.environ | settings, capture_output=True, text=True, timeout=240
    )
    assert done.stdout.split() == [{"process": "ready", "ray": "failed"}[engine], "False"], done.stderr
    assert "Traceback" not in done.stderr
