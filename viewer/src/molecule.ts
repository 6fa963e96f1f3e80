// The three-dimensional view: spheres and sticks in buffers of our own, cartoons by NGL.

import * as NGL from "ngl";
import { at, copyPoint, eachPair, type Point, pointAt, type Run } from "./arrays";
import { type Ink, rgb } from "./axes";
import { Cartoon } from "./cartoon";
import { Camera } from "./camera";
import { context2d, h } from "./dom";
import { HingeView } from "./hinges";
import { type Groups, Looks, SPAN } from "./looks";
import type { Change, Model } from "./model";
import { CanvasPainter } from "./painter";
import { Periodic, Wholeness } from "./periodic";
import { Presence } from "./presence";
import { type Space, singles } from "./scene";
import { Bodies, labelsOfSites } from "./screw";
import { endStage, makeStage } from "./stage";
import { superposed } from "./superpose";
import { facts } from "./text";

const MOTION = 500; // milliseconds of a zoom
const RIBBON = 0.7; // how near a pointer must be to a site within a cartoon, in Å

interface Attribute {
  array: Float32Array;
  itemSize: number;
}

interface Buffer {
  setAttributes(data: Record<string, Float32Array>): void;
  geometry: { attributes: { color: Attribute; radius: Attribute } };
}

export class Molecule {
  readonly element: HTMLElement;
  readonly flat: boolean;
  readonly bodies: Bodies | null; // rigid ones, where they were looked for
  private readonly stage: NGL.Stage;
  private readonly camera: Camera;
  private readonly frames: Float32Array[]; // positions of all sites, in the units of the view
  private readonly first: Float32Array; // those of the first frame
  private readonly nSites: number;
  private readonly presence: Presence;
  private readonly looks: Looks;
  private readonly periodic: Periodic | null;
  private readonly wholeness: Wholeness | null;
  private readonly spheres: Buffer;
  private readonly cylinders: Buffer | null;
  private readonly filled: boolean; // whether sites fill the periodic box, as a liquid does
  private readonly boxRepr: NGL.RepresentationElement | null; // of one that is filled; around a molecule it hides it
  private readonly hinges: HingeView | null; // axes of bodies that turn
  private readonly resized: ResizeObserver;
  private disposed = false;
  private cylinderRepr: NGL.RepresentationElement | null = null;
  private cartoon: Cartoon | null = null;
  private positions: Float32Array;
  private groups: Groups | null = null; // other than clusters, by which sites are coloured
  private tracked: { key: string; groups: Groups | null } = { key: "", groups: null }; // those of the window in view
  private keepable: { key: string; value: boolean } = { key: "", value: true };

  constructor(
    private readonly model: Model,
    space: Space,
    private readonly ink: () => Ink,
  ) {
    this.flat = space.dimensions < 3;
    const scale = space.molecular ? 1 : SPAN / space.spacing;
    const all = singles(space.frames).map((x) => x * scale);
    const count = all.length / space.snapshots.length;
    this.frames = space.snapshots.map((_, k) => all.subarray(count * k, count * (k + 1)));
    this.first = at(this.frames, 0);
    this.nSites = count / 3;
    this.presence = new Presence(space, this.frames.length, this.nSites);
    const { motion } = model.scene;
    this.bodies = motion ? new Bodies(model.scene, motion, space, scale, widthOf(this.first)) : null;
    const here = (site: number): boolean => this.isHere(site);
    this.looks = new Looks(model, space, ink, { width: widthOf(this.first), nSites: this.nSites, here, others: () => this.groups });
    const scaled = (vector: number[]): number[] => vector.map((x) => x * scale);
    this.periodic = space.box ? new Periodic(space.box.map(scaled), scaled(space.origin)) : null;
    const { bonds, contacts } = this.looks;
    this.wholeness = this.periodic ? new Wholeness(this.periodic, this.frames, bonds, contacts) : null;
    this.positions = this.placed();
    this.findCrossing();

    this.element = h("div", { class: "stage" });
    this.stage = makeStage(this.element, this.flat);
    this.stage.setParameters({ backgroundColor: this.ink().paper });
    this.camera = new Camera(this.stage, space.molecular ? 2 : 0.6 * SPAN);
    [this.spheres, this.cylinders] = this.makeBuffers();
    if (space.cartoon) void this.makeCartoon();
    const points = this.points();
    this.filled = this.periodic?.filledBy(points) ?? false;
    this.boxRepr = this.periodic && this.filled ? this.drawBox(this.periodic.edges(points)) : null;
    const { turning = [] } = this.bodies ?? {};
    const unit = space.molecular ? 1 : SPAN / 4;
    const drawn = { colours: motion?.colours ?? [], first: this.first, unit };
    const project = (place: Point): [number, number, ...number[]] => this.camera.project(place);
    this.hinges = turning.length ? new HingeView(this.stage, this.element, turning, drawn, project) : null;
    this.repaint();
    this.restyle();
    this.resized = new ResizeObserver(() => this.stage.handleResize());
    this.resized.observe(this.element);
    this.listen();
  }

  dispose(): void {
    this.disposed = true;
    this.resized.disconnect();
    endStage(this.stage);
  }

  update(change: Change | "theme"): void {
    if (change === "theme") this.stage.setParameters({ backgroundColor: this.ink().paper });
    if (change === "frame" || (change === "select" && this.model.fixed)) this.move();
    if (change === "cut" && this.model.fixed && this.model.frame > 0) this.move();
    if (change !== "frame" && change !== "select") this.repaint();
    if (change === "look") this.restyle();
    if (change !== "hover") this.boxRepr?.setVisibility(!this.kept); // it does not turn with what is kept
    if (change !== "frame") this.describe();
    this.stage.viewer.requestRender();
  }

  // ---- camera -----------------------------------------------------------------------------------

  /** Look at all sites, with the box where they fill it: from above, somewhat tilted, or with principal axes level. */
  reset(): void {
    this.stage.handleResize();
    const points = this.points();
    const corners = this.filled && this.periodic ? this.periodic.corners(points) : [];
    if (this.flat) this.camera.level();
    else if (corners.length) this.camera.tilt();
    else this.camera.align(points);
    this.camera.look([...points, ...corners], corners.length ? corners : points, 0);
  }

  /** Move the camera to some sites. */
  lookAt(sites: number[]): void {
    const here = sites.filter((site) => this.isHere(site));
    const points = (here.length ? here : sites).map((site) => this.pointOf(site));
    this.camera.look(points, points, MOTION);
  }

  private pointOf(site: number): Point {
    return pointAt(this.positions, site);
  }

  image(): HTMLCanvasElement {
    const source = this.stage.viewer.renderer.domElement;
    this.stage.viewer.render();
    const copy = document.createElement("canvas");
    copy.width = source.width;
    copy.height = source.height;
    const context = context2d(copy);
    context.drawImage(source, 0, 0);
    this.hinges?.draw(new CanvasPainter(context), source.width / this.stage.viewer.width, this.ink().mark);
    return copy;
  }

  /** Sites of the cluster that a run of the whole leaf order holds. */
  sitesOf(start: number, stop: number): number[] {
    const { sitePlace } = this.model.hierarchy;
    const sites: number[] = [];
    sitePlace.forEach((place, site) => {
      if (place >= start && place < stop) sites.push(site);
    });
    return sites;
  }

  /** Where a site is on the screen, in pixels of the view. */
  onScreen(site: number): [number, number] {
    const [x, y] = this.camera.project(this.pointOf(site));
    return [x, y];
  }

  /** Colours that the graphics card was given, as #rrggbb. */
  shownColours(): string[] {
    const { array } = this.spheres.geometry.attributes.color;
    const each = array.length / this.nSites; // numbers of a site, whose colour is repeated
    return Array.from({ length: this.nSites }, (_, site) => {
      const parts = Array.from(array.subarray(each * site, each * site + 3));
      return `#${parts.map((part) => Math.round(255 * part).toString(16).padStart(2, "0")).join("")}`;
    });
  }

  /** Radii of spheres that the graphics card was given. */
  shownSizes(): number[] {
    const { array } = this.spheres.geometry.attributes.radius;
    const repeats = array.length / this.nSites;
    return Array.from({ length: this.nSites }, (_, site) => at(array, site * repeats));
  }

  /** Pairs of sites between which a stick of some thickness was given to the graphics card. */
  shownSticks(): [number, number][] {
    if (!this.cylinders || this.model.style === "spheres") return [];
    const { array } = this.cylinders.geometry.attributes.radius;
    const { sticks } = this.looks;
    const repeats = array.length / (sticks.length / 2);
    const pairs: [number, number][] = [];
    eachPair(sticks, (a, b, k) => {
      if (at(array, k * repeats) > 0) pairs.push([a, b]);
    });
    return pairs;
  }

  // ---- colours and radii ------------------------------------------------------------------------

  private repaint(): void {
    const { looks } = this;
    this.groups = this.chosenGroups();
    looks.colourSites();
    looks.sizeSites();
    this.spheres.setAttributes({ color: looks.colours, radius: looks.radius });
    this.repaintSticks();
    if (this.model.style === "cartoon") this.cartoon?.recolour();
  }

  private repaintSticks(): void {
    if (!this.cylinders || this.model.style === "spheres") return;
    const { looks } = this;
    looks.paintSticks();
    this.cylinders.setAttributes({ color: looks.from, color2: looks.to, radius: looks.stickRadius });
  }

  /** What sites are coloured by, if not by the clusters of the cutoff. */
  private chosenGroups(): Groups | null {
    const { scene, colouring, window, palette } = this.model;
    const { motion, windows } = scene;
    if (colouring === "bodies" && motion && this.bodies) return { of: this.bodies.of, colours: motion.colours.slice(0, -1) };
    if (colouring !== "windows" || !windows) return null;
    const key = `${window} ${palette}`;
    if (key !== this.tracked.key) {
      const tracks = Int32Array.from(at(windows.tracks, window));
      const count = tracks.reduce((most, track) => Math.max(most, track + 1), 0);
      const colours = Array.from({ length: count }, (_, track) => this.model.trackColour(track));
      this.tracked = { key, groups: { of: labelsOfSites(scene, tracks), colours } };
    }
    return this.tracked.groups;
  }

  private restyle(): void {
    const { style } = this.model;
    this.cylinderRepr?.setVisibility(style !== "spheres");
    this.cartoon?.show(style === "cartoon");
    this.hinges?.show(this.model.colouring === "bodies");
  }

  // ---- positions --------------------------------------------------------------------------------

  /** Whether the selected cluster, or else the core, can be kept in place: whether no box breaks it. */
  canKeep(): boolean {
    if (!this.wholeness) return true;
    const { start, stop } = this.keptRun();
    const key = `${start} ${stop}`;
    if (key !== this.keepable.key) this.keepable = { key, value: this.wholeness.whole(this.fixedSites()) };
    return this.keepable.value;
  }

  private get kept(): boolean {
    return this.model.fixed && this.canKeep();
  }

  /** Sites of the frame in view, the fixed cluster or body laid onto where it is in the first; or bodies moved along their ways. */
  private placed(): Float32Array {
    const { frame, colouring, turn } = this.model;
    const here = at(this.frames, frame);
    if (this.bodies && colouring === "bodies") {
      if (turn !== null) return this.bodies.at(this.first, turn);
      return frame === 0 ? here : superposed(here, this.first, this.bodies.still, this.flat);
    }
    if (frame === 0 || !this.kept) return here;
    const chosen = this.fixedSites().filter((site) => this.presence.has(frame, site));
    return chosen.length < 2 ? here : superposed(here, this.first, chosen, this.flat);
  }

  /** Places, in the leaf order of all objects, of the selected cluster, of the core, or of everything. */
  private keptRun(): Run {
    const { cut, hierarchy, selected } = this.model;
    const cluster = cut.clusters[Math.max(0, selected)];
    return cluster ? hierarchy.wholeRun(cluster.lowest, cut.cutoff) : { start: -1, stop: Infinity };
  }

  private fixedSites(): number[] {
    const { start, stop } = this.keptRun();
    return this.sitesOf(start, stop).filter((site) => this.isKnown(site));
  }

  /** Where sites are, or were last, or will be first. */
  private points(): Point[] {
    const sites = Array.from({ length: this.nSites }, (_, site) => site);
    return sites.filter((site) => this.isKnown(site)).map((site) => this.pointOf(site));
  }

  /** Whether a site is ever seen. */
  private isKnown(site: number): boolean {
    return Number.isFinite(this.first[3 * site]);
  }

  /** Whether a site is seen in the frame in view. */
  private isHere(site: number): boolean {
    return this.isKnown(site) && this.presence.has(this.model.frame, site);
  }

  private move(): void {
    this.positions = this.placed();
    this.spheres.setAttributes({ position: this.positions });
    if (this.cylinders) {
      const [position1, position2] = this.ends();
      this.cylinders.setAttributes({ position1, position2 });
    }
    const crossing = this.findCrossing();
    if (this.presence.gapped) this.repaint();
    else if (crossing) this.repaintSticks();
    this.cartoon?.move(this.positions, this.model.style === "cartoon");
  }

  /** Find the sticks that cross the periodic box in the frame in view; true where there is one. */
  private findCrossing(): boolean {
    const { periodic } = this;
    if (!periodic) return false;
    const { sticks, crossing } = this.looks;
    const here = at(this.frames, this.model.frame); // not as turned to keep a cluster in place
    eachPair(sticks, (a, b, k) => {
      crossing[k] = Number(periodic.separates(pointAt(here, a), pointAt(here, b)));
    });
    return true;
  }

  private ends(): [Float32Array, Float32Array] {
    const { sticks, from, to } = this.looks;
    const [one, other] = [new Float32Array(from.length), new Float32Array(to.length)];
    eachPair(sticks, (a, b, k) => {
      copyPoint(this.positions, a, one, k);
      copyPoint(this.positions, b, other, k);
    });
    return [one, other];
  }

  // ---- parts of the stage -----------------------------------------------------------------------

  private makeBuffers(): [Buffer, Buffer | null] {
    const { colours, radius, from, to, stickRadius } = this.looks;
    const spheres = new NGL.SphereBuffer({ position: this.positions, color: colours, radius }, {} as never);
    this.add("sites", spheres);
    if (stickRadius.length === 0) return [spheres as unknown as Buffer, null];
    const [position1, position2] = this.ends();
    const cylinders = new NGL.CylinderBuffer({ position1, position2, color: from, color2: to, radius: stickRadius }, {});
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
    const { looks } = this;
    const cartoon = await Cartoon.on(this.stage, this.model.scene, this.positions, looks.colours);
    if (this.disposed) return;
    this.cartoon = cartoon;
    for (const site of this.cartoon.drawn()) looks.ribbon[site] = 1;
    this.repaint();
    this.restyle();
    this.move();
    this.stage.viewer.requestRender();
  }

  private drawBox(ends: [Point, Point][]): NGL.RepresentationElement {
    const longest = Math.max(...ends.map(([low, high]) => Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2])));
    const grey = rgb(this.model.scene.palettes.rest).map((part) => part / 255);
    const colour = Float32Array.from(ends.flatMap(() => grey));
    const buffer = new NGL.CylinderBuffer(
      {
        position1: Float32Array.from(ends.flatMap(([low]) => low)),
        position2: Float32Array.from(ends.flatMap(([, high]) => high)),
        color: colour,
        color2: colour,
        radius: new Float32Array(ends.length).fill(0.0015 * longest),
      },
      {},
    );
    return this.add("box", buffer);
  }

  private describe(): void {
    const canvas = this.stage.viewer.renderer.domElement;
    canvas.setAttribute("role", "img");
    const kind = this.flat ? "View from above" : "Three-dimensional view";
    const { motion } = this.model.scene;
    const { colouring, window } = this.model;
    const how = { bodies: `rigid body: ${motion?.words}.`, windows: `clusters of window ${window + 1}.`, clusters: `cluster. ${facts(this.model)}` }[colouring];
    canvas.setAttribute("aria-label", `${kind} of ${this.nSites} sites, coloured by ${how}`);
  }

  // ---- pointers ---------------------------------------------------------------------------------

  /** The nearest site under a point of the view, or -1. */
  private pick(x: number, y: number): number {
    let [best, nearest] = [-1, Infinity];
    for (let site = 0; site < this.nSites; site++) {
      if (!this.isHere(site)) continue;
      const [sx, sy, depth, pixels] = this.camera.project(this.pointOf(site));
      if (!(depth > 0) || depth >= nearest) continue;
      const drawn = this.looks.radius[site] || (this.looks.ribbon[site] ? RIBBON : 0);
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

/** How far points reach, in the direction in which they reach farthest. */
function widthOf(points: Float32Array): number {
  const reach = [0, 1, 2].map((d) => {
    const along = points.filter((x, k) => k % 3 === d && Number.isFinite(x));
    return along.reduce((most, x) => Math.max(most, x), -Infinity) - along.reduce((least, x) => Math.min(least, x), Infinity);
  });
  return Math.max(...reach);
}
