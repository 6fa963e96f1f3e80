// What the pages of the server work out by themselves.

import assert from "node:assert/strict";
import { test } from "node:test";
import { csvRows, csvText } from "../src/csv";
import { complaint, kindOf, ordered } from "../src/server/files";
import { chainsFrom } from "../src/server/list";
import { shortened, trivial } from "../src/server/tables";
import { isUnderWay, progressInWords, sizeInWords, timeInWords } from "../src/server/words";
import { words } from "./golden";

const KINDS = {
  topologies: [".pdb", ".psf", ".csv", ".xtc"],
  trajectories: [".pdb", ".xtc", ".gro"],
  bare_trajectories: [".xtc"],
};
const given = (...names: string[]): { name: string; size: number }[] => names.map((name) => ({ name, size: 1000 }));

test("tables are written and read as by hand", () => {
  for (const { rows, text } of words.tables) {
    assert.equal(csvText(rows), text);
    assert.deepEqual(csvRows(text), rows);
    assert.deepEqual(csvRows(text.replaceAll(/(?<!two)\n/g, "\r\n").trimEnd()), rows);
  }
});

test("numbers of a table have four digits, and all else is as it was", () => {
  const texts = ["0.123456789", "12", "", "-inf", "A 1-2", "1234.5678", "#00008b"];
  assert.deepEqual(texts.map(shortened), ["0.1235", "12", "", "−∞", "A 1-2", "1235", "#00008b"]);
});

test("the row of the cutoff below all levels is trivial, and no other", () => {
  const head = ["result", "cutoff", "best cutoff"];
  const rows = [["a", "-inf", "-inf"], ["a", "0.5", "-inf"], ["-inf", "0.5", "0.25"]];
  assert.deepEqual(rows.map((row) => trivial(head, row)), [true, false, false]);
  assert.equal(trivial(["result", "cluster"], ["a", "-inf"]), false);
});

test("the kind of a file is its extension, without that of a compression", () => {
  assert.deepEqual(["a.b.PDB", "x.xtc.gz", "noext", ".gz"].map(kindOf), [".pdb", ".xtc", "", ""]);
});

test("files are ordered as they are read, those that name nothing last, and numbers as numbers", () => {
  const files = given("b.xtc", "a10.xtc", "c.gro", "a9.xtc", "top.psf");
  assert.deepEqual(ordered(files, KINDS).map(({ name }) => name), ["top.psf", "c.gro", "a9.xtc", "a10.xtc", "b.xtc"]);
});

test("files that are not taken, and too large ones, are named before they are sent", () => {
  assert.equal(complaint(given("top.psf", "a.xtc"), KINDS, 2000), "");
  assert.equal(complaint(given("notes.docx"), KINDS, 2000), "notes.docx: files of this kind are not taken here");
  assert.equal(complaint(given("a.pdb", "b.psf"), KINDS, 2000), "b.psf: files of this kind are not taken after the first");
  assert.ok(complaint(given("top.psf", "a.xtc"), KINDS, 1999).startsWith("The files have 2 kB, but a job may have 2 kB:"));
});

test("chains are written in pairs", () => {
  assert.equal(chainsFrom("  "), null);
  assert.deepEqual(chainsFrom("A=B, C = D"), { A: "B", C: "D" });
  assert.throws(() => chainsFrom("A,B"), /written as A=B,C=D, got A,B/);
});

test("sizes and times are said in the largest unit that fits", () => {
  assert.deepEqual([0, 1499, 999_499, 999_500, 2e9].map(sizeInWords), ["1 kB", "1 kB", "999 kB", "1.0 MB", "2.0 GB"]);
  assert.deepEqual([0.4, 89, 90, 5399, 5400, 43200].map(timeInWords), ["a moment", "89 s", "2 min", "90 min", "1.5 h", "12 h"]);
});

test("a job is under way while it waits or runs, and says how far it is", () => {
  assert.deepEqual((["waiting", "running", "done", "failed"] as const).map((state) => isUnderWay({ state })), [true, true, false, false]);
  const waiting = { state: "waiting", progress: null } as const;
  assert.deepEqual(progressInWords({ ...waiting, ahead: 0 }), { stage: "Waiting", fraction: null, left: "It is next" });
  assert.equal(progressInWords({ ...waiting, ahead: 2 }).left, "2 jobs wait before it");
  const running = { state: "running", ahead: 0 } as const;
  assert.equal(progressInWords({ ...running, progress: null }).stage, "Starting");
  const progress = { stage: "measuring", done: 1, total: 4, seconds_left: 30 } as const;
  assert.deepEqual(progressInWords({ ...running, progress }), { stage: "Measuring", fraction: 0.25, left: "about 30 s left" });
});
