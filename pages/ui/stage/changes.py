"""The reader's changes of a run: the interventions in the session and the address, their names and their chips."""

from collections.abc import Sequence

import streamlit as st

from pages.ui.shell import cache
from pages.ui.shell.address import set_values, value_of, view_parameters
from pages.ui.shell.fields import Field
from pages.ui.stage import texts
from pages.ui.stage.tokens import SPECIAL_FIELD
from tx_core.engine.engine import run_limits
from tx_core.transformer.interventions import (
    MAX_INTERVENTIONS,
    Intervention,
    missing_part,
    read_interventions,
    write_interventions,
)
from tx_core.transformer.trace import AttentionStack, Trace

Changes = tuple[Intervention, ...]
CHANGES_FIELD: Field[Changes] = Field("changes", (), read_interventions, write_interventions)


def active_changes(page: str) -> Changes:
    """Return the changes that the reader has made on a page, in the order in which they were made."""
    return tuple(value_of(page, "changes"))


def set_changes(page: str, changes: Changes) -> None:
    """Replace the reader's changes."""
    set_values(page, {"changes": changes})


def with_change(changes: Changes, new: Intervention) -> Changes:
    """Add a change at the end, in place of one that it contradicts. A temperature of 1 only removes."""
    kept = tuple(change for change in changes if change.slot != new.slot)
    unchanged = new.kind == "temperature" and new.value == 1
    return kept if unchanged or len(kept) >= MAX_INTERVENTIONS else (*kept, new)


def without_change(changes: Changes, removed: Intervention) -> Changes:
    """Remove one change."""
    return tuple(change for change in changes if change != removed)


def without_positions(changes: Changes) -> Changes:
    """Remove the changes that name tokens: in another text, a position is another word."""
    return tuple(change for change in changes if not change.positions)


def drop_missing_changes(page: str, trace: Trace) -> list[str]:
    """Remove the changes that this run cannot have, or that named tokens of an earlier text; return a sentence on each."""
    source, changes, notices = trace.attention.key_tokens, active_changes(page), []
    text = (trace.model, source.text, source.pair, source.special_tokens)
    before = st.session_state.get(f"{page}_changed_in")
    st.session_state[f"{page}_changed_in"] = text
    if before not in (None, text) and not _in_address(*text) and any(change.positions for change in changes):
        changes = without_positions(changes)
        notices.append(texts.TOKEN_CHANGES_UNDONE)
    sizes = [stack.weights.shape[2:] for stack in trace.stacks for _ in stack.weights]
    limits = run_limits(cache.engine(trace.model).info, sizes)
    missing = {change: missing_part(change, limits) for change in changes}
    set_changes(page, tuple(change for change in changes if not missing[change]))
    return [*notices, *dict.fromkeys(sentence for sentence in missing.values() if sentence)]


def _in_address(model: str, text: str, pair: str | None, special_tokens: bool) -> bool:
    """Return whether text and changes came together, by a link or the browser's Back; a text just typed is not there yet."""
    address = view_parameters()
    same_text = text in (address.get("text"), address.get("second")) and (address.get("pair") or None) == (pair or None)
    same_reading = (address.get(SPECIAL_FIELD.name) != "1") == special_tokens
    return same_text and same_reading and address.get("model", "embedded") == model


def list_changes(changes: Changes, stacks: Sequence[AttentionStack]) -> list[dict[str, str]]:
    """Return changes as a stage lists them: each as a link writes it, and in words."""
    return [{"link": write_interventions([one]), "label": describe_change(one, stacks)} for one in changes]


def describe_change(change: Intervention, stacks: Sequence[AttentionStack] = ()) -> str:
    """Return a change in words: its place, the tokens of the run and, where there are several stacks, the stack.

    stacks: of the run; none where it is not known yet, so that tokens are named by their positions.
    """
    stack, place = _place(change, stacks)
    axes = {"query": stack.query_tokens.tokens, "key": stack.key_tokens.tokens} if stack else {"query": (), "key": ()}
    tokens = [_token(position, axes[axis]) for position, axis in zip(change.positions, change.rule.positions, strict=False)]
    template = texts.CHANGE_IN_PLACE if place else texts.CHANGE_EVERYWHERE
    query, key = (tokens[0], tokens[-1]) if tokens else ("", "")
    name = change.kind if change.part == "attention" else f"{change.kind} {change.part}"
    name += " at" if change.kind == "patch" and tokens else ""
    return template[name].format(place=place, query=query, key=key, value=change.value)


def _token(position: int, tokens: Sequence[str]) -> str:
    if position >= len(tokens):
        return texts.CHANGED_POSITION.format(position=position + 1)
    name = texts.CHANGED_TOKEN if tokens.count(tokens[position]) > 1 else texts.CHANGED_ONLY_TOKEN
    return name.format(token=tokens[position], position=position + 1)


def _place(change: Intervention, stacks: Sequence[AttentionStack]) -> tuple[AttentionStack | None, str]:
    """Return the stack that a change belongs to, and its layer and head in words; "" for all layers."""
    stack, layer = (stacks[0] if stacks else None), change.layer
    if layer is None:
        return stack, ""
    for candidate in stacks[1:]:
        if layer < len(stack.weights):
            break
        layer, stack = layer - len(stack.weights), candidate
    template = f"{'layer' if change.head is None else 'head'}{' in a stack' if len(stacks) > 1 else ''}"
    names = {"layer": layer + 1, "head": (change.head or 0) + 1, "stack": stack and texts.STACK_NAMES[stack.kind]}
    return stack, texts.CHANGE_PLACES[template].format(**names)
