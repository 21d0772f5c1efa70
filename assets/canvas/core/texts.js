// What every drawing may say. The texts are Python's: pages/ui/stage/component.py serves a module of this name that holds them,
// and the stage fills this object (assets/stage/start.js, written by pages/ui/stage/component.py).

export const TEXTS = {};
