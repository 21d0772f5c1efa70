"""On the pages that build a transformer a change of a control sends what follows it and nothing else: that keeps it quick."""

from base64 import b64decode

import pytest
from playwright.sync_api import expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.support.seen import PATIENCE, answered, linked, main, picture


@pytest.mark.parametrize(
    ("path", "option", "written", "most"),
    [
        ("/masks?part=one", "Window", {"kind": "window"}, 16),
    ],
)
def test_a_change_of_a_control_sends_few_elements(page_at, path, option, written, most):
    page = page_at(path)
    expect(picture(page, ".")).to_be_visible(timeout=PATIENCE)
    answered(page)
    browser, kinds = page.context.new_cdp_session(page), []

    def note(frame: dict) -> None:
        message = ForwardMsg.FromString(b64decode(frame["response"]["payloadData"]))
        kinds.append(message.WhichOneof("type"))

    browser.send("Network.enable")
    browser.on("Network.webSocketFrameReceived", note)
    main(page).get_by_role("radio", name=option, exact=True).first.click()
    linked(page, **written)
    answered(page)
    browser.detach()
    assert 0 < kinds.count("delta") <= most
