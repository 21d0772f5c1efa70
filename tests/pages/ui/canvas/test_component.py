"""Components are sent where their script is found, never the script; what comes back from a reader is read with care."""

import json
import re

import pytest
import streamlit as st

from pages.ui.canvas import component, modules

NAMES = re.compile(r"^const names = (\[.*\]);$", re.MULTILINE)


@pytest.mark.parametrize("page", ["attention", "self_attention", "masks", "bertviz_page", "many_sentences"])
def test_no_drawing_is_sent_its_script(open_app, page: str):
    drawings = [element.proto for element in open_app(page).get("bidi_component")]
    ours = [drawing for drawing in drawings if drawing.component_name.startswith("attention_explorer_")]
    assert ours
    for drawing in ours:
        names = json.loads(NAMES.search(drawing.js_content)[1])
        assert names == list(modules.modules_of(names[-1]))
        assert f"{modules.PATH}/{modules.version()}" in drawing.js_content
        assert len(drawing.js_content) < 1500


def test_a_choice_comes_with_its_moment(monkeypatch):
    monkeypatch.setattr(st, "session_state", {"map": {"focus": {"value": 3, "at": 17}}})
    assert component.component_value("map", "focus") == 3
    assert component.value_timestamp("map", "focus") == 17


@pytest.mark.parametrize(
    "state", [{}, {"map": None}, {"map": 3}, {"map": {}}, {"map": {"focus": None}}, {"map": {"focus": {"at": "x"}}}]
)
def test_without_a_choice_there_is_neither_value_nor_moment(monkeypatch, state: dict):
    monkeypatch.setattr(st, "session_state", state)
    assert component.component_value("map", "focus") is None
    assert component.value_timestamp("map", "focus") is None
