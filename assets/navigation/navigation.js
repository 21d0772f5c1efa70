// What the list of pages needs beside its links. Streamlit mounts this anew on every page: the document remembers the rest.

const PHONE = "(max-width: 768px)"

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

export default function ({ data }) {
  replaceAddressOnArrival()
  closeOnPhones(data)
}
