// Clusters, colours and tables at every cutoff are those of the slow reference.

import assert from "node:assert/strict";
import { test } from "node:test";
import { csv } from "../src/export";
import { Model } from "../src/model";
import { modelOf, sceneOf, trees, treeNamed } from "./golden";

for (const tree of trees) {
  test(`the clusters of ${tree.name} are the golden ones at every cutoff`, () => {
    const { hierarchy } = modelOf(tree);
    for (const expected of tree.cuts) {
      const cut = hierarchy.cut(Number(expected.cutoff), tree.minSize);
      assert.equal(cut.count, expected.count);
      assert.equal(cut.largest, expected.largest);
      assert.deepEqual(
        cut.clusters.map((cluster) => ({
          members: [...hierarchy.members(cluster)],
          formed: cluster.formed,
          joined: cluster.joined,
          family: cluster.family,
        })),
        expected.clusters.map(({ members, formed, joined, family }) => ({
          members,
          formed: Number(formed),
          joined: Number(joined),
          family,
        })),
      );
    }
  });

  test(`every object of ${tree.name} is labelled with its cluster, shown or not`, () => {
    const model = modelOf(tree);
    for (const { cutoff, clusters } of tree.cuts) {
      model.setCutoff(Number(cutoff));
      const labelOf = (object: number): number => clusters.findIndex(({ objects }) => objects.includes(object));
      tree.residues.forEach((_, object) => assert.equal(model.siteLabel(object), labelOf(object)));
      tree.shown.forEach((object, shown) => assert.equal(model.cut.labels[shown], labelOf(object)));
    }
  });

  test(`colours of ${tree.name} are the golden ones in both palettes`, () => {
    const model = modelOf(tree);
    for (const palette of ["wide", "safe"] as const) {
      model.setPalette(palette);
      for (const { cutoff, clusters } of tree.cuts) {
        model.setCutoff(Number(cutoff));
        assert.deepEqual(model.cut.clusters.map(({ family }) => model.colour(family)), clusters.map((cluster) => cluster[palette]));
      }
    }
  });

  test(`the table of ${tree.name} is the golden clusters.csv`, () => {
    const model = modelOf(tree);
    for (const expected of tree.cuts) {
      model.setCutoff(Number(expected.cutoff));
      assert.equal(csv(model), expected.csv);
    }
  });

  test(`the cluster of any object of ${tree.name} is found from it`, () => {
    const model = modelOf(tree);
    model.setMinSize(1);
    for (const { cutoff, clusters } of tree.cuts) {
      for (const { members, objects } of clusters) {
        for (const shown of members) {
          const cluster = model.clusterOf(shown, Number(cutoff));
          assert.deepEqual(cluster && [...model.hierarchy.members(cluster)], members);
          const { start, stop } = model.hierarchy.wholeRun(shown, Number(cutoff));
          assert.deepEqual(tree.whole.order.slice(start, stop).sort((a, b) => a - b), objects);
        }
        for (const site of objects) assert.ok(members.includes(model.hierarchy.shownOf(site, Number(cutoff))));
      }
    }
  });
}

test("steps go from level to level, and below the first", () => {
  for (const tree of trees) {
    const { levels } = tree.tree;
    const [first] = levels;
    if (first === undefined) continue;
    const model = modelOf(tree);
    model.setCutoff(-Infinity);
    for (const level of levels) {
      model.step(1);
      assert.equal(model.cut.cutoff, level);
    }
    model.step(1);
    assert.equal(model.cut.cutoff, levels.at(-1));
    model.step(-levels.length);
    assert.ok(model.cut.cutoff < first);
    assert.equal(model.hierarchy.level(model.cut.cutoff), 0);
  }
});

test("a step back from between two levels ends at the lower of them", () => {
  for (const tree of trees) {
    const { levels } = tree.tree;
    const model = modelOf(tree);
    levels.slice(1).forEach((level, k) => {
      const below = levels[k] ?? NaN;
      model.setCutoff((level + below) / 2);
      model.step(-1);
      assert.equal(model.cut.cutoff, below);
    });
  }
});

test("the next suggestion follows the last one that was shown, wherever the cutoff went since", () => {
  const scene = sceneOf(treeNamed("a chain"));
  const suggestions = [0.25, 1, 1, 2].map((cutoff) => ({ cutoff, reason: "" }));
  const model = new Model({ ...scene, suggestions });
  const next = (): number => {
    model.nextSuggestion();
    return model.cut.cutoff;
  };
  assert.equal(model.cut.cutoff, 0.25);
  model.step(1);
  assert.equal(next(), 1);
  model.step(-1);
  assert.equal(next(), 1);
  assert.equal(next(), 2);
  model.step(-2);
  assert.equal(next(), 0.25);
  model.setCutoff(2);
  model.setCutoff(1.5);
  assert.equal(next(), 0.25);
  model.setCutoff(1.5);
  model.step(-1); // onto the second
  assert.equal(next(), 2);
});

test("without a suggestion there is none to go to", () => {
  const model = modelOf(treeNamed("a chain"));
  const { cutoff } = model.cut;
  model.nextSuggestion();
  assert.equal(model.cut.cutoff, cutoff);
});
