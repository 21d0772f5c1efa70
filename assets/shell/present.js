// Shows the page to a room. The address says so (present=1), so that a link can; P and the button of a stage begin it, Escape ends it. A
// stage then is all that is seen (assets/stage/core/place.js). A lesson and a class begin each step with their own words, in large letters,
// as a page without a stage is. Page Down and Page Up, which a clicker sends, lead through words, pictures and steps; B blanks the screen,
// R reveals the answer. Keys typed into a box, or handled by a drawing, are ignored.

const TYPED = "input:not([type=checkbox], [type=range]), textarea, select, [contenteditable], [role=combobox]"
const TURNS = { PageDown: 1, PageUp: -1 }
const ROOM = { width: 822, height: 462 } // pixels of the window for which nothing is enlarged; as in assets/stage/core/place.js
const [LEAST_SCROLL, SCROLLED] = [24, 0.8] // pixels, and the share of the screen

const root = document.documentElement
const isAsked = () => new URLSearchParams(location.search).get("present") === "1"
const keyed = (...keys) => keys.map((key) => document.querySelector(`[class*="key-${key}"] :is(a, button)`)).find(Boolean)

// Called by a run of a page. words: whether it has words of its own; step: of a lesson; tell(isPresented): has it draw itself for that.
export function present({ words, leave, shown: [, step] }, tell) {
  const presenter = root.attentionPresenter ??= listen({ toggle, beginStep })
  const place = `${location.pathname} ${step}`
  addWayOut(leave)
  root.toggleAttribute("data-step", Boolean(step))
  const isNew = presenter.place !== place || presenter.words !== words
  Object.assign(presenter, { words, tell, place })
  if (isAsked() !== Boolean(root.dataset.presented) || isNew) show(isAsked() ? begin() : "")
}

// Whoever came by a click or a link knows no key.
function addWayOut(text) {
  if (document.querySelector("button.leave")) return
  const button = Object.assign(document.createElement("button"), { className: "leave", textContent: text, onclick: () => toggle(false) })
  document.body.append(button)
}

const begin = () => (root.attentionPresenter.words && !root.dataset.revealed ? "words" : "picture")

function show(what) {
  if (what) root.dataset.presented = what
  else delete root.dataset.presented
  if (!what) delete root.dataset.blank
  dispatchEvent(new Event("resize")) // stages take their place anew
}

function toggle(wanted) {
  const address = new URL(location.href)
  if (wanted) address.searchParams.set("present", "1")
  else address.searchParams.delete("present")
  history.replaceState(history.state, "", address)
  show(wanted ? begin() : "")
  if (!wanted && document.fullscreenElement) document.exitFullscreen()
  if (root.attentionPresenter.words) root.attentionPresenter.tell(wanted)
}

// A class has revealed a step (data-revealed, of assets/canvas/classroom/live.js), maybe from another window, or has gone on.
function beginStep() {
  if (isAsked()) show(begin())
}

function listen(shown) {
  const take = (takes, capture) => addEventListener("keydown", (event) => {
    const isTyped = event.composedPath()[0].matches?.(TYPED) || event.ctrlKey || event.metaKey || event.altKey
    if (!takes(event.key) || event.defaultPrevented || event.repeat || isTyped || !press(event.key)) return
    event.preventDefault()
    event.stopPropagation()
  }, { capture })
  const isReveal = (key) => key.toLowerCase() === "r"
  take(isReveal, true) // before Streamlit, which would run the whole page: the press of the button would be lost
  take((key) => !isReveal(key), false) // after the drawings
  addEventListener("resize", () => root.style.setProperty("--enlarged", String(Math.max(1, Math.min(innerWidth / ROOM.width, innerHeight / ROOM.height)))))
  document.addEventListener("fullscreenchange", () => {
    const isFull = document.fullscreenElement === root
    if (shown.isFull && !isFull && isAsked()) toggle(false) // the browser keeps the Escape that ended it
    shown.isFull = isFull
  })
  return shown
}

function press(key) {
  const letter = key.toLowerCase()
  if (letter === "p") return toggle(!isAsked()), true
  if (!isAsked()) return false
  if (letter === "escape") return toggle(false), true
  if (letter === "b") return root.toggleAttribute("data-blank"), true
  if (letter === "r") return keyed("lesson_reveal", "classroom_reveal")?.click(), true
  return key in TURNS && turn(TURNS[key])
}

function turn(by) {
  const { words } = root.attentionPresenter
  const isPicture = document.querySelector("body [data-presented]")
  if (isPicture && !dispatchEvent(new CustomEvent("attention-turn", { detail: by, cancelable: true }))) return true
  if (words && isPicture && by < 0) return show("words"), true
  if (!isPicture && scrolled(by)) return true
  if (words && !isPicture && by > 0) show("picture")
  if (!isPicture && document.querySelector("body [data-presented]")) return true
  keyed(...(by > 0 ? ["lesson_next", "lesson_skip", "classroom_next"] : ["lesson_previous", "classroom_previous"]))?.click()
  document.querySelector("main").scrollTop = 0 // the words of another step are read from their beginning
  show(begin())
  return true
}

function scrolled(by) {
  const main = document.querySelector("main")
  const left = by > 0 ? main.scrollHeight - main.clientHeight - main.scrollTop : main.scrollTop
  if (left > LEAST_SCROLL) main.scrollBy(0, by * SCROLLED * main.clientHeight)
  return left > LEAST_SCROLL
}
