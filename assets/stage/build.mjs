// Bundles the stage into dist: `npm install --no-save esbuild && node assets/stage/build.mjs`, in the project's root. The
// output is committed. Its first line names the sources and their hash: tests/pages/ui/stage/test_scripts.py holds them equal.

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const assets = dirname(here);
for (const entry of ["attention", "compare", "fill_mask", "next_word", "masks", "matrices", "pictures", "routes", "training", "bert"]) await bundle(entry);

async function bundle(entry) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: assets, entryPoints: [`stage/${entry}.js`], bundle: true, minify: !process.env.PLAIN, charset: "utf8", format: "iife", globalName: "stage",
    footer: { js: "export default stage;" }, write: false, metafile: true, legalComments: "none",
  });
  const sources = Object.keys(metafile.inputs).sort();
  const hash = createHash("sha256");
  for (const source of sources) hash.update(`${source}\0`).update(readFileSync(join(assets, source))).update("\0");
  const written = `// ${hash.digest("hex")} ${sources.join(" ")}\n${outputFiles[0].text}`;
  writeFileSync(join(here, "dist", `${entry}.js`), written);
  console.log(relative(process.cwd(), join(here, "dist", `${entry}.js`)), written.length);
}
