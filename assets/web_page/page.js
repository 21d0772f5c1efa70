// Starts the map of the page on the data that the file brings along.

const host = document.getElementById("view");
const bytes = Uint8Array.from(atob(document.getElementById("data").textContent.trim()), (sign) => sign.charCodeAt(0));
const show = () => mountView({ data: bytes, parentElement: host, setStateValue: () => {} });

show();
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
