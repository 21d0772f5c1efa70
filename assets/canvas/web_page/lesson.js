// Draws the stored views of a lesson's file, each in its place; one behind a closed answer is drawn when it is opened.

export default function start(mount) {
  for (const host of document.querySelectorAll("[data-picture]")) {
    const bytes = Uint8Array.from(atob(host.dataset.picture), (sign) => sign.charCodeAt(0));
    mount({ data: bytes, parentElement: host, setStateValue: () => {} });
  }
}
