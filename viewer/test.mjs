// Bundle the tests into a folder, from which node runs them without any other tool.
import { readdirSync } from "node:fs";
import { build } from "esbuild";

const tests = readdirSync("tests").filter((name) => name.endsWith(".test.ts"));
await build({
  entryPoints: tests.map((name) => `tests/${name}`),
  outdir: process.argv[2],
  outExtension: { ".js": ".mjs" },
  bundle: true,
  format: "esm",
  platform: "node",
  sourcemap: "inline",
  logLevel: "warning",
});
