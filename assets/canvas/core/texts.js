// What every drawing may say. The texts stand in assets/stage/texts.json: the module that starts a bundle fills this object with them.

export const TEXTS = {};
