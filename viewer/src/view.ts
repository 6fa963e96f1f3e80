// The three-dimensional view: sites and sticks in buffers of our own, the cartoon by ngl.

import * as NGL from "ngl";
import { at, copyPoint, eachPair, extent, type Point, pointAt } from "./arrays";
import { BodyAxes } from "./axes3d";
import { PeriodicBox } from "./box";
import { Camera } from "./camera";
import { Cartoon } from "./cartoon";
import { type Colouring, mixed, rgb } from "./colours";
import { h } from "./dom";
import { Frames, SPAN } from "./frames";
import { type Space, wholes, words } from "./scene";
import type { Change, State } from "./state";

const ZOOM = 500; // milliseconds
const FADE = 0.8; // how far all but the hovered cluster is mixed with the background
const RIBBON = 0.7; // Å, how near a pointer must be to a site within a cartoon
const VDW: Record<string, number> = { H: 1.1, C: 1.7, N: 1.55, O: 1.52, P: 1.8, S: 1.8 };
const STICK = 0.25; // Å
const NODE = 0.3; // radii of particles, in units of the distance of neighbours
const SMALL = 0.12;
const JOINT = 0.05;
const LEAST_NODE = 0.011; // of the width of everything, or few particles in a wide room are hardly seen

interface Attribute {
  array: Float32Array;
}

interface Buffer {
  setAttributes(data: Record<string, Float32Array>): void;
  geometry: { attributes: { color: Attribute; radius: Attribute } };
}

export class View {
  readonly element: HTMLElement;
  private readonly flat: boolean;
  private readonly stage: NGL.Stage;
  private readonly camera: Camera;
  private readonly frames: Frames;
  private positions: Float32Array;
  private readonly sticks: Int32Array; // pairs of sites
  private readonly elements: string[];
  private readonly width: number; // of everything in the first frame
  private readonly covered: Uint8Array; // (sites,), whether the cartoon shows it
  private readonly box: PeriodicBox | null;
  private readonly spheres: Buffer;
  private readonly cylinders: Buffer | null;
  private axes: BodyAxes | null;
  private readonly colours: Float32Array; // (sites, 3), from 0 to 1
  private readonly radii: Float32Array;
  private readonly known = new Map<string, Point>(); // colours as numbers
  private readonly observer: ResizeObserver;
  private cartoon: Cartoon | null = null;
  private disposed = false;

  constructor(
    private readonly state: State,
    private readonly colouring: Colouring,
    private readonly space: Space,
    private readonly paper: () => string,
  ) {
    this.flat = space.dimensions < 3;
    this.frames = new Frames(space);
    const { nSites, toView } = this.frames;
    this.positions = this.frames.positions(state.frame, state.superposed);
    this.sticks = wholes(space.bonds);
    this.elements = words(state.scene.sites.elements);
    this.covered = new Uint8Array(nSites);
    this.colours = new Float32Array(3 * nSites);
    this.radii = new Float32Array(nSites);
    const points = this.points();
    const extents = [0, 1, 2].map((d) => extent(points.map((point) => point[d]!)));
    this.width = Math.max(...extents.map(([low, high]) => high - low));
    const origin = toView([0, 0, 0]);
    const vectors = space.box?.map((vector) => vector.map((x) => x * this.frames.scale) as Point);
    this.box = vectors ? new PeriodicBox(vectors, origin, points) : null;

    this.element = h("div", { class: "stage" });
    this.stage = makeStage(this.element, this.flat);
    this.camera = new Camera(this.stage, space.molecular ? 2 : 0.6 * SPAN);
    this.spheres = this.addSpheres();
    this.cylinders = this.sticks.length ? this.addCylinders() : null;
    if (this.box && !space.molecular) this.addBox(this.box);
    this.axes = this.addAxes();
    if (space.cif) void this.addCartoon();
    this.update("colour");
    this.update("style");
    this.observer = new ResizeObserver(() => this.stage.handleResize());
    this.observer.observe(this.element);
    this.listen();
  }

  dispose(): void {
    this.disposed = true;
    this.observer.disconnect();
    const { renderer } = this.stage.viewer;
    this.stage.removeAllComponents();
    this.stage.dispose();
    renderer.forceContextLoss(); // a browser has few contexts for all views
    renderer.domElement.remove();
  }

  update(change: Change | "theme"): void {
    this.stage.setParameters({ backgroundColor: this.paper() });
    if (change === "palette") {
      this.axes?.dispose();
      this.axes = this.addAxes();
    }
    if (change === "frame") this.move();
    if (change === "frame" ? this.box || this.frames.gapped : change !== "select") this.paint();
    if (change !== "frame" && change !== "select" && this.state.style === "cartoon") this.cartoon?.recolour();
    if (change !== "hover" && change !== "select") {
      const { colouring, superposed, style } = this.state;
      this.axes?.show(colouring === "groups" && (superposed || this.state.frame === 0));
      this.cartoon?.show(style === "cartoon");
      this.describe();
    }
    this.stage.viewer.requestRender();
  }

  // ---- camera -----------------------------------------------------------------------------------

  /** Look at everything as at the start. */
  reset(): void {
    this.stage.handleResize();
    this.camera.turn(this.space.view, this.flat);
    const { molecular } = this.space;
    const corners = molecular ? [] : (this.box?.edges.flat() ?? []);
    const axes = (this.axes && this.state.scene.motion?.axes) || [];
    const ends = axes.flatMap(({ from, to }) => [this.frames.toView(from), this.frames.toView(to)]);
    this.camera.look([...this.points(), ...corners, ...ends], 0);
  }

  /** Move the camera to the sites of some shown objects. */
  lookAt(shown: ReadonlySet<number>): void {
    const sites = this.points().filter((_, site) => shown.has(at(this.colouring.shownOfSite, site)));
    this.camera.look(sites, ZOOM);
  }

  image(): Promise<Blob> {
    this.stage.viewer.render();
    const { domElement } = this.stage.viewer.renderer;
    return new Promise((resolve, reject) => {
      domElement.toBlob((blob: Blob | null) => (blob ? resolve(blob) : reject(new Error("the picture is too large"))));
    });
  }

  private points(): Point[] {
    return Array.from({ length: this.frames.nSites }, (_, site) => pointAt(this.positions, site));
  }

  // ---- for tests --------------------------------------------------------------------------------

  /** Colours that the graphics card was given, as #rrggbb. */
  drawnColours(): string[] {
    const { array } = this.spheres.geometry.attributes.color;
    const each = array.length / this.frames.nSites; // a colour is repeated for each corner of a site
    return Array.from({ length: this.frames.nSites }, (_, site) => {
      const parts = Array.from(array.subarray(each * site, each * site + 3), (part) => Math.round(255 * part));
      return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
    });
  }

  // ---- colours and radii ------------------------------------------------------------------------

  private paint(): void {
    const { colours, radii, state, cylinders, sticks } = this;
    for (let site = 0; site < radii.length; site++) {
      colours.set(this.colourOf(site), 3 * site);
      radii[site] = this.frames.has(state.frame, site) ? this.radiusOf(site) : 0;
    }
    this.spheres.setAttributes({ color: colours, radius: radii });
    if (!cylinders) return;
    const [color, color2] = [new Float32Array(1.5 * sticks.length), new Float32Array(1.5 * sticks.length)];
    const radius = new Float32Array(sticks.length / 2);
    const here = this.box && this.frames.positions(state.frame, false); // walls do not turn with body 1
    eachPair(sticks, (a, b, stick) => {
      copyPoint(colours, a, color, stick);
      copyPoint(colours, b, color2, stick);
      const crosses = here && this.box?.separates(pointAt(here, a), pointAt(here, b));
      radius[stick] = crosses ? 0 : this.thickness(a, b);
    });
    cylinders.setAttributes({ color, color2, radius });
  }

  private colourOf(site: number): Point {
    const { state, colouring } = this;
    let colour = colouring.ofSite(site);
    if (state.hovered) {
      const shown = at(colouring.shownOfSite, site);
      const place = shown < 0 ? -1 : at(state.hierarchy.place, shown);
      if (place < state.hovered.start || place >= state.hovered.stop) colour = mixed(colour, this.paper(), FADE);
    }
    const found = this.known.get(colour) ?? (rgb(colour).map((part) => part / 255) as Point);
    this.known.set(colour, found);
    return found;
  }

  private radiusOf(site: number): number {
    const { space, state } = this;
    const { style } = state;
    if (space.molecular) {
      if (style === "spheres") return VDW[this.elements[site]?.toUpperCase() ?? ""] ?? 1.7;
      if (style === "cartoon" && this.covered[site]) return 0;
      return this.sticks.length ? 1.6 * STICK : NODE * space.spacing;
    }
    if (style === "spheres") return 0.5 * SPAN;
    const part = this.colouring.labelOfSite(site) >= 0 ? NODE : SMALL;
    return Math.max(part * SPAN, (part / NODE) * LEAST_NODE * this.width);
  }

  private thickness(a: number, b: number): number {
    const { state, space, frames } = this;
    if (state.style === "spheres" || (state.style === "cartoon" && this.covered[a] && this.covered[b])) return 0;
    if (!frames.has(state.frame, a) || !frames.has(state.frame, b)) return 0;
    return space.molecular ? STICK : JOINT * SPAN;
  }

  private move(): void {
    const { state } = this;
    this.positions = this.frames.positions(state.frame, state.superposed);
    this.spheres.setAttributes({ position: this.positions });
    this.cylinders?.setAttributes(this.ends());
    if (state.style === "cartoon") this.cartoon?.move(this.positions);
  }

  private ends(): { position1: Float32Array; position2: Float32Array } {
    const [position1, position2] = [new Float32Array(1.5 * this.sticks.length), new Float32Array(1.5 * this.sticks.length)];
    eachPair(this.sticks, (a, b, stick) => {
      copyPoint(this.positions, a, position1, stick);
      copyPoint(this.positions, b, position2, stick);
    });
    return { position1, position2 };
  }

  // ---- parts of the stage -----------------------------------------------------------------------

  private addSpheres(): Buffer {
    const { positions: position, colours: color, radii: radius } = this;
    const buffer = new NGL.SphereBuffer({ position, color, radius: radius.fill(1) }, {} as never);
    this.add("sites", buffer);
    return buffer as unknown as Buffer;
  }

  private addCylinders(): Buffer {
    const color = new Float32Array(1.5 * this.sticks.length);
    const radius = new Float32Array(this.sticks.length / 2).fill(0.1);
    const buffer = new NGL.CylinderBuffer({ ...this.ends(), color, color2: color, radius }, {});
    this.add("sticks", buffer);
    return buffer as unknown as Buffer;
  }

  private addBox({ edges }: PeriodicBox): void {
    const color = Float32Array.from(edges.flatMap(() => rgb(this.state.scene.colours.rest).map((part) => part / 255)));
    const [position1, position2] = [Float32Array.from(edges.flatMap(([from]) => from)), Float32Array.from(edges.flatMap(([, to]) => to))];
    const radius = new Float32Array(edges.length).fill(0.0015 * this.width);
    this.add("box", new NGL.CylinderBuffer({ position1, position2, color, color2: color, radius }, {}));
  }

  private addAxes(): BodyAxes | null {
    const { motion } = this.state.scene;
    if (!motion?.axes.length) return null;
    const unit = this.space.molecular ? 1 : SPAN / 4;
    const colourOf = (body: number): string => this.colouring.ofGroup(body);
    const view = { toView: this.frames.toView, unit, project: (point: Point) => this.camera.project(point) };
    return new BodyAxes(this.stage, this.element, motion.axes, colourOf, view);
  }

  /** Load the cartoon; until then sites are drawn as points. */
  private async addCartoon(): Promise<void> {
    const colourOf = (site: number): number =>
      this.colours.subarray(3 * site, 3 * site + 3).reduce((sum, part) => 256 * sum + Math.round(255 * part), 0);
    const cartoon = await Cartoon.on(this.stage, this.space, colourOf);
    if (this.disposed) return;
    this.cartoon = cartoon;
    for (const site of cartoon.covered()) this.covered[site] = 1;
    cartoon.move(this.positions);
    this.update("style");
  }

  private add(name: string, buffer: unknown): void {
    const shape = new NGL.Shape(name);
    shape.addBuffer(buffer as never);
    const component = this.stage.addComponentFromObject(shape) as NGL.ShapeComponent;
    component.addRepresentation("buffer", { roughness: 0.6 });
  }

  private describe(): void {
    const { scene, colouring, cut } = this.state;
    const by = { groups: scene.finding.sentence, clusters: `${cut.clusters.length} clusters`, mobility: "mobility" }[colouring];
    const canvas = this.stage.viewer.renderer.domElement;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${this.flat ? "View from above" : "Three-dimensional view"}, coloured by ${by}`);
  }

  // ---- pointer ----------------------------------------------------------------------------------

  /** The nearest site under a pointer, or -1. */
  private pick(event: PointerEvent): number {
    const { left, top } = this.element.getBoundingClientRect();
    let [best, nearest] = [-1, Infinity];
    for (let site = 0; site < this.frames.nSites; site++) {
      if (!this.frames.has(this.state.frame, site)) continue;
      const { x, y, depth, pixels } = this.camera.project(pointAt(this.positions, site));
      if (!(depth > 0) || depth >= nearest) continue;
      const size = Math.max(4, 1.15 * pixels * (this.radii[site] || RIBBON));
      if (Math.hypot(x + left - event.clientX, y + top - event.clientY) <= size) [best, nearest] = [site, depth];
    }
    return best;
  }

  private listen(): void {
    const { element, state } = this;
    const shownUnder = (event: PointerEvent): number => {
      const site = this.pick(event);
      return site < 0 ? -1 : state.hierarchy.shownOf(site, state.cutoff);
    };
    let from: PointerEvent | null = null;
    element.addEventListener("pointerdown", (event) => (from = event));
    element.addEventListener("pointermove", (event) => {
      if (event.buttons === 0 && event.pointerType === "mouse") state.hover(state.clusterOf(shownUnder(event)));
    });
    element.addEventListener("pointerup", (event) => {
      if (from && Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) < 4) state.select(shownUnder(event));
      from = null;
    });
    element.addEventListener("pointerleave", () => state.hover(null));
  }
}

/** A stage with our own mouse and without picking and keys of its own; planes are moved, not turned. */
function makeStage(element: HTMLElement, flat: boolean): NGL.Stage {
  // ngl writes markup where it cannot draw, which a strict policy forbids: refuse before.
  const probe = document.createElement("canvas");
  const context = probe.getContext("webgl2") ?? probe.getContext("webgl");
  if (!context) throw new Error("this browser shows no three-dimensional graphics (WebGL)");
  const debug = context.getExtension("WEBGL_debug_renderer_info");
  const renderer = String(context.getParameter(debug ? debug.UNMASKED_RENDERER_WEBGL : context.RENDERER));
  context.getExtension("WEBGL_lose_context")?.loseContext();
  const look = { cameraType: "perspective", hoverTimeout: -1, tooltip: false, clipNear: 0, fogNear: 60, fogFar: 130, ambientIntensity: 0.35 };
  const stage = new NGL.Stage(element, look as Partial<NGL.StageParameters>);
  if (/swiftshader|llvmpipe|software/i.test(renderer)) stage.setParameters({ sampleLevel: -1 }); // no smoothing without a graphics card
  stage.pickingBehavior.dispose();
  const mouse = stage.mouseControls;
  mouse.clear();
  mouse.add("scroll", NGL.MouseActions.zoomScroll);
  mouse.add("drag-left", flat ? NGL.MouseActions.panDrag : NGL.MouseActions.rotateDrag);
  mouse.add("drag-right", NGL.MouseActions.panDrag);
  mouse.add("drag-shift-left", NGL.MouseActions.panDrag);
  mouse.add("drag-middle", NGL.MouseActions.zoomDrag);
  stage.keyControls.clear();
  return stage;
}
