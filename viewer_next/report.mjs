// Write a report for each fixture into a folder, in the way Python does: node report.mjs BUNDLE REPORTS.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const [bundle = "../src/timme_next/page", folder = "reports"] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const fixtures = `${folder}/fixtures.mjs`;
await build({ entryPoints: ["tests/fixtures.ts"], outfile: fixtures, bundle: true, format: "esm", platform: "node" });
const { molecule, particles, comparison } = await import(pathToFileURL(fixtures));

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const pack = (text) => gzipSync(text, { level: 9 }).toString("base64");
const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
const [script, style, loader, template] = ["page.js", "page.css", "loader.js", "report.html"].map((name) =>
  readFileSync(`${bundle}/${name}`, "utf8"),
);
const policy =
  `default-src 'none'; script-src ${hash(script)} ${hash(loader)}; style-src ${hash(style)}; ` +
  "img-src data: blob:; base-uri 'none'; form-action 'none'";

for (const [name, scene] of Object.entries({ molecule: molecule(), particles: particles(), comparison: comparison() })) {
  const parts = { POLICY: policy, TITLE: escape(scene.title), STYLE: style, SCENE: pack(JSON.stringify(scene)), SCRIPT: pack(script), LOADER: loader };
  const html = template.replace(/%([A-Z]+)%/g, (_, part) => parts[part]);
  writeFileSync(`${folder}/${name}.html`, html);
  console.log(`${folder}/${name}.html ${(html.length / 1e3).toFixed(0)} kB`);
}
