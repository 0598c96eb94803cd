// The points of a surface as they are drawn: of a surface from few points only those, so that normals
// are worked out, and the graphics card is told, of no others.

import { BufferAttribute, BufferGeometry, DynamicDrawUsage } from "three";
import { local, renumber } from "./order";
import { longestEdge, smoothNormals } from "./surface";

/** What is known of all points. */
export interface PointData {
  places: Float32Array;
  field: Uint8Array;
  /** Colors of their bodies. */
  tints: Float32Array;
}

export class Skin {
  readonly geometry = new BufferGeometry();
  /** About how long the longest edges of triangles are. */
  edge = 0;
  /** Its points, if those are not all. */
  private readonly points: Uint32Array | null;
  private readonly triangles: Uint32Array<ArrayBuffer>;
  private readonly places: Float32Array;
  private readonly normals: Float32Array;
  private readonly field: Uint8Array;

  constructor(triangles: Uint32Array<ArrayBuffer>, all: PointData, isComplete: boolean) {
    this.triangles = isComplete ? triangles : local(triangles, all.field.length);
    this.points = isComplete ? null : renumber(this.triangles, all.field.length);
    const count = this.points?.length ?? all.field.length;
    // All of them need no copy.
    this.places = this.points ? new Float32Array(3 * count) : all.places;
    this.field = this.points ? new Uint8Array(count) : all.field;
    this.normals = new Float32Array(3 * count);
    const tints = this.points ? new Float32Array(3 * count) : all.tints;
    if (this.points) gather(all.tints, this.points, 3, tints);
    this.geometry.setAttribute("position", dynamic(this.places, 3));
    this.geometry.setAttribute("normal", dynamic(this.normals, 3));
    this.geometry.setAttribute("field", dynamic(this.field, 1, true));
    this.geometry.setAttribute("tint", new BufferAttribute(tints, 3));
    this.geometry.setIndex(new BufferAttribute(this.triangles, 1));
  }

  get position(): BufferAttribute {
    return this.geometry.getAttribute("position") as BufferAttribute;
  }

  /** Takes where points are now. */
  show(all: PointData): void {
    if (this.points) gather(all.places, this.points, 3, this.places);
    smoothNormals(this.places, this.triangles, this.normals);
    this.edge = longestEdge(this.places, this.triangles);
    this.position.needsUpdate = true;
    this.touch("normal");
  }

  /** Takes the values of the field at them. */
  showField(all: PointData): void {
    if (this.points) gather(all.field, this.points, 1, this.field);
    this.touch("field");
  }

  private touch(name: string): void {
    (this.geometry.getAttribute(name) as BufferAttribute).needsUpdate = true;
  }
}

/** The `size` values of each of some points, one after the other. */
function gather<T extends Float32Array | Uint8Array>(
  values: T,
  points: Uint32Array,
  size: number,
  into: T,
): void {
  for (let i = 0; i < points.length; i += 1) {
    const from = size * points[i]!;
    for (let k = 0; k < size; k += 1) into[size * i + k] = values[from + k]!;
  }
}

function dynamic(
  array: Float32Array | Uint8Array,
  size: number,
  normalized = false,
): BufferAttribute {
  return new BufferAttribute(array, size, normalized).setUsage(DynamicDrawUsage);
}
