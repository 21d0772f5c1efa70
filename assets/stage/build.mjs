// Bundles what draws into dist: `npm install --no-save esbuild && node assets/stage/build.mjs`, in the project's root. The
// output is committed. Its first line names the sources and their hash: tests/pages/ui/stage/test_scripts.py holds them equal.

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const STAGES = ["attention", "compare", "fill_mask", "next_word", "pictures", "routes", "training", "bert"].map((name) => `stage/${name}.js`);
const OTHERS = ["question/question", "classroom/live", "classroom/qr", "steps/strip", "draft/keeper", "terms/terms"].map((name) => `canvas/${name}.js`);
const here = dirname(fileURLToPath(import.meta.url));
const assets = dirname(here);
for (const entry of [...STAGES, ...OTHERS]) await bundle(entry);

// Beside what an entry exports, a bundle has the texts that Python fills in.
async function bundle(entry) {
  const exported = `export * from "./${entry}"; export { default } from "./${entry}"; export { TEXTS } from "./canvas/core/texts.js";`;
  const { outputFiles, metafile } = await build({
    absWorkingDir: assets, stdin: { contents: exported, resolveDir: assets }, bundle: true, minify: !process.env.PLAIN, charset: "utf8", format: "iife", globalName: "stage",
    footer: { js: "export default stage;" }, write: false, metafile: true, legalComments: "none",
  });
  const sources = Object.keys(metafile.inputs).filter((source) => source !== "<stdin>").sort();
  const hash = createHash("sha256");
  for (const source of sources) hash.update(`${source}\0`).update(readFileSync(join(assets, source))).update("\0");
  const written = `// ${hash.digest("hex")} ${sources.join(" ")}\n${outputFiles[0].text}`;
  const to = join(here, "dist", basename(entry));
  writeFileSync(to, written);
  console.log(relative(process.cwd(), to), written.length);
}
