"""On the pages that build a transformer a change of a control sends what follows it and nothing else: that keeps it quick."""

import re
from base64 import b64decode
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg


def press(name: str) -> Callable[[Page], None]:
    return lambda page: page.get_by_role("slider", name=name).press("ArrowRight")


def choose(name: str) -> Callable[[Page], None]:
    return lambda page: page.get_by_role("radio", name=name, exact=True).first.click()


def choose_head(page: Page) -> None:
    page.locator("[data-layer='0'][data-head='1']").first.click()


@pytest.mark.parametrize(
    ("path", "change", "linked", "most"),
    [
        ("/self_attention", press("Dimensions drawn"), "dimensions=7", 4),
        ("/self_attention", choose("Sparse"), "normalise=sparsemax", 21),
        ("/heads_and_blocks", choose("2"), "layer=2", 16),
        ("/masks?part=one", choose("Window"), "kind=window", 16),
        ("/positions", press("Length: positions"), "length=49", 19),
        ("/positions", choose("ALiBi"), "scheme=alibi", 18),
        ("/bert?part=random", choose_head, "head=2", 21),
    ],
)
def test_a_change_of_a_control_sends_few_elements(view_at, settle, path, change, linked, most):
    page = view_at(path)
    expect(page.locator("[data-paints]").last).to_have_attribute("data-paints", re.compile(r"\d"), timeout=60_000)
    browser, kinds = page.context.new_cdp_session(page), []

    def note(frame: dict) -> None:
        message = ForwardMsg.FromString(b64decode(frame["response"]["payloadData"]))
        kinds.append(message.WhichOneof("type"))

    browser.send("Network.enable")
    browser.on("Network.webSocketFrameReceived", note)
    change(page)
    page.wait_for_url(re.compile(f"[?&]{linked}(&|$)"))
    settle(page)
    browser.detach()
    assert 0 < kinds.count("delta") <= most
