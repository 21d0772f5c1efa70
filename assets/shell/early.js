// The page before Streamlit's scripts are there (pages/ui/shell/early_page.py): it draws the stored picture, has Streamlit's scripts
// fetched once that is painted, and hands over to Streamlit's page when this has a place for the same picture.

import { fetchDrawing, gate } from "./drawing.js"

const [LATEST, SLOW, LAID_OUT] = [2500, 15000, 3000] // milliseconds: Streamlit's scripts wait for a picture; "connecting" is said; a box above the picture is waited for
const root = document.documentElement
const early = document.getElementById("early")
const told = JSON.parse(document.getElementById("early-told").textContent)
const [frame, place, said] = [".frame", ".picture", ".told"].map((name) => early.querySelector(name))
const boxes = [...early.querySelectorAll("input")]
const shown = { over: false, end: null }
const handedOver = new AbortController()
const listening = { capture: true, signal: handedOver.signal }
let isHeld = false // a pointer is down: what is pressed stays where it is
let isAwaited = false // Streamlit's page has a place for the picture
let inside = null // what has the focus in the picture: a browser without moveBefore takes it away
let framework = document.getElementById("framework")

const frames = (action) => requestAnimationFrame(() => requestAnimationFrame(action))
const say = (text) => { said.textContent = text }

function startFramework() {
  if (!framework) return
  const { content } = framework
  framework.remove()
  framework = null
  document.getElementById("root").inert = true
  document.body.append(document.importNode(content, true))
}

// What Streamlit begins with is fetched while our picture is drawn, behind what is ours.
function hintFramework() {
  for (const link of framework?.content.querySelectorAll("link[rel=modulepreload], script[src]") ?? []) {
    const hint = Object.assign(document.createElement("link"), { rel: "modulepreload", href: link.src ?? link.href, crossOrigin: "", fetchPriority: "low" })
    document.head.append(hint)
  }
}

function messageOf({ header }, body) {
  const words = new TextEncoder().encode(JSON.stringify(header))
  const message = new Uint8Array(4 + words.length + body.length)
  new DataView(message.buffer).setUint32(0, words.length, true)
  message.set(words, 4)
  message.set(body, 4 + words.length)
  return message
}

function drawPicture() {
  const box = document.createElement("div")
  box.className = "stage-box"
  place.attachShadow({ mode: "open" }).append(box)
  const draw = fetchDrawing(told.path, told.modules, ["stage.css"], told.notLoaded)
  import(new URL(`${told.path}/${told.modules.at(-1)}`, document.baseURI).href).then(hintFramework, () => {})
  const show = (body) => draw({ data: messageOf(told, body), parentElement: box, isEarly: true }, shown)
  const drawn = show(Uint8Array.from(atob(told.numbers), (one) => one.charCodeAt(0)))
  if (told.rest) {
    place.inert = true
    drawn.then(() => frames(() => drawRest(show)))
  }
  return drawn
}

// Numbers that are not drawn, but that sums are made of, come behind the picture: before that, no sum is asked for.
async function drawRest(show) {
  const answer = await fetch(new URL(told.rest, document.baseURI)).catch(() => null)
  if (!answer?.ok || shown.over) return
  await show(new Uint8Array(await answer.arrayBuffer()))
  place.inert = false
}

// --- Handing over

// Streamlit's page has a place for the picture: it is taken there when all boxes above it are drawn, and nothing is pressed.
gate.wait = (host) => new Promise((done) => {
  isAwaited = true
  const end = performance.now() + LAID_OUT
  const isAbove = (box) => box.compareDocumentPosition(host) & Node.DOCUMENT_POSITION_FOLLOWING
  const look = () => {
    const unknown = [...document.querySelectorAll("#root [data-testid=stSkeleton]")].some(isAbove)
    if (isHeld || (unknown && performance.now() < end)) return setTimeout(look, 30)
    frame.style.height = `${frame.offsetHeight}px` // when the picture is taken, this page stays as far down as it is
    inside = place.shadowRoot?.activeElement
    done()
  }
  look()
})

// Called when the picture was taken to its place: what stood above it here may have been higher by some pixels.
gate.taken = (host) => {
  const [before, scrolled] = [place.getBoundingClientRect().top, early.querySelector(".scroller").scrollTop]
  const main = document.querySelector("#root main")
  if (main && scrolled) scrollTo(main, scrolled)
  const gap = before - host.getBoundingClientRect().top
  if (gap > 0 && told.header) {
    host.style.marginTop = `${gap}px`
    addEventListener("resize", () => { host.style.marginTop = "" }, { once: true })
  }
  end()
}

// Scrolls a page as far as the picture was, though what will stand below it may not be drawn: until the page has settled, it is high enough.
function scrollTo(main, top) {
  const page = main.firstElementChild
  page.style.minHeight = `${top + main.clientHeight}px`
  main.scrollTop = top
  const release = new MutationObserver(() => {
    page.style.minHeight = ""
    release.disconnect()
  })
  release.observe(root, { attributeFilter: ["data-settled"] })
}

// Gives way to Streamlit's page: what was typed goes into its boxes.
function end() {
  delete gate.wait
  delete gate.taken
  settled.disconnect()
  handedOver.abort()
  clearTimeout(slow)
  shown.over = true
  const focused = boxes.indexOf(document.activeElement)
  const { selectionStart, selectionEnd } = document.activeElement
  document.getElementById("root").inert = false
  early.remove()
  const theirs = [...document.querySelectorAll("#root main input[type=text], #root main textarea")]
  boxes.forEach(({ value, defaultValue }, number) => {
    const box = theirs[number]
    if (!box || value === defaultValue) return // typed, maybe before this script was there
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(box), "value").set.call(box, value)
    box.dispatchEvent(new Event("input", { bubbles: true }))
  })
  inside?.focus({ preventScroll: true })
  if (focused < 0 || !theirs[focused]) return
  theirs[focused].focus({ preventScroll: true })
  theirs[focused].setSelectionRange(selectionStart, selectionEnd)
}

// A page that ends without a picture, such as that of a full server, has said why.
const settled = new MutationObserver(() => {
  if (isAwaited || !("settled" in root.dataset) || document.querySelector("#root [data-mounted='stage.css']")) return
  end()
  shown.end?.()
})
settled.observe(root, { attributeFilter: ["data-settled"] })
const slow = setTimeout(() => say(told.connecting), SLOW)
addEventListener("error", ({ target }) => { if (target instanceof HTMLScriptElement) say(told.notWhole) }, listening)
say(told.waits)

for (const kind of ["pointerdown", "pointerup", "pointercancel", "contextmenu"]) addEventListener(kind, () => { isHeld = kind === "pointerdown" }, listening)
setTimeout(startFramework, LATEST)
frame.classList.toggle("waits", !told.header)
if (told.header) drawPicture().then(() => frames(startFramework), startFramework)
else {
  hintFramework()
  frames(startFramework)
}
