"""What the stage of a page was sent, for tests that look at a page without a browser."""

import json

import numpy as np
from streamlit.testing.v1 import AppTest

from tests.support.drawings import OURS, unpacked

STAGE, BELOW = f"{OURS}stage_", f"{OURS}below_"
"""How the names of a page's stage and of the pictures below it begin."""


def staged(app: AppTest) -> dict:
    """The header of the message to the page's stage."""
    return _message(app)[0]


def is_staged(app: AppTest) -> bool:
    """Whether the stage of the page has a run to show."""
    return staged(app)["run"] is not None


def axes(app: AppTest, stack: int = 0) -> tuple[list[str], list[str]]:
    """The tokens of both axes of a stack: those that look, and those that are looked at."""
    sent = staged(app)["stacks"][stack]
    return sent["queries"]["tokens"], sent["keys"]["tokens"]


def sent_weights(app: AppTest, head: tuple[int, int], *, run: str = "run", stack: int = 0) -> np.ndarray:
    """The weights of a head, counted from 0, as they were sent. run: or "before"."""
    header, body = _message(app)
    start = 0
    for name in ("run", "before"):
        for number, layer in (header[name] or {}).get("included", ()):
            sizes = header[name].get("stacks", header["stacks"])[number]
            shape = (sizes["heads"], len(sizes["queries"]["tokens"]), len(sizes["keys"]["tokens"]))
            end = start + 2 * int(np.prod(shape))
            if (name, number, layer) == (run, stack, head[0]):
                return ((np.frombuffer(body[start:end], "<u2") / 65535) ** 2).reshape(shape)[head[1]]
            start = end
    raise AssertionError(f"layer {head[0]} of {run} was not sent")


def made_changes(app: AppTest) -> list[str]:
    """The changes that the stage lists, as links write them."""
    return [change["link"] for change in staged(app)["changes"]]


def training_buttons(app: AppTest) -> list[str]:
    """The names of the buttons of a training or a reading."""
    return [name for name, *_ in staged(app)["training"]["buttons"]]


def staged_steps(app: AppTest, part: int = 0) -> tuple[dict, dict[str, np.ndarray]]:
    """The first picture of a stage that is a computation in steps: what it was sent, and its matrices by name, those that the
    browser divides by itself included, and not those that it makes.

    part: the stage of the page, or the further picture of that number below it.
    """
    (picture, *_) = (one for one in staged_pictures(app, part) if one["chart"]["kind"] == "matrices")
    return picture["chart"] | {"sentence": picture["sentence"]}, picture["values"]


def matrices_of(header: dict, body: bytes) -> dict[str, np.ndarray]:
    """The matrices that a picture of a computation was sent, by name."""
    found: dict[str, np.ndarray] = {}
    start = 0
    for one in header["matrices"]:
        if one["form"] == "made":
            continue
        if one["form"] == "derived":
            found[one["name"]] = found[one["origin"]["of"][0]] / np.float32(one["origin"].get("divisor", 1))
            continue
        kind = np.dtype("<i2" if one["form"] == "short" else "<f4")
        end = start + one["rows"] * one["columns"] * kind.itemsize
        numbers = np.frombuffer(body[start:end], kind).reshape(one["rows"], one["columns"])
        found[one["name"]] = numbers * np.float32(one["scale"])
        start = end
    assert start == len(body)
    return found


def staged_pictures(app: AppTest, part: int = 0) -> list[dict]:
    """The pictures of a stage of pictures, those that are not looked at included, each with the numbers behind it.

    part: as of `staged_steps`.
    """
    return pictures_of(*_messages(app)[part])


def pictures_of(header: dict, body: bytes) -> list[dict]:
    """The pictures of a message to a stage of pictures, each with the numbers behind it."""
    start, found = 0, []
    for sent in header["pictures"]:
        if sent["chart"]["kind"] == "matrices":
            end = start + sent["chart"]["bytes"]
            found.append({"sentence": "", "when": {}} | sent | {"values": matrices_of(sent["chart"], body[start:end])})
            start = end
            continue
        one = {"sentence": "", "when": {}} | sent | {name: header["names"][sent[name]] for name in ("rows", "columns")}
        shape = len(one["rows"]), len(one["columns"])
        end = start + 4 * shape[0] * shape[1]
        found.append(one | {"values": np.frombuffer(body[start:end], "<f4").reshape(shape)})
        start = end
    assert start == len(body)
    return found


def is_empty(app: AppTest) -> bool:
    """Whether the page has no stage, or its stage of pictures shows none."""
    return (
        not [one for one in app.get("bidi_component") if one.proto.component_name.startswith(STAGE)]
        or not staged(app)["pictures"]
    )


def looked_at(app: AppTest, **looks: str) -> list[dict]:
    """The pictures that the browser shows, each as it is for what is chosen. looks: that differ from those on arrival."""
    header = staged(app)
    values = header["settings"] | header["view"] | looks
    for control in header["controls"]:
        if control["fallback"] and values[control["name"]] not in dict(control["options"]):
            values[control["name"]] = control["fallback"]
    shown = [one for one in staged_pictures(app) if all(values[name] in wanted for name, wanted in one["when"].items())]
    return [_as_chosen(one, one.get("variants", {}).get(values.get(one.get("varies")), {})) for one in shown]


def _as_chosen(picture: dict, variant: dict) -> dict:
    """A picture with what is different of it for a value, as the browser puts both together."""
    chart, other = dict(picture["chart"]), dict(variant.get("chart", {}))
    for row, place in enumerate(other.pop("at", ())):
        for name in ("labels", "values", "ends"):
            if other[name][row] is not None:
                chart[name] = [*chart[name][:place], other[name][row], *chart[name][place + 1 :]]
    chart |= {} if "at" in variant.get("chart", {}) else other
    numbers = {"rows": chart["labels"], "values": chart["values"]} if "labels" in variant.get("chart", {}) else {}
    return picture | variant | numbers | {"chart": chart}


def stage_says(app: AppTest, **looks: str) -> str:
    """The sentences below the pictures that the browser shows."""
    return "\n".join(one["sentence"] for one in looked_at(app, **looks))


def staged_picture(app: AppTest, title: str) -> dict:
    """The picture of a stage of pictures with this title."""
    (found,) = [one for one in staged_pictures(app) if one["chart"]["title"] == title]
    return found


def _message(app: AppTest) -> tuple[dict, bytes]:
    return _messages(app, STAGE)[0]


def _messages(app: AppTest, *kinds: str) -> list[tuple[dict, bytes]]:
    """The messages to the stage of the page and to the pictures below it."""
    sent = [one.proto for one in app.get("bidi_component") if one.proto.component_name.startswith(kinds or (STAGE, BELOW))]
    return [unpacked(one.bytes) for one in sent]


def below(app: AppTest) -> list[dict]:
    """The headers of the messages to the pictures below the stage."""
    return [header for header, _ in _messages(app, BELOW)]


def ask_stage(app: AppTest, trigger: str, value: dict) -> AppTest:
    """Run the page after a report of its stage, as the browser sends it: "settings" or "interventions" with an object."""
    stage = next(one for one in app.get("bidi_component") if one.proto.component_name.startswith(STAGE))
    states = app._tree.get_widget_states()
    name = f"$$STREAMLIT_INTERNAL_KEY_{stage.proto.id}__events"
    states.widgets.add(id=name, json_trigger_value=json.dumps([{"event": trigger, "value": value}]))
    return app._run(states)
