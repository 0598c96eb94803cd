// Pins and the grabbed particle: balls of constant size on the screen, and a line to what they pull.

import {
  BufferAttribute,
  BufferGeometry,
  Group,
  Line,
  LineBasicMaterial,
  Mesh,
  MeshBasicMaterial,
  SphereGeometry,
  Vector3,
  type PerspectiveCamera,
} from "three";
import type { Grab } from "../protocol";

/** Radius of a marker, as a share of its distance from the eye. */
const SIZE = 0.009;
const PINNED = 0xd1495b;
const GRABBED = 0x2a9d8f;

export class Markers {
  readonly group = new Group();
  private readonly ball = new SphereGeometry(1, 20, 14);
  private readonly materials = {
    pinned: new MeshBasicMaterial({ color: PINNED, depthTest: false, transparent: true }),
    grabbed: new MeshBasicMaterial({ color: GRABBED, depthTest: false, transparent: true }),
    line: new LineBasicMaterial({ color: GRABBED, depthTest: false, transparent: true }),
  };
  private grabs: readonly Grab[] = [];

  set(grabs: readonly Grab[]): void {
    this.grabs = grabs;
    for (const child of this.group.children) {
      if (child instanceof Line) (child.geometry as BufferGeometry).dispose();
    }
    this.group.clear();
    const markers = grabs.map((grab) => this.markerOf(grab));
    const lines = grabs.map(() => this.lineOf());
    for (const object of [...markers, ...lines]) this.group.add(object);
  }

  /** Markers keep their size on the screen; lines follow the particles. */
  update(camera: PerspectiveCamera, places: Float32Array): void {
    this.grabs.forEach((grab, i) => {
      const marker = this.group.children[i];
      const line = this.group.children[this.grabs.length + i] as Line | undefined;
      if (!marker || !line) return;
      marker.position.fromArray(grab.target);
      marker.scale.setScalar(SIZE * camera.position.distanceTo(marker.position));
      const ends = line.geometry.getAttribute("position") as BufferAttribute;
      ends.setXYZ(0, ...grab.target);
      const at = 3 * grab.particle;
      ends.setXYZ(1, places[at] ?? 0, places[at + 1] ?? 0, places[at + 2] ?? 0);
      ends.needsUpdate = true;
    });
  }

  /** The pinned marker under the pointer, given in CSS pixels on a canvas of this size. */
  pinAt(x: number, y: number, size: { width: number; height: number }, camera: PerspectiveCamera) {
    const place = new Vector3();
    return this.grabs.find((grab) => {
      if (!grab.pinned) return false;
      place.fromArray(grab.target).project(camera);
      const dx = ((place.x + 1) / 2) * size.width - x;
      const dy = ((1 - place.y) / 2) * size.height - y;
      return Math.hypot(dx, dy) < 14;
    });
  }

  private markerOf(grab: Grab): Mesh {
    const { pinned, grabbed } = this.materials;
    const marker = new Mesh(this.ball, grab.pinned ? pinned : grabbed);
    marker.renderOrder = 3;
    return marker;
  }

  private lineOf(): Line {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(6), 3));
    const line = new Line(geometry, this.materials.line);
    line.frustumCulled = false;
    line.renderOrder = 2;
    return line;
  }
}
