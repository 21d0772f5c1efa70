"""What the stage reckons in the browser is what the core computes: the same cases through both."""

import io
import mimetypes
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas
import pytest
import torch
from playwright.sync_api import BrowserContext, Page, Route

from pages.fill_mask import texts
from pages.fill_mask.head_scan import followed_name
from pages.fill_mask.predictions import ratio_in_words
from pages.fill_mask.stage import shares_in_change
from pages.masks.inputs import mask_to_link
from pages.self_attention.head import head_matrices, head_steps
from pages.ui.shell.numbers import percent, points, small_number
from pages.ui.stage.browser_texts import SAID, stage_texts
from pages.ui.stage.matrices import MatrixNames, MatrixSteps, cell_origin, describe_matrices
from tests.support.serving import ROOT
from tx_core.analysis import views
from tx_core.analysis.comparison import compare_attention, moved_attention, spell_words
from tx_core.analysis.packing import codes, join, stack_header, thumbnails
from tx_core.analysis.table_file import safe_cell
from tx_core.engine import catalogue
from tx_core.fill_mask.head_scan import ScannedWord
from tx_core.lessons import masking
from tx_core.lessons.self_attention import HeadChoice, head_run
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import AttentionStack

HOST = "http://stage.test"


@pytest.fixture(scope="module")
def modules(profile: BrowserContext) -> Iterator[Page]:
    """A page that may import the sources of the stage, as they are."""

    def serve(route: Route) -> None:
        path = route.request.url.removeprefix(HOST).partition("?")[0]
        if path == "/":
            route.fulfill(body="<!doctype html><meta charset='utf-8'>", content_type="text/html")
        else:
            route.fulfill(path=ROOT / "assets" / path[1:], content_type=mimetypes.types_map[".js"])

    page = profile.new_page()
    page.route(f"{HOST}/**", serve)
    page.goto(f"{HOST}/")
    page.evaluate("texts => import('/canvas/core/texts.js').then(({ TEXTS }) => { Object.assign(TEXTS, texts) })", stage_texts())
    yield page
    page.close()


def stack_of(text: str, pair: str | None = None, **options: object) -> AttentionStack:
    return catalogue.load(catalogue.DEFAULT).trace(text, pair, **options).attention


SHOWN = """async ([stack, options, codes]) => {
  const { viewOf } = await import('/stage/core/shown.js')
  const view = viewOf(stack, options)
  const { weights, lost } = view.weigh(Uint16Array.from(codes))
  return { queries: view.queries.labels, keys: view.keys.labels, places: view.queries.places,
    special: view.keys.special.map(Boolean), hides: view.hides, weights: [...weights], lost: lost && [...lost] }
}"""


@pytest.mark.parametrize("hide", [False, True])
@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize(
    ("text", "pair"),
    [("A pancake with an unbelievable arrow.", None), ("Who ate pancakes?", "Grandmother did."), ("[SEP] [CLS]", None)],
)
def test_merging_and_hiding_are_those_of_the_core(modules: Page, text: str, pair: str | None, words: bool, hide: bool):
    stack = stack_of(text, pair)
    sent = codes(stack.weights[1, 7])
    decoded = ((sent.astype(np.float64) / 65535) ** 2).astype(np.float32)
    of_codes = AttentionStack("self", stack.query_tokens, stack.key_tokens, decoded[None, None])
    expected = views.view(of_codes, merge_words=words, hide_special=hide)
    shown = modules.evaluate(SHOWN, [stack_header(stack), {"words": words, "hide": hide}, sent.ravel().tolist()])
    assert shown["queries"] == list(expected.queries)
    assert shown["keys"] == list(expected.keys)
    assert shown["places"] == [list(places) for places in expected.query_places]
    assert shown["special"] == list(expected.key_special)
    assert shown["hides"] == expected.hides_special
    np.testing.assert_allclose(shown["weights"], expected.weights.ravel(), atol=1e-6)
    if expected.hides_special:
        whole = views.view(of_codes, merge_words=words)
        special = np.array(whole.key_special)
        np.testing.assert_allclose(shown["lost"], whole.weights[0, 0][~special][:, special].sum(-1), atol=1e-6)


def test_codes_means_and_thumbnails_are_those_of_the_page(modules: Page):
    weights = np.random.default_rng(3).dirichlet(np.full(53, 0.2), (2, 41)).astype(np.float32)
    before, after = weights
    found = modules.evaluate(
        """async ([before, after, queries, keys]) => {
          const { coded, codedDifference, mean, movedAttention } = await import('/stage/core/weights.js')
          const { thumbnail } = await import('/stage/core/run.js')
          const [one, other] = [Float32Array.from(before), Float32Array.from(after)]
          return { codes: [...coded(one)], difference: [...codedDifference(one, other)], mean: [...mean([one, other])],
            moved: movedAttention(one, other, keys), small: [...thumbnail(coded(one), queries, keys)] }
        }""",
        [before.ravel().tolist(), after.ravel().tolist(), 41, 53],
    )
    np.testing.assert_array_equal(found["codes"], codes(before).ravel())
    root = (np.array(found["difference"]) - 32768.0) / 32767
    decoded = np.sign(root) * root**2
    np.testing.assert_allclose(decoded, (after - before).ravel(), atol=3.2e-5)
    assert [f"{one:.3f}" for one in np.abs(decoded)] == [f"{one:.3f}" for one in np.abs(after - before).ravel()]
    np.testing.assert_allclose(found["mean"], weights.mean(0).ravel(), atol=1e-7)
    np.testing.assert_allclose(found["moved"], moved_attention(before, after), atol=1e-6)
    np.testing.assert_allclose(found["small"], thumbnails(before[None, None]).ravel(), atol=1)


SENTENCE = """async ([stack, options, codes, row]) => {
  const { viewOf } = await import('/stage/core/shown.js')
  const { coded, decoded } = await import('/stage/core/weights.js')
  const { describeMap, describeAverage } = await import('/stage/core/sentences.js')
  const view = viewOf(stack, options)
  const { weights } = view.weigh(Uint16Array.from(codes))
  return [describeMap({ codes: coded(weights) }, view, row), view.hides ? '' : describeAverage({ weights }, view)]
}"""


@pytest.mark.parametrize("hide", [False, True])
@pytest.mark.parametrize("head", [(1, 7), (0, 1), (2, 0), (5, 3)])
def test_a_sentence_has_the_largest_weights_and_the_tokens_between_which_they_are(
    modules: Page, head: tuple[int, int], hide: bool
):
    stack = stack_of("The old man saw the man.")
    shown = views.view(stack, hide_special=hide)
    weights, keys = shown.weights[head], shown.keys
    sent = [stack_header(stack), {"words": False, "hide": hide}, codes(stack.weights[head]).ravel().tolist()]
    between = weights * ~np.array(shown.query_special)[:, None] * ~np.array(shown.key_special)
    row, key = np.unravel_index(between.argmax(), between.shape)
    said, average = modules.evaluate(SENTENCE, [*sent, None])
    assert numbers_in(said) == [f"{weights[row, key]:.2f}"]
    assert f"“{shown.queries[row]}”" in said and f"“{keys[key]}”" in said
    assert hide or average == average_of(weights, shown.key_special)
    for row, values in enumerate(weights):
        said, _ = modules.evaluate(SENTENCE, [*sent, row])
        large = [int(place) for place in np.argsort(-values, kind="stable")[:2] if values[place] >= 0.05]
        assert numbers_in(said) == ([f"{values[place]:.2f}" for place in large] or ["0.05"])
        named = [
            f"“{token}”" + (f" (token {place + 1})" if tokens.count(token) > 1 else "")
            for tokens, place, token in (
                (shown.queries, row, shown.queries[row]),
                *((keys, place, keys[place]) for place in large),
            )
        ]
        assert all(name in said for name in named)


def numbers_in(said: str) -> list[str]:
    return re.findall(r"\d\.\d\d", said)


def average_of(weights: np.ndarray, special: Sequence[bool]) -> str:
    """Return in words what special tokens, each token itself and its neighbours receive on average, the largest share first."""
    plain = weights * ~np.array(special)
    shares = {str(offset): np.trace(plain, offset) / len(weights) for offset in (-1, 0, 1)}
    shares["special"] = (weights - plain).sum(1).mean()
    named = [SAID["averageShares"][name].format(share=shares[name]) for name in sorted(shares, key=shares.get, reverse=True)]
    large = sum(share >= 0.05 for share in shares.values())
    return SAID["average"].format(shares=", ".join(named[:large])) if large else SAID["averageElsewhere"].format(least=0.05)


def test_a_change_is_the_largest_of_all_or_of_a_row_with_what_moved_in_all(modules: Page):
    text, head = "Mary lost her keys.", (3, 0)
    before, after = (stack_of(text, interventions=changes) for changes in ((), (Intervention("off", 1, 2),)))
    one, other, tokens = before.weights[head], after.weights[head], before.key_tokens.tokens
    for row in (None, *range(len(tokens))):
        said = modules.evaluate(
            """async ([stack, before, after, row]) => {
              const { viewOf } = await import('/stage/core/shown.js')
              const { describeChange } = await import('/stage/core/sentences.js')
              const view = viewOf(stack, { words: false, hide: false })
              return describeChange(Float32Array.from(before), Float32Array.from(after), view, row)
            }""",
            [stack_header(before), one.ravel().tolist(), other.ravel().tolist(), row],
        )
        asked = slice(None) if row is None else slice(row, row + 1)
        query, key = np.unravel_index(np.abs(other - one)[asked].argmax(), one[asked].shape)
        was, now = one[asked][query, key], other[asked][query, key]
        if abs(now - was) < 0.005:
            assert said == SAID["noChangeForQuery"].format(query=tokens[row])
            continue
        change = f"{'+' if now > was else '−'}{abs(now - was):.2f}"
        values = {"query": tokens[asked][query], "key": tokens[key], "before": was, "after": now, "change": change}
        moved = SAID["movedInAll" if row is None else "movedOfQuery"].format(share=moved_attention(one, other)[asked].mean())
        assert said == f"{SAID['largestChange'].format(**values)} {moved}"


COMPARED = """async ([stacks, options, rows, codes]) => {
  const { viewOf } = await import('/stage/core/shown.js')
  const { pairViews, onPair, differenceOn, differingShare } = await import('/stage/core/pair.js')
  const { changeOf } = await import('/canvas/core/bytes.js')
  const views = stacks.map((stack) => viewOf(stack, options))
  const pair = pairViews(rows, views, (word, side) => 'AB'[side] + ': ' + word)
  const [one, other] = codes.map((all, side) => onPair(pair, side, views[side].weigh(Uint16Array.from(all))))
  const difference = differenceOn(one, other)
  return { words: pair.words, hatched: [...difference.hatched], difference: Array.from(difference.codes, changeOf),
    share: differingShare(pair, one, other) }
}"""
PAIRS = [
    ("time flies like an arrow", "a fruit flies like a banana"),
    ("the dog saw the cat", "the unbelievable cat saw the dog"),
    ("Mary lost her keys.", "Mary lost her keys."),
    ("time", "banana"),
]


@pytest.mark.parametrize("words", [True, False])
@pytest.mark.parametrize("hide", [False, True])
@pytest.mark.parametrize("sentences_of_both", PAIRS)
def test_what_differs_between_two_texts_is_that_of_the_core(
    modules: Page, sentences_of_both: tuple[str, str], hide: bool, words: bool
):
    stacks, heads = [stack_of(text) for text in sentences_of_both], [(1, 0), (2, 4)]
    sent = [codes(stack.weights[head]) for stack, head in zip(stacks, heads, strict=True)]
    decoded = [((one.astype(np.float64) / 65535) ** 2).astype(np.float32)[None, None] for one in sent]
    shown = [
        views.view(replace(stack, weights=weights), merge_words=words, hide_special=hide)
        for stack, weights in zip(stacks, decoded, strict=True)
    ]
    spelled = [spell_words(stack.query_tokens, one.query_places) for stack, one in zip(stacks, shown, strict=True)]
    expected = compare_attention(*shown, *spelled, *(one.weights[0, 0] for one in shown))
    options = {"words": words, "hide": hide}
    told = [[stack_header(stack) for stack in stacks], options, expected.rows, [one.ravel().tolist() for one in sent]]
    found = modules.evaluate(COMPARED, told)
    assert found["words"] == list(expected.labels)
    np.testing.assert_array_equal(found["hatched"], ~expected.comparable.ravel())
    np.testing.assert_allclose(found["difference"], expected.difference.ravel(), atol=1e-4)
    both = expected.comparable.any(-1)
    moved = moved_attention(np.zeros_like(expected.difference), expected.difference)[both]
    assert found["share"] == pytest.approx(moved.mean() if both.any() else 0, abs=1e-4)


SUMMED = """async ([message]) => {
  const { unpackStage } = await import('/stage/core/run.js')
  const { takeMatrices } = await import('/stage/matrices/matrix.js')
  const { arithmetic } = await import('/stage/matrices/sum.js')
  const { TEXTS } = await import('/canvas/core/texts.js')
  const model = takeMatrices(unpackStage(Uint8Array.from(message)), TEXTS.matrices)
  return Object.fromEntries(model.matrices.map(({ name, rows, shown, columns, values }) => {
    const sums = []
    for (let row = 0; row < rows; row += 1) for (let column = 0; column < shown; column += 1) {
      const { terms, bias } = arithmetic(model, { matrix: name, row, column })
      sums.push(terms ? terms.reduce((sum, { left, right }) => sum + left * right, bias ?? 0) : null)
    }
    return [name, { values: [...values], sums, shape: [rows, shown, columns] }]
  }))
}"""


@pytest.mark.parametrize("weights", ["trained", "random", "none"])
@pytest.mark.parametrize("scaled", [True, False])
def test_the_sums_behind_the_cells_of_a_head_are_those_of_the_core(engine, modules: Page, weights: str, scaled: bool):
    choice = HeadChoice(1, 5, weights, seed=3, scaled=scaled, causal=not scaled)
    run = head_run(engine, engine.trace("The boy read a very old book.", keep=("hidden",)), choice)
    message = join(*describe_matrices(MatrixSteps(head_matrices(run, 32), head_steps(run))))
    found = modules.evaluate(SUMMED, [list(message)])
    of_projections = () if weights == "none" else ("query", "key", "value")
    assert set(found) == {"vectors", *of_projections, "matches", "scores", "masked", "weights", "context"}
    for name, one in found.items():
        rows, shown, columns = one["shape"]
        expected = getattr(run.tensors, name).numpy()
        values = np.array([np.inf if value is None else value for value in one["values"]], np.float32)
        finite = np.isfinite(expected.ravel())
        np.testing.assert_allclose(values[finite], expected.ravel()[finite], rtol=1e-6)
        assert expected.shape == (rows, columns)
        if name in (*of_projections, "matches", "context"):
            np.testing.assert_allclose(one["sums"], expected[:, :shown].ravel(), atol=2e-3)


PAINTED = """async ([message, chosen]) => {
  const { unpackStage } = await import('/stage/core/run.js')
  const { takeMatrices } = await import('/stage/matrices/matrix.js')
  const { drawMatrices, makeMatrices } = await import('/stage/views/matrices.js')
  const { readTheme } = await import('/canvas/core/theme.js')
  const { TEXTS } = await import('/canvas/core/texts.js')
  const model = takeMatrices(unpackStage(Uint8Array.from(message)), TEXTS.matrices)
  const view = makeMatrices({ choose() {}, hover() {} })
  const [names, room, theme] = [['before', 'weights'], { width: 1200, height: 600 }, readTheme(document.body)]
  const colours = (cell) => {
    drawMatrices(view, model, { names, leads: ['', '→'], chosen: cell, active: cell, numbers: false, theme, room, zoom: 1 })
    return names.map((name) => {
      const { canvas, place: { left, top, wide, high } } = view.panels.get(name)
      const { rows, columns } = model.byName[name]
      const pixel = (x, y) => canvas.getContext('2d').getImageData(left + (x + 0.3) * wide, top + (y + 0.3) * high, 1, 1).data
      return Array.from({ length: rows * columns }, (_, at) => pixel(at % columns, Math.floor(at / columns)).join())
    })
  }
  return { plain: colours(null), chosen: colours(chosen) }
}"""


def test_a_fill_means_its_number_whatever_is_chosen(modules: Page):
    values = np.array([[0.05, 0.3, 0.65], [0.9, 0.08, 0.02], [0.2, 0.45, 0.35]], np.float32)
    names = MatrixNames(("a", "b", "c"), {name: (name, "", "") for name in ("before", "weights")}, 3)
    before = names.by_pair("before", values, group="shares")
    weights = names.by_pair("weights", values, cell_origin("shares", "before", how="softmax"), "shares")
    message = join(*describe_matrices(MatrixSteps([before, weights])))
    found = modules.evaluate(PAINTED, [list(message), {"matrix": "weights", "row": 0, "column": 1}])
    assert found["chosen"] == found["plain"]
    for colours in found["chosen"]:
        light = [sum(int(part) for part in colours[at].split(",")[:3]) for at in np.argsort(values, axis=None)]
        assert light == sorted(light, reverse=True)  # the larger a number, the deeper its colour
        assert len(set(light)) == values.size


LAID = """async ([message, room, isSquare]) => {
  const { unpackStage } = await import('/stage/core/run.js')
  const { takeMatrices } = await import('/stage/matrices/matrix.js')
  const { drawMatrices, makeMatrices } = await import('/stage/views/matrices.js')
  const { readTheme } = await import('/canvas/core/theme.js')
  const { TEXTS } = await import('/canvas/core/texts.js')
  const written = new Map()
  const fill = CanvasRenderingContext2D.prototype.fillText
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    written.set(this.canvas, [...(written.get(this.canvas) ?? []), text])
    return fill.call(this, text, ...rest)
  }
  const style = document.createElement('style')
  style.textContent = await (await fetch('/stage/stage.css')).text()
  const model = takeMatrices(unpackStage(Uint8Array.from(message)), TEXTS.matrices)
  const view = makeMatrices({ choose() {}, hover() {} })
  document.body.replaceChildren(style, view.node)
  const names = model.matrices.map(({ name }) => name)
  const about = { chosen: null, active: null, numbers: false, theme: readTheme(document.body), zoom: 1, least: isSquare ? 0 : 10 }
  drawMatrices(view, model, { ...about, names, leads: ['', '', '→'], room, isSquare })
  const panels = names.map((name) => view.panels.get(name))
  const boxes = panels.map(({ canvas }) => canvas.getBoundingClientRect())
  const labels = panels.map(({ canvas }) => written.get(canvas))
  CanvasRenderingContext2D.prototype.fillText = fill
  document.body.replaceChildren()
  return { labels, rows: written.get(view.labels[0].canvas), places: panels.map(({ place }) => [place.wide, place.high]),
    lefts: boxes.map(({ left }) => left), rights: boxes.map(({ right }) => right), bottom: boxes[0].bottom }
}"""


@pytest.mark.parametrize(("room", "square"), [((972, 330), False), ((790, 380), True), ((790, 240), True)])
def test_matrices_beside_each_other_have_all_their_names_and_squares_to_a_room(
    modules: Page, room: tuple[int, int], square: bool
):
    words = ("[CLS]", "the", "cat", "sat", "on", "a", "mat", ".", "[SEP]")
    names = MatrixNames(words, {name: (name, "", "") for name in ("mask", "masked", "weights")}, 9)
    matrices = [names.by_pair(name, np.zeros((9, 9), np.float32)) for name in ("mask", "masked", "weights")]
    width, height = room
    message = list(join(*describe_matrices(MatrixSteps(matrices))))
    found = modules.evaluate(LAID, [message, {"width": width, "height": height}, square])
    assert [set(labels) for labels in found["labels"]] == [set(words)] * 3
    assert set(found["rows"]) == set(words)
    gaps = np.subtract(found["lefts"][1:], found["rights"][:-1])
    assert gaps.min() >= 24  # none touches its neighbour
    if square:
        ((wide, high),) = set(map(tuple, found["places"]))
        assert wide == high
        assert (
            width - found["rights"][-1] < 27 * 1.2 or height - found["bottom"] < 2 * high
        )  # as wide or as high as there is room
        assert found["rights"][-1] <= width


def test_shares_points_and_ratios_are_written_as_by_the_page(modules: Page):
    steps = [0.0, *(digits * 10.0**-power for power in (*range(1, 9), 40, 310) for digits in (1, 1.26, 4.97, 9.97, 9.996))]
    written = modules.evaluate(
        """async ([shares, none]) => {
          const { percent, points, ratio, sharesInChange, smallNumber } = await import('/canvas/core/numbers.js')
          const signed = shares.flatMap((share) => [points(share), points(-share)])
          return [shares.map(percent), signed, shares.map((share) => ratio(0.7, share, none)), shares.map(smallNumber),
            shares.map((share) => sharesInChange(0.14, share))]
        }""",
        [steps, texts.NO_RATIO],
    )
    assert written[0] == [percent(share) for share in steps]
    assert written[1] == [points(one) for share in steps for one in (share, -share)]
    assert written[3] == [small_number(share) for share in steps]
    assert written[4] == [list(shares_in_change(0.14, share)) for share in steps]
    assert written[2][:-5] == [ratio_in_words(0.7, share) for share in steps[:-5]]  # the last ones are beyond any number


def test_the_effect_of_each_head_is_that_of_the_table(modules: Page):
    generator = np.random.default_rng(5)
    one, other = (
        ScannedWord(word, (1,), share, generator.dirichlet([1, 1, 8], (3, 4))[..., 0]) for word, share in (("a", 0.1), ("b", 0.3))
    )
    sent = [{"word": word.word, "before": word.before, "after": word.after.ravel().tolist()} for word in (one, other)]
    for second in (None, other):
        change = one.after - one.before - (second.after - second.before if second else 0)
        found = modules.evaluate(
            """async ([one, other, texts]) => {
              const { effectOf, limitOf, cellsOf, noteOf } = await import('/stage/core/effects.js')
              const effect = effectOf(one, other, texts)
              const [{ name, change }, limit] = [effect, limitOf(effect)]
              return { name, change, limit, cells: [...cellsOf(effect, limit)], note: noteOf(effect, 5, 'c', texts) }
            }""",
            [sent[0], second and sent[1], texts.SCAN_PICTURE],
        )
        assert found["name"] == followed_name((one, second))
        np.testing.assert_allclose(found["change"], change.ravel(), atol=1e-9)
        share = np.array(found["change"]) / found["limit"]
        assert (abs(share) <= 1).all()
        np.testing.assert_array_equal(found["cells"], np.rint(128 + np.sign(share) * np.sqrt(abs(share)) * 127))
        assert found["note"].endswith("; top prediction: c")
        said = ratio_in_words(one.before / other.before, 1.0) if second else percent(one.before)
        assert said in found["note"]


MASKED = """async ([kind, tokens, options, scores, penalty]) => {
  const { emptyRows, leaks, maskedScores, maskOf, writeMask } = await import('/stage/core/masking.js')
  const mask = maskOf(kind, tokens, options)
  const found = maskedScores(Float32Array.from(scores), tokens, mask, penalty)
  const sendable = (values) => [...values].map((one) => isFinite(one) ? one : null)
  const numbers = Object.fromEntries(Object.entries(found).map(([name, values]) => [name, sendable(values)]))
  const [leaked, empty] = [leaks(found, tokens, mask), emptyRows(mask, tokens)]
  return { ...numbers, bits: [...mask], written: writeMask(mask), leaks: leaked, empty }
}"""


@pytest.mark.parametrize("penalty", [-10_000.0, -100.0, -2.0])
@pytest.mark.parametrize("kind", [*masking.MASK_KINDS, "painted"])
def test_masks_and_what_they_do_to_scores_are_those_of_the_core(modules: Page, kind: str, penalty: float):
    tokens, real, width = 7, 5, 2
    generator = np.random.default_rng(2)
    scores, drawn = generator.normal(0, 2, (tokens, tokens)).astype(np.float32), generator.random((6, 6)) > 0.4
    drawn[3] = False  # and 7 tokens: the mask of another sentence is carried over
    drawn[:, 3] = False
    options = {"real": real, "width": width, "painted": mask_to_link(drawn)}
    found = modules.evaluate(MASKED, [kind, tokens, options, scores.ravel().tolist(), penalty])
    mask = masking.fit_mask(drawn, tokens) if kind == "painted" else masking.mask_of_kind(kind, tokens, real, width)
    head = masking.MaskedHead(tuple("abcdefg"), mask, torch.tensor(scores))
    leaky = head.penalised(penalty)
    np.testing.assert_array_equal(found["bits"], mask.ravel())
    assert found["written"] == mask_to_link(mask.numpy())
    empty = ~mask.any(-1)
    assert found["empty"] == empty.nonzero().ravel().tolist()
    masked = np.array([-np.inf if one is None else one for one in found["masked"]])
    np.testing.assert_array_equal(masked, head.masked_scores.ravel())
    weights = {"before": head.weights_before, "weights": head.weights, "leaky": leaky, "change": head.difference}
    for name, expected in weights.items():
        np.testing.assert_allclose(found[name], expected.ravel(), atol=1e-6)
    numbers = [found["leaks"][name] for name in ("leak", "unmasked", "apart", "apartEmpty")]
    apart = (head.weights - leaky).abs().amax(-1)
    leaked = [(weights * ~mask).sum(-1)[~empty].max() for weights in (leaky, head.weights_before)]
    expected = [*map(float, leaked), float(apart[~empty].max()), float(apart[empty].max()) if empty.any() else 0.0]
    assert [one or 0.0 for one in numbers] == pytest.approx(expected, rel=0.06, abs=1e-43)


CHOSEN = """async ([line, looks, extent]) => {
  const { choiceLine, readChoice } = await import('/stage/views/framed.js')
  const chosen = readChoice(line, extent)
  return chosen && [chosen, choiceLine({ ...looks, ...chosen }, extent)]
}"""
EXTENT = {"layers": [0, 1, 2, 3], "heads": 5, "filters": 3, "tokens": 7}
LOOKS = {"layer": "1", "head": "1", "heads": "", "filter": "1", "enlarged": "0", "token": "0"}
NONSENSE = (
    *(None, 7, ["layer=1"], {"layer": 1}, "layer", "layer=", "layer=1&", "&layer=1", "layer=1&layer=2", "layer=1=1"),
    *("layer=4", "layer=-1", "layer=01234", "layer=1.0", "layer=1e0", "layer= 1", "layer=\u0661", "layer=1\n", "LAYER=1"),
    *("layer=0_1", "head=5", "heads=5", "heads=0_", "heads=_", "heads=0_0_9", "heads=0&heads=1", "filter=3", "token=7"),
    *("text=1", "__proto__=1", "layer=<img src=x onerror=alert(1)>", "heads=" + "_".join("0" * 5000)),
)


@pytest.mark.parametrize("view", ["head", "model", "neuron"])
def test_nothing_is_chosen_in_the_frame_of_bertviz_but_what_is_there(modules: Page, view: str):
    assert [told for told in NONSENSE if modules.evaluate(CHOSEN, [told, LOOKS, EXTENT | {"view": view}])] == []


def test_what_another_model_lacks_gives_way_to_the_last_that_is_there_or_to_nothing(modules: Page):
    looks = {"layer": "12", "head": "12", "heads": "2_12", "filter": "5", "enlarged": "1", "token": "90"}
    ask = "async ([looks, extent]) => (await import('/stage/views/framed.js')).choiceLine(looks, extent)"
    lines = [modules.evaluate(ask, [looks, EXTENT | {"view": view}]) for view in ("head", "model", "neuron")]
    assert lines == ["layer=3&heads=1", "layer=3&head=4", "layer=3&head=4"]


def test_a_table_of_the_stage_holds_cells_as_the_core_writes_them(modules: Page):
    cells = ["##s", "x;=1+1", "-", 'a "b", c', "-0.25", "=1\n=2", "a\t@b", ""]
    written = modules.evaluate(
        "rows => import('/stage/core/export_menu.js').then(({ csvText }) => csvText('Of a, =1;=2', rows))",
        [["text"], *zip(cells)],
    )
    caption, *_ = written.splitlines()
    assert caption == "# Of a, '=1;'=2"
    read = pandas.read_csv(io.StringIO(written), comment="#", dtype=str, keep_default_na=False, skip_blank_lines=False)["text"]
    assert read.tolist() == ["-0.25" if cell == "-0.25" else safe_cell(cell) for cell in cells]


WALL = """async ([layers, heads, chosen]) => {
  const { drawWall, makeWall, wallWidth } = await import('/stage/views/wall.js')
  const { readTheme } = await import('/canvas/core/theme.js')
  const style = document.createElement('style')
  style.textContent = await (await fetch('/stage/stage.css')).text()
  const stage = Object.assign(document.createElement('div'), { className: 'stage wide', style: 'width: 980px; --height: 480px' })
  stage.innerHTML = '<div class="frame"><div class="body"><div class="side"></div><div></div></div></div>'
  document.body.replaceChildren(style, stage)
  const side = stage.querySelector('.side')
  const wall = makeWall(() => {})
  side.append(wall.node)
  stage.style.setProperty('--wall', `${wallWidth(heads)}px`)
  const thumbnails = { rows: 1, columns: 1, cells: new Uint8Array(layers * heads) }
  const about = { layers, heads, thumbnails, chosen: [chosen], scale: 'blues', notes: [], moved: [], guesses: [] }
  drawWall(wall, about, readTheme(document.body), side.clientWidth)
  const [around, scroller] = [side, wall.scroller].map((one) => one.getBoundingClientRect())
  const isAcross = ({ left, right }) => left >= scroller.left && right <= scroller.right
  const isSeen = (box) => isAcross(box) && box.top >= around.top && box.bottom <= around.bottom
  const seen = wall.buttons.buttons.map((row) => row.map((one) => isSeen(one.getBoundingClientRect())))
  const one = wall.buttons.buttons[0][0].getBoundingClientRect()
  document.body.replaceChildren()
  return { seen, size: one.width, page: scrollY }
}"""


def test_all_heads_of_twelve_layers_are_in_sight_and_a_head_of_more_is_scrolled_to(modules: Page):
    modules.set_viewport_size({"width": 1280, "height": 800})
    found = modules.evaluate(WALL, [12, 12, [11, 11]])
    assert np.all(found["seen"])
    assert found["size"] >= 24  # WCAG 2.2, 2.5.8: as much as a finger needs
    found = modules.evaluate(WALL, [24, 16, [23, 15]])
    assert found["seen"][23][15]
    assert not np.all(found["seen"])
    assert (found["size"] >= 24, found["page"]) == (True, 0)
