import { listPages } from "./page_list.js"
import { present } from "./present.js"

// What a browser does around the pages. Streamlit mounts this script again on every page, so state is kept on the document.

const RUNNING = '[data-test-script-state]:not([data-test-script-state="notRunning"])'
const LONGEST_UNSETTLED = 3000 // milliseconds after the run: a box that takes longer, such as one whose script is gone, keeps its place

// A link leads to the bare address of a page, which then writes its view into it: the sentence that came along, or the view
// that was left. Streamlit would make that a second step of the history, and Back would stop at an address that nobody saw.
// Until the reader does something on the page, what it writes replaces its address. Where the page answers at once, its
// parameters even come before its address, and Streamlit would give them to the page that is being left: they are let pass,
// since the step to the new page has them, too.
function makeOneStepOfArriving() {
  const push = history.pushState
  let arriving = false
  let leaving = false
  history.pushState = (state, title, url) => {
    const samePage = new URL(url, location.href).pathname === location.pathname
    if (samePage && leaving) return
    if (samePage && arriving) return history.replaceState(state, title, url)
    leaving = false
    arriving = !samePage
    return push.call(history, state, title, url)
  }
  const act = () => { arriving = leaving = false }
  for (const kind of ["pointerdown", "keydown", "popstate"]) addEventListener(kind, act, { capture: true })
  addEventListener("click", (event) => {
    const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement)
    const here = link && !link.target && !event.ctrlKey && !event.metaKey && !event.shiftKey
    const leads = event.composedPath().some((node) => node.dataset?.leads === "elsewhere") // a button to another page
    leaving = leads || Boolean(here && link.origin === location.origin && link.pathname !== location.pathname)
  }, { capture: true })
}

// Until a first visit's scripts are there, the start page shows nothing below a box of unknown height.
function settle({ page, notDrawn }) {
  const root = document.documentElement
  if ("settled" in root.dataset) return
  let end = performance.now() + LONGEST_UNSETTLED // the run may have ended before this script came
  const look = () => {
    if (document.querySelector(RUNNING)) end = performance.now() + LONGEST_UNSETTLED
    if (performance.now() < end && document.querySelector(`${RUNNING}, ${notDrawn}`)) setTimeout(look, 100)
    else {
      root.dataset.settled = page
      document.getElementById("unsettled")?.remove()
    }
  }
  look()
}

// When a server dies, the browser reaches another one, or the same one anew, which knows nothing of this page; Streamlit runs
// nothing by itself then, and every click asks for a part of a page that was never run there. So the whole page is asked for.
function runAfterLoss(run) {
  const begun = document.attentionRunsAfterLoss
  document.attentionRunsAfterLoss = run
  if (begun) return
  const app = document.querySelector("[data-test-connection-state]")
  let lost = false
  new MutationObserver(() => {
    const connected = app.dataset.testConnectionState === "CONNECTED"
    if (connected && lost) document.attentionRunsAfterLoss()
    lost = !connected
  }).observe(app, { attributeFilter: ["data-test-connection-state"] })
}

// A page that waits for the default model, or for a place on a full server, asks again until it has it.
const AGAIN = 3000 // milliseconds

function askAgain(waits, run) {
  clearInterval(document.attentionAsks)
  if (!waits) return
  document.attentionAsks = setInterval(async () => {
    const status = waits === "model" ? await fetch(new URL("api/ready", document.baseURI)).then((answer) => answer.json()).catch(() => null) : {}
    if (status && status.state !== "warming up") run(true)
  }, AGAIN)
}

// Terms of the glossary are explained where a page uses them first. What does that is fetched when the page has been drawn.
function explainTerms(address) {
  if (!address || document.attentionTerms) return
  document.attentionTerms = true
  whenSettled(() => import(new URL(address, document.baseURI).href).then((terms) => terms.default()))
}

// Calls `action` when the browser is idle after the first page is drawn, so that it does not delay the page.
function whenSettled(action) {
  const soon = window.requestIdleCallback ?? ((run) => setTimeout(run, 100)) // Safari has none
  if ("settled" in document.documentElement.dataset) soon(action, { timeout: 1000 })
  else setTimeout(() => whenSettled(action), 100)
}

// Views that are to become steps of a lesson: the page on which lessons are written finds them here, also after a reload.
const VIEWS = "attention-explorer:views"

function keepViews(views) {
  if (!views?.length) return
  try {
    const kept = JSON.parse(sessionStorage.getItem(VIEWS)) ?? []
    const others = kept.filter(({ id }) => !views.some((view) => view.id === id))
    sessionStorage.setItem(VIEWS, JSON.stringify([...others, ...views]))
  } catch {
    // storage is off: the server still has them
  }
}

// The level that the visitor chose, for the next visit: the server reads it when the page is opened. See pages/ui/shell/level.py.
const ONE_YEAR = 31536000 // seconds

function remember(level) {
  if (!level || document.attentionLevel === level) return
  document.attentionLevel = level
  document.cookie = `attention_explorer_level=${level}; path=/; max-age=${ONE_YEAR}; samesite=lax`
}

// A step of a lesson leads down to its view: to the stage.
function leadDown() {
  addEventListener("click", (event) => {
    if (!event.composedPath().some((node) => node.matches?.('[class*="key-lesson_below_"]'))) return
    const target = document.querySelector('[data-mounted="stage.css"]')
    if (!target) return
    target.style.scrollMarginTop = "4rem" // below the bar with the button of the list of pages
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches
    target.scrollIntoView({ block: "start", behavior: still ? "auto" : "smooth" })
  })
}

// At a choice, Streamlit closes the list of pages only in a browser that calls itself a phone's. In any narrow window, it closes it at a
// press beside it: such a press comes after the choice.
function closeList() {
  addEventListener("click", ({ target }) => {
    if (!target.closest?.("nav a")) return
    setTimeout(() => document.querySelector("main")?.dispatchEvent(new MouseEvent("mousedown", { bubbles: true })))
  })
}

// What a run of the page has put into a box for it (its key ends with _said), a screen reader says, too, wherever the focus is.
const SAID = '[class*="_said"]'
const WAIT = 200 // milliseconds without a change: Streamlit draws a box piece by piece

function sayAloud() {
  const region = document.createElement("div")
  region.ariaLive = "polite"
  region.dataset.testid = "said"
  region.style.cssText = "position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%)"
  document.body.append(region)
  let [known, timer] = [new Set(), 0]
  const look = () => {
    const now = [...document.querySelectorAll(SAID)].map((box) => box.innerText.trim()).filter(Boolean)
    const news = now.filter((text) => !known.has(text))
    known = new Set(now)
    if (!news.length) return
    const words = news.join(" ")
    region.textContent = region.textContent === words ? `${words}\u00a0` : words // the same words are no change, and nobody would hear them
  }
  new MutationObserver((changes) => {
    if (changes.every(({ target }) => region.contains(target))) return
    clearTimeout(timer)
    timer = setTimeout(look, WAIT)
  }).observe(document.body, { childList: true, subtree: true, characterData: true })
}

export default function ({ data: [data], setTriggerValue, parentElement }) {
  const { host } = parentElement.getRootNode()
  if (host) host.dataset.mounted = "" // as every drawing does, see `settle`
  if (!document.attentionBegun) for (const begin of [makeOneStepOfArriving, closeList, leadDown, sayAloud]) begin()
  document.attentionBegun = true
  present(data, (wanted) => setTriggerValue("presented", wanted))
  document.documentElement.dataset.page = data.page
  listPages()
  explainTerms(data.terms ?? "")
  remember(data.level)
  settle(data)
  keepViews(data.views)
  askAgain(data.waits, (again) => setTriggerValue("again", again))
  runAfterLoss(() => setTriggerValue(data.held ? "lost" : "again", true))
}
