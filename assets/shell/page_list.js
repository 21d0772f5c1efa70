// What Streamlit's list of pages lacks for a screen reader: it has one list whose items are not its children, and headers that
// are folded by the mouse only. Here each section is a list with a name, and its header stays as it is (assets/page.css).

export function listPages() {
  const items = document.querySelector("#root nav > ul")
  items?.setAttribute("role", "none")
  for (const section of items?.children ?? []) {
    const header = section.querySelector("header")
    if (!header) continue
    section.setAttribute("role", "list")
    section.setAttribute("aria-label", header.innerText.split("\n")[0])
    header.ariaHidden = "true"
  }
}
