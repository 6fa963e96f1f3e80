// Where the view is seen from, and where its points are on the screen.

import * as NGL from "ngl";
import { extent, type Point } from "./arrays";

const TILTED = new NGL.Quaternion().setFromEuler(new NGL.Euler(-0.35, Math.PI - 0.5, 0));
const LEVEL = new NGL.Quaternion(0, 1, 0, 0); // x to the right: the camera looks along z

export class Camera {
  /** `around` is the radius of what is drawn at a point. */
  constructor(
    private readonly stage: NGL.Stage,
    private readonly around: number,
  ) {}

  /** Turn to a rotation whose rows point right, up and towards the reader; to a default without one. */
  turn(view: readonly number[] | null, flat: boolean): void {
    const { viewerControls } = this.stage;
    if (flat) return void viewerControls.rotate(LEVEL);
    if (!view || view.length !== 9) return void viewerControls.rotate(TILTED);
    const [a, b, c, d, e, f, g, h, i] = view as [number, number, number, number, number, number, number, number, number];
    const basis = new NGL.Matrix4(); // inverted by align: columns are left, up and away
    basis.set(-a, d, -g, 0, -b, e, -h, 0, -c, f, -i, 0, 0, 0, 0, 1);
    viewerControls.align(basis);
  }

  /** Bring all points into view, within so many milliseconds. */
  look(points: readonly Point[], milliseconds: number): void {
    if (points.length === 0) return;
    const centre = [0, 1, 2].map((d) => {
      const [low, high] = extent(points.map((point) => point[d]!));
      return (low + high) / 2;
    }) as Point;
    const distance = this.fitting(points, centre);
    const still = milliseconds === 0 || window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!still) return void this.stage.animationControls.zoomMove(new NGL.Vector3(...centre), distance, milliseconds);
    this.stage.viewerControls.center(new NGL.Vector3(...centre));
    this.stage.viewerControls.distance(distance);
  }

  /** Pixels of a point in the view, its depth, and how many pixels a unit has there. */
  project(point: Point): { x: number; y: number; depth: number; pixels: number } {
    const { viewer } = this.stage;
    const turned = new NGL.Vector3(...point).add(viewer.translationGroup.position).applyMatrix4(viewer.rotationGroup.matrix);
    const depth = viewer.cameraDistance + turned.z;
    const pixels = viewer.height / (2 * this.slope * depth);
    return { x: viewer.width / 2 - turned.x * pixels, y: viewer.height / 2 - turned.y * pixels, depth, pixels };
  }

  private get slope(): number {
    return Math.tan((this.stage.viewer.perspectiveCamera.fov * Math.PI) / 360);
  }

  /** How far the camera must be from a centre to have all points in view. */
  private fitting(points: readonly Point[], centre: Point): number {
    const { viewer } = this.stage;
    viewer.rotationGroup.updateMatrix();
    const aspect = Math.max(0.2, viewer.width / Math.max(1, viewer.height));
    const seen = new NGL.Vector3();
    let distance = 4 * this.around;
    for (const [x, y, z] of points) {
      seen.set(x - centre[0], y - centre[1], z - centre[2]).applyMatrix4(viewer.rotationGroup.matrix);
      const up = (Math.abs(seen.y) + this.around) / this.slope;
      const across = (Math.abs(seen.x) + this.around) / (this.slope * aspect);
      distance = Math.max(distance, Math.max(up, across) - seen.z);
    }
    return 1.04 * distance;
  }
}
