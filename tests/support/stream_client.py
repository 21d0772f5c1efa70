"""A visitor without a browser: a client of Streamlit's websocket, for load and hostile input. It talks to this machine only."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from urllib.parse import urlsplit
from uuid import uuid4

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Block_pb2 import Block
from streamlit.proto.Common_pb2 import FileUploaderState, UploadedFileInfo
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MAX_RUN_SECONDS = 120
FINISHED = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)


@dataclass
class Visitor:
    """One session: what the page has sent, by the path in it, and the state of its widgets, by their ids.

    Attributes:
        query: Query string of the address, without a question mark.
        page_hash: Streamlit's name of the page that was run last.
        session: Streamlit's name of this session.
        fragments: Streamlit's names of the parts of the page that run by themselves, by the path of an element in them.
        stale: What the run at hand has not sent again; it is gone when that run ends.
        pressed: Buttons that are pressed with the next run.
        received, messages: Bytes and messages received so far.
    """

    socket: websockets.ClientConnection
    query: str = ""
    page_hash: str = ""
    elements: dict[tuple[int, ...], Element] = field(default_factory=dict)
    blocks: dict[tuple[int, ...], Block] = field(default_factory=dict)
    session: str = ""
    states: dict[str, WidgetState] = field(default_factory=dict)
    fragments: dict[tuple[int, ...], str] = field(default_factory=dict)
    stale: set[tuple[int, ...]] = field(default_factory=set)
    pressed: dict[str, WidgetState] = field(default_factory=dict)
    received: int = 0
    messages: int = 0

    async def run(self, page: str = "", fragment: str = "") -> None:
        """Ask for a run of a page, else of that shown last, or of a part of it, and read until it has finished."""
        await self.ask(page, fragment)
        async with asyncio.timeout(MAX_RUN_SECONDS):
            while not await self.read():
                pass

    async def ask(self, page: str = "", fragment: str = "") -> None:
        """Ask for a run as `run` does, without waiting for it."""
        message = BackMsg()
        message.rerun_script.query_string = self.query
        message.rerun_script.page_script_hash = "" if page else self.page_hash
        message.rerun_script.page_name = page
        message.rerun_script.fragment_id = fragment
        message.rerun_script.widget_states.widgets.extend([*self.states.values(), *self.pressed.values()])
        self.pressed.clear()
        await self.socket.send(message.SerializeToString())

    async def read(self) -> bool:
        """Read one message. True where it ends a run of the page or of a part of it."""
        data = await self.socket.recv()
        self.received += len(data)
        self.messages += 1
        message = ForwardMsg.FromString(data)
        kind = message.WhichOneof("type")
        if kind == "navigation":  # a first run knows only now which page its address names
            self.page_hash = message.navigation.page_script_hash
        if kind == "new_session":
            self.page_hash = message.new_session.page_script_hash
            self.session = message.new_session.initialize.session_id or self.session
            parts = message.metadata.run.fragment_ids
            self.stale = {path for path in {**self.elements, **self.blocks} if not parts or self.fragments.get(path) in parts}
        if kind == "delta":
            self.take(tuple(message.metadata.delta_path), message.delta)
        ended = kind == "script_finished" and message.script_finished in FINISHED
        if ended:
            for path in self.stale:
                self.elements.pop(path, None)
                self.blocks.pop(path, None)
        return ended

    def take(self, path: tuple[int, ...], delta: Delta) -> None:
        """Put what a run has sent in its place on the page."""
        self.stale.discard(path)
        self.fragments[path] = delta.fragment_id
        if delta.WhichOneof("type") == "new_element":
            self.elements[path] = delta.new_element
            self.blocks.pop(path, None)
        elif delta.WhichOneof("type") == "add_block":
            self.blocks[path] = delta.add_block
            self.elements.pop(path, None)

    def widget(self, label: str, *kinds: str) -> tuple[str, str]:
        """Return the id of a widget and the part of the page that it runs. Raises LookupError where there is none."""
        for path, element in self.elements.items():
            kind = element.WhichOneof("type")
            if kind in kinds and getattr(element, kind).label == label:
                return getattr(element, kind).id, self.fragments.get(path, "")
        raise LookupError(f"the page has no {kinds[0]} {label}")

    def type_into(self, label: str, text: str) -> str:
        """Set the text of the box with this label for the next run; return the name of the part of the page that it runs."""
        name, part = self.widget(label, "text_input", "text_area")
        self.states[name] = WidgetState(id=name, string_value=text)
        return part

    def press(self, label: str) -> str:
        """Press the button with this label in the next run; return the name of the part of the page that it runs."""
        name, part = self.widget(label, "button")
        self.pressed[name] = WidgetState(id=name, trigger_value=True)
        return part

    def ask_stage(self, trigger: str, value: dict) -> None:
        """Report something of the page's stage in the next run, as the browser does."""
        component = next(one.bidi_component for one in self.elements.values() if "stage_" in one.bidi_component.component_name)
        name = f"$$STREAMLIT_INTERNAL_KEY_{component.id}__events"
        self.pressed[name] = WidgetState(id=name, json_trigger_value=json.dumps([{"event": trigger, "value": value}]))

    def put_file(self, url: str, name: str, data: bytes) -> int:
        """Send a file, and put it into the page's box for files for the next run; return the status of the answer."""
        box = next(one.file_uploader for one in self.elements.values() if one.WhichOneof("type") == "file_uploader")
        server, file_id = urlsplit(url), str(uuid4())
        connection = HTTPConnection(server.hostname, server.port, timeout=MAX_RUN_SECONDS)
        connection.request("GET", f"{server.path}/_stcore/health")
        cookie = connection.getresponse().getheader("set-cookie", "").partition(";")[0]
        connection.close()
        before = f'--{file_id}\r\nContent-Disposition: form-data; name="f"; filename="{name}"\r\n\r\n'
        connection.request(
            "PUT",
            f"{server.path}/_stcore/upload_file/{self.session}/{file_id}",
            before.encode() + data + f"\r\n--{file_id}--\r\n".encode(),
            {
                "Content-Type": f"multipart/form-data; boundary={file_id}",
                "Cookie": cookie,
                "X-Xsrftoken": cookie.partition("=")[2],
            },
        )
        status = connection.getresponse().status
        connection.close()
        info = UploadedFileInfo(name=name, size=len(data), file_id=file_id)
        self.states[box.id] = WidgetState(id=box.id, file_uploader_state_value=FileUploaderState(uploaded_file_info=[info]))
        return status

    def drawings(self) -> bytes:
        """Return the data of every drawing of ours on the page, one behind the other."""
        kind = "bidi_component"
        return b"".join(each.SerializeToString() for each in self.elements.values() if each.WhichOneof("type") == kind)


@asynccontextmanager
async def visit(url: str, page: str = "", query: str = "") -> AsyncIterator[Visitor]:
    """Open a session at a server on this machine and run a page once.

    Raises:
        ValueError: The address is not of this machine.
    """
    address = urlsplit(url)
    if address.hostname not in LOOPBACK:
        raise ValueError(f"only this machine may be visited, got {address.hostname}")
    endpoint = f"ws://{address.netloc}{address.path.rstrip('/')}/_stcore/stream"
    async with websockets.connect(endpoint, subprotocols=["streamlit"], max_size=None) as socket:
        visitor = Visitor(socket, query)
        await visitor.run(page)
        yield visitor
