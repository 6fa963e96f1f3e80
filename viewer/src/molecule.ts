// The three-dimensional view: spheres and sticks in buffers of our own, cartoons by NGL.

import * as NGL from "ngl";
import { type Ink, rgb } from "./axes";
import { type Polymers, polymers } from "./cartoon";
import { Camera, type Point } from "./camera";
import { h } from "./dom";
import type { Change, Model } from "./model";
import { doubles, singles, type Space, wholes, words } from "./scene";
import { makeStage } from "./stage";
import { superposed } from "./superpose";
import { facts } from "./text";

// Radii of molecules in Å: sticks of clusters, of all, and of the grey rest.
const THICK = 0.32;
const STICK = 0.2;
const THIN = 0.09;
const VDW: Record<string, number> = { H: 1.1, C: 1.7, N: 1.55, O: 1.52, F: 1.47, P: 1.8, S: 1.8, CL: 1.75 };

// Radii of particles, in units of the distance of neighbours, as in the scripts for other viewers.
const NODE = 0.3;
const JOINT = 0.2;
const SMALL = 0.12;

const SPAN = 3; // distance of neighbouring particles in the units of the view
const FADE = 0.8; // how far what is not looked at is mixed with the background
const MOTION = 500; // milliseconds of a zoom

interface Buffer {
  setAttributes(data: Record<string, Float32Array>): void;
  geometry: { attributes: Record<string, { array: Float32Array; itemSize: number }> };
}

interface Cartoon {
  repr: NGL.RepresentationElement;
  structure: NGL.Structure;
  given: Polymers;
}

export class Molecule {
  readonly element: HTMLElement;
  readonly colours: Float32Array; // (sites, 3), as they are now
  readonly flat: boolean;
  private readonly stage: NGL.Stage;
  private readonly camera: Camera;
  private readonly space: Space;
  private readonly frames: Float32Array;
  private readonly nSites: number;
  private readonly scale: number; // units of the view in a unit of the scene
  private readonly sticks: Int32Array; // bonds, then contacts: pairs of sites
  private readonly nBonds: number;
  private readonly sigma: Float64Array; // of contacts
  private readonly elements: string[];
  private readonly polymer: Uint8Array; // whether a site is part of a cartoon
  private readonly spheres: Buffer;
  private readonly cylinders: Buffer | null;
  private readonly sphereRadius: Float32Array;
  private readonly from: Float32Array;
  private readonly to: Float32Array;
  private readonly stickRadius: Float32Array;
  private cartoon: Cartoon | null = null;
  private positions: Float32Array;

  constructor(
    private readonly model: Model,
    private readonly ink: () => Ink,
  ) {
    const space = model.scene.space!;
    this.space = space;
    this.flat = space.dimensions < 3;
    this.frames = singles(space.frames);
    this.nSites = this.frames.length / (3 * space.snapshots.length);
    this.scale = space.molecular ? 1 : SPAN / space.spacing;
    const [bonds, contacts] = [wholes(space.bonds), wholes(space.contacts)];
    this.sticks = Int32Array.from([...bonds, ...contacts]);
    this.nBonds = bonds.length / 2;
    this.sigma = doubles(space.contactSigma);
    this.elements = words(model.scene.sites.elements);
    this.polymer = new Uint8Array(this.nSites);
    this.colours = new Float32Array(3 * this.nSites);
    this.sphereRadius = new Float32Array(this.nSites);
    const nSticks = this.sticks.length / 2;
    this.from = new Float32Array(3 * nSticks);
    this.to = new Float32Array(3 * nSticks);
    this.stickRadius = new Float32Array(nSticks);
    this.positions = this.placed();

    this.element = h("div", { class: "stage" });
    this.stage = makeStage(this.element, this.flat);
    this.stage.setParameters({ backgroundColor: this.ink().paper });
    this.camera = new Camera(this.stage, space.molecular ? 2 : 0.6 * SPAN);
    [this.spheres, this.cylinders] = this.makeBuffers(nSticks);
    if (space.cartoon) void this.makeCartoon();
    if (space.box) this.drawBox(space.box);
    this.repaint();
    this.restyle();
    new ResizeObserver(() => this.stage.handleResize()).observe(this.element);
    this.listen();
  }

  update(change: Change | "theme"): void {
    if (change === "theme") this.stage.setParameters({ backgroundColor: this.ink().paper });
    if (change === "frame" || (change === "select" && this.model.fixed)) this.move();
    if (change === "cut" && this.model.fixed && this.model.frame > 0) this.move();
    if (change !== "frame" && change !== "select") this.repaint();
    if (change === "look") this.restyle();
    if (change !== "frame") this.describe();
    this.stage.viewer.requestRender();
  }

  // ---- camera -----------------------------------------------------------------------------------

  /** Look at everything: from above, at a box somewhat tilted, or with principal axes level. */
  reset(): void {
    this.stage.handleResize();
    const { box } = this.space;
    const points = this.seen().map((site) => this.at(site));
    if (this.flat) this.camera.level();
    else if (box) this.camera.tilt();
    else this.camera.align(points);
    const corners = box ? this.corners(box) : [];
    this.camera.look([...points, ...corners], box ? corners : points, 0);
  }

  /** Move the camera to some sites. */
  lookAt(sites: number[]): void {
    const points = sites.map((site) => this.at(site));
    this.camera.look(points, points, MOTION);
  }

  private at(site: number): Point {
    return [this.positions[3 * site]!, this.positions[3 * site + 1]!, this.positions[3 * site + 2]!];
  }

  private corners(box: number[][]): Point[] {
    const which = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => [bits & 1, (bits >> 1) & 1, bits >> 2] as const);
    return which.map((on) => [0, 1, 2].map((d) => this.scale * on.reduce((sum, part, k) => sum + part * box[k]![d]!, 0)) as Point);
  }

  image(): HTMLCanvasElement {
    const source = this.stage.viewer.renderer.domElement;
    this.stage.viewer.render();
    const copy = document.createElement("canvas");
    copy.width = source.width;
    copy.height = source.height;
    copy.getContext("2d")!.drawImage(source, 0, 0);
    return copy;
  }

  /** Sites of the cluster that a run of the whole leaf order holds. */
  sitesOf(start: number, stop: number): number[] {
    const { sitePlace } = this.model.hierarchy;
    const sites: number[] = [];
    for (let site = 0; site < this.nSites; site++) {
      if (sitePlace[site]! >= start && sitePlace[site]! < stop) sites.push(site);
    }
    return sites;
  }

  /** Where a site is on the screen, in pixels of the view. */
  onScreen(site: number): [number, number] {
    const [x, y] = this.camera.project(this.at(site));
    return [x, y];
  }

  /** Colours that the graphics card was given, as #rrggbb. */
  shownColours(): string[] {
    const { array, itemSize } = this.spheres.geometry.attributes.color!;
    const repeats = array.length / (itemSize * this.nSites);
    return Array.from({ length: this.nSites }, (_, site) => {
      const at = site * itemSize * repeats;
      const parts = [array[at]!, array[at + 1]!, array[at + 2]!];
      return `#${parts.map((part) => Math.round(255 * part).toString(16).padStart(2, "0")).join("")}`;
    });
  }

  // ---- colours and radii ------------------------------------------------------------------------

  private repaint(): void {
    this.paintSites();
    this.sizeSites();
    this.spheres.setAttributes({ color: this.colours, radius: this.sphereRadius });
    if (this.cylinders && this.model.style !== "spheres") {
      this.paintSticks();
      this.cylinders.setAttributes({ color: this.from, color2: this.to, radius: this.stickRadius });
    }
    if (this.cartoon && this.model.style === "cartoon") this.cartoon.repr.update({ color: true });
  }

  private paintSites(): void {
    const { model, colours } = this;
    const { highlight, hierarchy, cut } = model;
    const rest = rgb(model.scene.palettes.rest);
    const paper = rgb(this.ink().paper);
    const known = cut.clusters.map((cluster) => rgb(model.colour(cluster.family)));
    const lit = highlight ? rgb(model.colour(highlight.family)) : rest;
    for (let site = 0; site < this.nSites; site++) {
      const place = hierarchy.sitePlace[site]!;
      const label = place < 0 ? -1 : cut.wholeLabels[place]!;
      let colour = label < 0 ? rest : known[label]!;
      let fade = 0;
      if (highlight) {
        if (place >= highlight.whole.start && place < highlight.whole.stop) colour = lit;
        else fade = FADE;
      }
      for (let d = 0; d < 3; d++) colours[3 * site + d] = (colour[d]! * (1 - fade) + paper[d]! * fade) / 255;
    }
  }

  private sizeSites(): void {
    const { model, sphereRadius, space } = this;
    const unit = space.molecular ? 1 : SPAN;
    for (let site = 0; site < this.nSites; site++) {
      const inside = model.siteLabel(site) >= 0;
      let radius: number;
      if (model.style === "spheres") {
        radius = space.molecular ? (VDW[this.elements[site]!.toUpperCase()] ?? 1.7) : 0.5 * unit;
      } else if (model.style === "cartoon" && this.polymer[site]) {
        radius = 0;
      } else if (model.style === "clusters") {
        if (space.molecular && this.nBonds) radius = inside ? THICK : THIN;
        else if (space.molecular) radius = (inside ? NODE : SMALL) * space.spacing;
        else radius = (inside ? NODE : SMALL) * unit;
      } else {
        radius = space.molecular ? STICK : JOINT * unit;
      }
      sphereRadius[site] = Number.isFinite(this.positions[3 * site]!) ? radius : 0;
    }
  }

  private paintSticks(): void {
    const { model, sticks, colours, stickRadius, space } = this;
    const { style, cut } = model;
    const unit = space.molecular ? 1 : SPAN;
    const bonded = space.molecular;
    for (let k = 0; k < stickRadius.length; k++) {
      const [a, b] = [sticks[2 * k]!, sticks[2 * k + 1]!];
      for (let d = 0; d < 3; d++) {
        this.from[3 * k + d] = colours[3 * a + d]!;
        this.to[3 * k + d] = colours[3 * b + d]!;
      }
      const label = model.siteLabel(a);
      const together = label >= 0 && label === model.siteLabel(b);
      const hidden = style === "cartoon" && this.polymer[a] && this.polymer[b];
      if (hidden) stickRadius[k] = 0;
      else if (k >= this.nBonds) {
        const joined = together && this.sigma[k - this.nBonds]! <= cut.cutoff;
        stickRadius[k] = joined ? JOINT * (bonded ? 0.6 * space.spacing : unit) : 0;
      } else if (style === "clusters") {
        stickRadius[k] = together ? (bonded ? THICK : JOINT * unit) : bonded ? THIN : 0.25 * SMALL * unit;
      } else stickRadius[k] = bonded ? STICK : 0.5 * JOINT * unit;
    }
  }

  private restyle(): void {
    const { style } = this.model;
    this.cylinderRepr?.setVisibility(style !== "spheres");
    this.cartoon?.repr.setVisibility(style === "cartoon");
  }

  // ---- positions --------------------------------------------------------------------------------

  /** Sites of the frame in view, the fixed cluster laid onto where it is in the first. */
  private placed(): Float32Array {
    const { model, nSites, scale } = this;
    const frame = (k: number): Float32Array =>
      this.frames.slice(3 * nSites * k, 3 * nSites * (k + 1)).map((x) => x * scale);
    const here = frame(model.frame);
    if (!model.fixed || model.frame === 0) return here;
    const chosen = this.fixedSites();
    return chosen.length < 2 ? here : superposed(here, frame(0), chosen, this.flat);
  }

  private fixedSites(): number[] {
    const { model } = this;
    const cluster = model.cut.clusters[Math.max(0, model.selected)];
    if (!cluster) return this.seen();
    const whole = model.hierarchy.wholeRun(cluster.lowest, model.cut.cutoff);
    return this.sitesOf(whole.start, whole.stop);
  }

  private seen(): number[] {
    const sites: number[] = [];
    for (let site = 0; site < this.nSites; site++) if (Number.isFinite(this.frames[3 * site]!)) sites.push(site);
    return sites;
  }

  private move(): void {
    this.positions = this.placed();
    this.spheres.setAttributes({ position: this.positions });
    if (this.cylinders) {
      const [position1, position2] = this.ends();
      this.cylinders.setAttributes({ position1, position2 });
    }
    if (this.cartoon) {
      const { given, structure, repr } = this.cartoon;
      const own = new Float32Array(3 * given.sites.length);
      given.sites.forEach((site, k) => own.set(this.positions.subarray(3 * site, 3 * site + 3), 3 * k));
      structure.updatePosition(own);
      if (this.model.style === "cartoon") repr.update({ position: true });
    }
  }

  private ends(): [Float32Array, Float32Array] {
    const ends: [Float32Array, Float32Array] = [new Float32Array(this.from.length), new Float32Array(this.to.length)];
    for (let k = 0; k < this.stickRadius.length; k++) {
      for (const side of [0, 1] as const) {
        const site = this.sticks[2 * k + side]!;
        ends[side].set(this.positions.subarray(3 * site, 3 * site + 3), 3 * k);
      }
    }
    return ends;
  }

  // ---- parts of the stage -----------------------------------------------------------------------

  private cylinderRepr: NGL.RepresentationElement | null = null;

  private makeBuffers(nSticks: number): [Buffer, Buffer | null] {
    const spheres = new NGL.SphereBuffer(
      { position: this.positions, color: this.colours, radius: this.sphereRadius },
      {} as never,
    );
    this.add("sites", spheres);
    if (nSticks === 0) return [spheres as unknown as Buffer, null];
    const [position1, position2] = this.ends();
    const cylinders = new NGL.CylinderBuffer(
      { position1, position2, color: this.from, color2: this.to, radius: this.stickRadius },
      {},
    );
    this.cylinderRepr = this.add("sticks", cylinders);
    return [spheres as unknown as Buffer, cylinders as unknown as Buffer];
  }

  private add(name: string, buffer: unknown): NGL.RepresentationElement {
    const shape = new NGL.Shape(name);
    shape.addBuffer(buffer as never);
    const component = this.stage.addComponentFromObject(shape) as NGL.ShapeComponent;
    return component.addRepresentation("buffer", { roughness: 0.6 });
  }

  private async makeCartoon(): Promise<void> {
    const given = polymers(this.model.scene, this.positions);
    const { colours } = this;
    const scheme = NGL.ColormakerRegistry.addScheme(function (this: { atomColor: (atom: { index: number }) => number }) {
      this.atomColor = ({ index }) => {
        const at = 3 * given.sites[index]!;
        const part = (d: number): number => Math.round(255 * colours[at + d]!);
        return (part(0) << 16) | (part(1) << 8) | part(2);
      };
    } as never);
    const loaded = await this.stage.loadFile(new Blob([given.cif], { type: "text/plain" }), {
      ext: "cif",
      name: "polymers",
      defaultRepresentation: false,
    } as never);
    const component = loaded as NGL.StructureComponent;
    const repr = component.addRepresentation("cartoon", {
      colorScheme: scheme,
      aspectRatio: 5,
      radiusScale: 1,
      quality: given.sites.length > 8_000 ? "medium" : "high",
      smoothSheet: true,
    } as never);
    this.cartoon = { repr, structure: component.structure, given };
    for (const site of given.sites) this.polymer[site] = 1;
    this.repaint();
    this.restyle();
    this.move();
    this.stage.viewer.requestRender();
  }

  private drawBox(box: number[][]): void {
    const corners = this.corners(box);
    const ends: [Point, Point][] = [];
    for (let bits = 0; bits < 8; bits++) {
      for (const axis of [0, 1, 2]) {
        const there = box[axis]!.some((value) => value !== 0);
        if (there && !(bits & (1 << axis))) ends.push([corners[bits]!, corners[bits | (1 << axis)]!]);
      }
    }
    const extent = Math.max(...box.flat().map(Math.abs)) * this.scale;
    const grey = rgb(this.model.scene.palettes.rest).map((part) => part / 255);
    const colour = Float32Array.from(ends.flatMap(() => grey));
    this.add(
      "box",
      new NGL.CylinderBuffer(
        {
          position1: Float32Array.from(ends.flatMap(([low]) => low)),
          position2: Float32Array.from(ends.flatMap(([, high]) => high)),
          color: colour,
          color2: colour,
          radius: new Float32Array(ends.length).fill(0.0015 * extent),
        },
        {},
      ),
    );
  }

  private describe(): void {
    const canvas = this.stage.viewer.renderer.domElement;
    canvas.setAttribute("role", "img");
    const kind = this.flat ? "View from above" : "Three-dimensional view";
    canvas.setAttribute("aria-label", `${kind} of ${this.nSites} sites, coloured by cluster. ${facts(this.model)}`);
  }

  // ---- pointers ---------------------------------------------------------------------------------

  /** The nearest site under a point of the view, or -1. */
  private pick(x: number, y: number): number {
    let [best, nearest] = [-1, Infinity];
    for (let site = 0; site < this.nSites; site++) {
      const [sx, sy, depth, pixels] = this.camera.project(this.at(site));
      if (!(depth > 0) || depth >= nearest) continue;
      const drawn = this.sphereRadius[site]! || (this.polymer[site] ? 0.7 : 0);
      const reach = Math.max(4, drawn * pixels * 1.15);
      if ((sx - x) ** 2 + (sy - y) ** 2 <= reach * reach) [best, nearest] = [site, depth];
    }
    return best;
  }

  private listen(): void {
    const { element, model } = this;
    const shownAt = (event: PointerEvent): number => {
      const bounds = element.getBoundingClientRect();
      const site = this.pick(event.clientX - bounds.left, event.clientY - bounds.top);
      return site < 0 ? -1 : model.hierarchy.shownOf(site, model.cut.cutoff);
    };
    let from: { x: number; y: number } | null = null;
    element.addEventListener("pointerdown", (event) => {
      from = { x: event.clientX, y: event.clientY };
    });
    element.addEventListener("pointermove", (event) => {
      if (event.buttons === 0 && event.pointerType === "mouse") model.hover(shownAt(event));
    });
    element.addEventListener("pointerup", (event) => {
      if (from && Math.hypot(event.clientX - from.x, event.clientY - from.y) < 4) model.select(shownAt(event));
      from = null;
    });
    element.addEventListener("pointerleave", () => model.hover(-1));
  }
}
