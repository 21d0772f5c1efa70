// What a stage has to do with its page: what it reports, the same way for all stages, and when it is shown to a room.

import { TEXTS } from "../../canvas/core/texts.js";

const COMPUTING = 200; // milliseconds after which a change that is computed says so
const FOLLOWED = 250; // milliseconds after a look, before what stands below the stage is told of it

// Gives a stage its ways to the page; without `mounted`, in a file, nobody hears it. written(): the view as links write it, or undefined.
// Each report brings the view along, so that nothing that was looked at is lost, and the address is written before: the server reads it.
export function connect(stage, mounted, written) {
  const send = (how, name, value) => {
    if (!mounted) return;
    stage.address.now();
    mounted[how](name, value);
  };
  stage.report = (name, value = {}) => {
    const view = written();
    send("setTriggerValue", name, { ...value, ...(view && { view }), at: Date.now() });
  };
  stage.follow = () => send("setStateValue", "view", written());
}

// Reports what is to be computed; says so where it takes longer.
export function compute(stage, name, value) {
  clearTimeout(stage.computing);
  stage.computing = setTimeout(() => { stage.waiting.textContent = TEXTS.computing; }, COMPUTING);
  stage.report(name, value);
}

export function computed(stage) {
  clearTimeout(stage.computing);
  stage.waiting.textContent = "";
}

// After a look: a step of a lesson may wait for the first one, and something below may follow them.
export function tellLook(stage) {
  const { header } = stage;
  if (header.awaited) {
    header.awaited = false;
    stage.report("touched");
  }
  clearTimeout(stage.following);
  if (header.follows) stage.following = setTimeout(stage.follow, FOLLOWED);
}

// Shows the stage to a room; the browser's full screen may be refused, and nothing is lost.
export function present() {
  const { attentionPresenter: presenter } = document.documentElement;
  document.documentElement.requestFullscreen?.().catch(() => {});
  if (presenter) return presenter.toggle(true);
  const address = new URL(location.href); // the script that shows pages to rooms is on its way
  address.searchParams.set("present", "1");
  history.replaceState(history.state, "", address);
}

// While the stage is shown to a room, Page Down and Page Up turn its pictures. turn(by): returns whether there was another one.
export function onTurn({ root }, turn) {
  const take = (event) => root.classList.contains("presented") && turn(event.detail) && event.preventDefault();
  addEventListener("attention-turn", take);
  return () => removeEventListener("attention-turn", take);
}

