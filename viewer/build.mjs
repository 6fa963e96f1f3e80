// Bundle the page: page.js for reports, widget.js for notebooks, page.css for both, the template of reports; and
// server.js and server.css for the pages of the server.
import { copyFileSync, readFileSync } from "node:fs";
import { build } from "esbuild";

const out = process.argv[2] ?? "../src/timme/page";

// Libraries that are bundled keep their licences, wherever the bundle goes.
const licences = ["ngl", "three", "chroma-js", "sprintf-js"].map((name) => {
  const text = readFileSync(`node_modules/${name}/LICENSE`, "utf8").replaceAll("*/", "* /");
  return `${name}\n\n${text.trim()}\n`;
});

const shared = {
  bundle: true,
  minify: true,
  charset: "utf8",
  legalComments: "eof",
  target: ["chrome110", "firefox121", "safari16.4"],
  logLevel: "warning",
};
const script = { ...shared, footer: { js: `/*!\n${licences.join("\n\n")}*/` } };
await build({ ...script, entryPoints: ["src/page.ts"], format: "iife", outfile: `${out}/page.js` });
await build({ ...script, entryPoints: ["src/widget.ts"], format: "esm", outfile: `${out}/widget.js` });
await build({ ...shared, entryPoints: ["src/server.ts"], format: "iife", outfile: `${out}/server.js` });
for (const name of ["page", "server"]) {
  await build({ ...shared, entryPoints: [`src/style/${name}.css`], outfile: `${out}/${name}.css` });
}
for (const name of ["report.html", "loader.js"]) copyFileSync(name, `${out}/${name}`);
