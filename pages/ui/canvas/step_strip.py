"""A strip of the steps of a lesson: which are done, and where the learner is. Drawn by assets/canvas/steps."""

from collections.abc import Sequence

from pages.ui.canvas import texts
from pages.ui.canvas.component import component


def step_strip(
    names: Sequence[str], done: Sequence[bool], elsewhere: Sequence[bool], here: int, *, alt: str, key: str
) -> int | None:
    """Draw the strip; return the number of the step, from 0, that the learner has just chosen in it.

    names: texts, never markup. done: which steps are done. elsewhere: which lead to
    another page. here: the step that is shown, from 0. alt: names the strip.
    """
    states = [texts.STEP_DONE if one else texts.STEP_TO_DO for one in done]
    data = {"names": list(names), "done": list(done), "states": states, "elsewhere": list(elsewhere), "here": here, "alt": alt}
    show = component("step_strip", "step-strip", "steps/strip.js", "steps/strip.css", height=52)
    chosen = show(key=key, data=data, on_go_change=lambda: None).go
    return chosen if isinstance(chosen, int) and 0 <= chosen < len(names) else None
