// What the list of pages needs beside its links. Streamlit mounts this anew on every page: the document remembers the rest.

const PHONE = "(max-width: 768px)"
const UNSETTLED = [
  '[data-testid="stApp"]:not([data-test-script-state="notRunning"])',
  '[data-testid="stSkeleton"]',
  '[data-testid="stMain"] [data-testid="stBidiComponentIsolated"]:not([data-mounted])',
].join()
const LONGEST_UNSETTLED = 3000 // milliseconds; a box that takes longer stands for what is being computed

// On a phone the open list covers the page; choosing a page there should show that page. Streamlit leaves the list open.
function closeOnPhones(page) {
  const root = document.documentElement
  const before = root.dataset.page
  root.dataset.page = page
  if (before === undefined || before === page || !matchMedia(PHONE).matches) return
  document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click()
}

// A link leads to the bare address of a page, which then writes its view into it: the sentence that came along, or the view
// that was left. Streamlit would make that a second step of the history, and Back would stop at an address that nobody saw.
// Until the reader does something on the page, what it writes replaces its address.
function replaceAddressOnArrival() {
  if (history.attentionExplorer) return
  history.attentionExplorer = true
  const push = history.pushState
  let arriving = false
  history.pushState = (state, title, url) => {
    const samePage = new URL(url, location.href).pathname === location.pathname
    if (samePage && arriving) return history.replaceState(state, title, url)
    arriving = !samePage
    return push.call(history, state, title, url)
  }
  for (const kind of ["pointerdown", "keydown", "popstate"]) addEventListener(kind, () => { arriving = false }, { capture: true })
}

// Until a first visit's scripts are there, the start page shows nothing below a box of unknown height.
function settle(page) {
  const root = document.documentElement
  if ("settled" in root.dataset) return
  const end = performance.now() + LONGEST_UNSETTLED
  const look = () => {
    if (document.querySelector(UNSETTLED) && performance.now() < end) setTimeout(look, 100)
    else root.dataset.settled = page
  }
  look()
}

export default function ({ data }) {
  replaceAddressOnArrival()
  closeOnPhones(data)
  settle(data)
}
