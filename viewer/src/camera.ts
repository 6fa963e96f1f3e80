// Where the view is seen from, and where a point of it is on the screen.

import * as NGL from "ngl";
import { at, type Point } from "./arrays";
import { centroid, eigenvectors } from "./superpose";

const TILTED = new NGL.Quaternion().setFromEuler(new NGL.Euler(-0.35, Math.PI - 0.5, 0));
const LEVEL = new NGL.Quaternion(0, 1, 0, 0); // x to the right: the camera looks along z

export class Camera {
  /** `around` is the room that what is drawn at a point takes. */
  constructor(
    private readonly stage: NGL.Stage,
    private readonly around: number,
  ) {}

  /** Look at a plane from above. */
  level(): void {
    this.stage.viewerControls.rotate(LEVEL);
  }

  /** Look at a box from somewhat above and aside. */
  tilt(): void {
    this.stage.viewerControls.rotate(TILTED);
  }

  /** Lay the longest extension of points from left to right, the shortest towards the reader. */
  align(points: Point[]): void {
    const centre = middleOf(points);
    const off = (point: Point, d: number): number => at(point, d) - at(centre, d);
    const spread = [0, 1, 2].map((i) =>
      [0, 1, 2].map((j) => points.reduce((sum, point) => sum + off(point, i) * off(point, j), 0)),
    );
    const [x, y] = eigenvectors(spread) as [Point, Point];
    const z = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]] as Point;
    const basis = new NGL.Matrix4();
    basis.set(x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, 0, 0, 0, 1);
    this.stage.viewerControls.align(basis);
  }

  /** Have all points in view, the middle of some in its centre. */
  look(points: Point[], middle: Point[], duration: number): void {
    const centre = middleOf(middle);
    const distance = this.fitting(points, centre);
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (still || duration === 0) {
      this.stage.viewerControls.center(new NGL.Vector3(...centre));
      this.stage.viewerControls.distance(distance);
    } else {
      this.stage.animationControls.zoomMove(new NGL.Vector3(...centre), distance, duration);
    }
  }

  /** Where a point is, in pixels of the view, how deep, and how many pixels a unit has there. */
  project(point: Point): [number, number, number, number] {
    const { viewer } = this.stage;
    const { width, height } = viewer;
    const { x, y, z } = new NGL.Vector3(...point)
      .add(viewer.translationGroup.position)
      .applyMatrix4(viewer.rotationGroup.matrix);
    const depth = viewer.cameraDistance + z;
    const pixels = height / (2 * this.slope * depth);
    return [width / 2 - x * pixels, height / 2 - y * pixels, depth, pixels];
  }

  private get slope(): number {
    return Math.tan((this.stage.viewer.perspectiveCamera.fov * Math.PI) / 360);
  }

  /** How far the camera must be from a centre to have all points in view. */
  private fitting(points: Point[], centre: Point): number {
    const { viewer } = this.stage;
    const { slope, around } = this;
    const group = viewer.rotationGroup;
    group.updateMatrix();
    const aspect = Math.max(0.2, viewer.width / Math.max(1, viewer.height));
    const seen = new NGL.Vector3();
    let distance = 4 * around;
    for (const [x, y, z] of points) {
      seen.set(x - centre[0], y - centre[1], z - centre[2]).applyMatrix4(group.matrix);
      const beside = Math.max((Math.abs(seen.y) + around) / slope, (Math.abs(seen.x) + around) / (slope * aspect));
      distance = Math.max(distance, beside - seen.z);
    }
    return 1.04 * distance;
  }
}

function middleOf(points: Point[]): Point {
  return centroid(Float32Array.from(points.flat()), points.map((_, k) => k));
}
