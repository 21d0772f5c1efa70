"""Firefox and WebKit as a test drives them: each understands the commands of WebDriver (W3C) in its own wrapping.

Playwright drives only builds of its own of these two, and Debian ships no geckodriver. Firefox takes the commands by Marionette
(length, colon, JSON over TCP), WebKit's driver by HTTP.
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.request import Request, urlopen

from tests.support.serving import free_port

MINI_BROWSER = "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser"
PATIENCE = 60  # seconds
QUIET = {
    "marionette.port": 0,  # any that is free: written into the profile
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.enabled": False,
}


@dataclass(frozen=True)
class Driver:
    """A browser with one page. send: one command, its HTTP path after the session, and its body; returns the answer's value."""

    send: Callable[[str, str, dict], object]

    def open(self, address: str) -> None:
        self.send("WebDriver:Navigate", "url", {"url": address})

    def run(self, script: str, *values: object) -> object:
        """Return what a script's `return` gives; `arguments` are the values."""
        return self.send("WebDriver:ExecuteScript", "execute/sync", {"script": script, "args": list(values)})

    def wait(self, script: str, *values: object) -> None:
        """Wait until a script returns what is true; raise AssertionError where it does not for a minute."""
        assert self.is_seen(script, *values, seconds=PATIENCE), f"not after {PATIENCE} s: {script} {values}"

    def is_seen(self, script: str, *values: object, seconds: float = 6) -> bool:
        """Return whether a script returns what is true within some seconds."""
        end = time.monotonic() + seconds
        while not self.run(script, *values):
            if time.monotonic() > end:
                return False
            time.sleep(0.25)
        return True

    def press(self, *keys: str) -> None:
        """Press keys one after the other, as on a keyboard."""
        strokes = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        actions = [{"type": "key", "id": "keyboard", "actions": strokes}]
        self.send("WebDriver:PerformActions", "actions", {"actions": actions})


@contextlib.contextmanager
def firefox(folder: Path) -> Iterator[Driver]:
    """Run Debian's Firefox without windows, with a profile in an empty folder."""
    (folder / "user.js").write_text("".join(f'user_pref("{name}", {json.dumps(value)});\n' for name, value in QUIET.items()))
    command = [require("firefox-esr"), "--headless", "--marionette", "--no-remote", "--profile", str(folder)]
    with running(command, os.environ | {"MOZ_HEADLESS_WIDTH": "1280", "MOZ_HEADLESS_HEIGHT": "900"}):
        port = eventually(lambda: int((folder / "MarionetteActivePort").read_text()))
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection, connection.makefile("rb") as answers:

            def read() -> list:
                length = b""
                while (sign := answers.read(1)) != b":":
                    length += sign
                return json.loads(answers.read(int(length)))

            def send(command: str, _: str, body: dict) -> object:
                message = json.dumps([0, 1, command, body]).encode()
                connection.sendall(b"%d:%s" % (len(message), message))
                _, _, problem, value = read()
                assert problem is None, problem
                return value["value"] if isinstance(value, dict) and "value" in value else value

            read()  # its greeting
            send("WebDriver:NewSession", "", {})
            yield Driver(send)


@contextlib.contextmanager
def webkit() -> Iterator[Driver]:
    """Run WebKitGTK's small browser on a screen that nobody sees."""
    with running([require("Xvfb"), "-displayfd", "1", "-screen", "0", "1400x1000x24", "-nolisten", "tcp"], None) as screen:
        display = f":{screen.stdout.readline().decode().strip()}"
        port = free_port()
        with running([require("WebKitWebDriver"), f"--port={port}"], os.environ | {"DISPLAY": display, "NO_AT_BRIDGE": "1"}):

            def request(method: str, path: str, body: dict) -> object:
                data = json.dumps(body).encode() if method == "POST" else None
                headers = {"Content-Type": "application/json"}
                asked = Request(f"http://127.0.0.1:{port}/session{path}", data, headers, method=method)
                with urlopen(asked, timeout=PATIENCE) as answer:
                    return json.load(answer)["value"]

            options = {"binary": require(MINI_BROWSER), "args": ["--automation"]}
            wanted = {"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}}
            session = f"/{eventually(lambda: request('POST', '', wanted))['sessionId']}"
            yield Driver(lambda _, path, body: request("POST", f"{session}/{path}", body))
            request("DELETE", session, {})


@contextlib.contextmanager
def running(command: list[str], environment: dict[str, str] | None) -> Iterator[subprocess.Popen]:
    """Run a process until the end of the block."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(PATIENCE)
        process.stdout.close()


def require(program: str) -> str:
    """Return where a program is; raise LookupError where it is not installed."""
    if found := shutil.which(program):
        return found
    raise LookupError(f"{program} is not installed")


def eventually(get: Callable[[], object]) -> object:
    """Return what `get` returns as soon as it raises no OSError and no ValueError."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return get()
        except (OSError, ValueError):
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
