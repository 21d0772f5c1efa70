// Starts a drawing on the data that a stand-alone page brings along.

export default function start(mount) {
  const host = document.getElementById("view");
  const bytes = Uint8Array.from(atob(document.getElementById("data").textContent.trim()), (sign) => sign.charCodeAt(0));
  const show = () => mount({ data: bytes, parentElement: host, setStateValue: () => {} });
  show();
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
}
