// What every drawing may say. The texts are Python's (pages/ui/stage/browser_texts.py): the module that starts a bundle fills this object.

export const TEXTS = {};
