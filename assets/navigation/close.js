// On a phone the open sidebar covers the page; choosing a page there should show that page.
// Streamlit leaves the sidebar open, and mounts this anew on every page: the document remembers the last one.

const PHONE = "(max-width: 768px)"

export default function ({ data }) {
  const root = document.documentElement
  const before = root.dataset.page
  root.dataset.page = data
  if (before === undefined || before === data || !matchMedia(PHONE).matches) return
  document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click()
}
