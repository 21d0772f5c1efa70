"""A computation that dies elsewhere is asked for again; where nobody answers, a sentence says so."""

import logging
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pages.ui.shell import readiness
from pages.ui.shell.readiness import Status, Warmup, load_default
from tests.support.serving import free_port, wait_until
from tx_core.engine.remote import client
from tx_core.engine.remote.client import ATTEMPTS, FAILED, NOT_REACHED, ask
from tx_core.engine.remote.messages import BACKPRESSURE, FAILURE_HEADER, write_message
from tx_core.engine.threads import BUSY
from tx_core.errors import Busy, ModelUnavailable

TEXT = "The old cat sat on the mat"
Answer = tuple[int, dict[str, str], bytes]


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
    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host(engine="ray", ray_address=f"http://127.0.0.1:{silent.getsockname()[1]}", slot_timeout_seconds=0)
        with pytest.raises(ModelUnavailable, match=NOT_REACHED) as raised:
            ask("embedded", "trace", text=TEXT)
        assert client.host_settings().ray_address in str(raised.value.__cause__)  # what the log tells the host
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


def test_the_next_address_is_tried_when_one_does_not_answer(answering, host):
    answering([DONE])
    host(engine="ray", ray_address=f"http://127.0.0.1:{free_port()} {client.host_settings().ray_address}")
    assert ask("embedded", "trace", text=TEXT) == "done"


@pytest.fixture
def unreachable(host: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> str:
    address = f"http://127.0.0.1:{free_port()}"
    host(engine="ray", ray_address=address)
    monkeypatch.setattr(client, "PAUSE_SECONDS", 0.01)
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


def test_an_outage_of_the_models_is_followed_and_said_once_each_time(monkeypatch: pytest.MonkeyPatch, caplog):
    gone = ModelUnavailable(NOT_REACHED)
    with caplog.at_level(logging.ERROR):
        found = states_after([READY, READY, gone, gone, READY, gone], monkeypatch)
    assert found == ["warming up", "ready", "ready", "failed", "failed", "ready", "failed"]
    assert len(caplog.records) == 2
