// Bundle the page: page.js for reports and servers, widget.js for notebooks, page.css for all; and the
// scripts of the server's own pages, start.js and result.js, which fetch page.js where they need it.
import { readFileSync } from "node:fs";
import { build } from "esbuild";

const out = process.argv[2] ?? "../src/timme/page";

// What is built in keeps its licence, wherever the bundle goes.
const licences = ["ngl", "three", "chroma-js", "sprintf-js"].map((name) => {
  const text = readFileSync(`node_modules/${name}/LICENSE`, "utf8").replaceAll("*/", "* /");
  return `${name}\n\n${text.trim()}\n`;
});

const shared = {
  bundle: true,
  minify: true,
  charset: "utf8",
  legalComments: "eof",
  target: ["chrome110", "firefox121", "safari16"],
  logLevel: "warning",
};
const script = { ...shared, footer: { js: `/*!\n${licences.join("\n\n")}*/` } };
await build({ ...script, entryPoints: ["src/page.ts"], format: "iife", outfile: `${out}/page.js` });
await build({ ...script, entryPoints: ["src/widget.ts"], format: "esm", outfile: `${out}/widget.js` });
await build({ ...shared, entryPoints: ["src/theme.css"], outfile: `${out}/page.css` });
await build({ ...shared, entryPoints: ["src/server/start.ts", "src/server/result.ts"], format: "esm", outdir: out });
