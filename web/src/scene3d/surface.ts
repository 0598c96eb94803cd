// Geometry of triangle meshes on plain arrays: normals, edges, rays. No three.js, so that all of it
// is tested by itself.

import type { Vector } from "../protocol";

/**
 * Smooth normals: the sum of the triangles' normals at each point, weighted by area, since the cross
 * product of two edges is twice the area long.
 */
export function smoothNormals(
  places: Float32Array,
  triangles: Uint32Array,
  normals: Float32Array,
): void {
  normals.fill(0);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t]!;
    const b = 3 * triangles[t + 1]!;
    const c = 3 * triangles[t + 2]!;
    addNormal(places, normals, a, b, c);
  }
  normalize(normals);
}

function addNormal(p: Float32Array, n: Float32Array, a: number, b: number, c: number): void {
  const ax = p[a]!;
  const ay = p[a + 1]!;
  const az = p[a + 2]!;
  const ux = p[b]! - ax;
  const uy = p[b + 1]! - ay;
  const uz = p[b + 2]! - az;
  const vx = p[c]! - ax;
  const vy = p[c + 1]! - ay;
  const vz = p[c + 2]! - az;
  const x = uy * vz - uz * vy;
  const y = uz * vx - ux * vz;
  const z = ux * vy - uy * vx;
  add(n, a, x, y, z);
  add(n, b, x, y, z);
  add(n, c, x, y, z);
}

function add(n: Float32Array, i: number, x: number, y: number, z: number): void {
  n[i] = n[i]! + x;
  n[i + 1] = n[i + 1]! + y;
  n[i + 2] = n[i + 2]! + z;
}

function normalize(n: Float32Array): void {
  for (let i = 0; i < n.length; i += 3) {
    const x = n[i]!;
    const y = n[i + 1]!;
    const z = n[i + 2]!;
    const scale = 1 / (Math.sqrt(x * x + y * y + z * z) || 1);
    n[i] = x * scale;
    n[i + 1] = y * scale;
    n[i + 2] = z * scale;
  }
}

/** Triangles that are measured at most. */
const SAMPLES = 200;

/** Every edge of the triangles once, as pairs of points. */
export function edgesOf(triangles: Uint32Array, points: number): Uint32Array<ArrayBuffer> {
  const keys = new Float64Array(triangles.length);
  for (let t = 0; t < triangles.length; t += 1) {
    const a = triangles[t]!;
    const b = triangles[t % 3 === 2 ? t - 2 : t + 1]!;
    keys[t] = Math.min(a, b) * points + Math.max(a, b);
  }
  keys.sort();
  const edges: number[] = [];
  for (let i = 0; i < keys.length; i += 1) {
    const key = keys[i]!;
    if (i > 0 && key === keys[i - 1]) continue;
    edges.push(Math.floor(key / points), key % points);
  }
  return Uint32Array.from(edges);
}

/** About how long the longest edge of a triangle is: the mean of some, from all over the surface. */
export function longestEdge(places: Float32Array, triangles: Uint32Array): number {
  const stride = 3 * Math.ceil(triangles.length / 3 / SAMPLES);
  let sum = 0;
  let count = 0;
  for (let t = 0; t < triangles.length; t += stride) {
    const [a, b, c] = [3 * triangles[t]!, 3 * triangles[t + 1]!, 3 * triangles[t + 2]!];
    sum += Math.max(apart(places, a, b), apart(places, b, c), apart(places, c, a));
    count += 1;
  }
  return count > 0 ? sum / count : 0;
}

function apart(places: Float32Array, a: number, b: number): number {
  return Math.hypot(
    places[a]! - places[b]!,
    places[a + 1]! - places[b + 1]!,
    places[a + 2]! - places[b + 2]!,
  );
}

export interface Hit {
  triangle: number;
  distance: number;
  place: Vector;
}

/** The nearest triangle that a ray meets, from either side [Möller and Trumbore 1997]. */
export function castRay(
  places: Float32Array,
  triangles: Uint32Array,
  origin: Vector,
  direction: Vector,
): Hit | null {
  let nearest = Infinity;
  let triangle = -1;
  for (let t = 0; t < triangles.length; t += 3) {
    const distance = meet(places, triangles, t, origin, direction);
    if (distance < nearest) {
      nearest = distance;
      triangle = t / 3;
    }
  }
  if (triangle < 0) return null;
  const place = origin.map((o, k) => o + nearest * (direction[k] ?? 0)) as Vector;
  return { triangle, distance: nearest, place };
}

function meet(p: Float32Array, triangles: Uint32Array, t: number, o: Vector, d: Vector): number {
  const a = 3 * triangles[t]!;
  const b = 3 * triangles[t + 1]!;
  const c = 3 * triangles[t + 2]!;
  const at = (i: number) => p[i]!;
  const ux = at(b) - at(a);
  const uy = at(b + 1) - at(a + 1);
  const uz = at(b + 2) - at(a + 2);
  const vx = at(c) - at(a);
  const vy = at(c + 1) - at(a + 1);
  const vz = at(c + 2) - at(a + 2);
  const px = d[1] * vz - d[2] * vy;
  const py = d[2] * vx - d[0] * vz;
  const pz = d[0] * vy - d[1] * vx;
  const determinant = ux * px + uy * py + uz * pz;
  if (determinant === 0) return Infinity;
  const sx = o[0] - at(a);
  const sy = o[1] - at(a + 1);
  const sz = o[2] - at(a + 2);
  const u = (sx * px + sy * py + sz * pz) / determinant;
  const qx = sy * uz - sz * uy;
  const qy = sz * ux - sx * uz;
  const qz = sx * uy - sy * ux;
  const v = (d[0] * qx + d[1] * qy + d[2] * qz) / determinant;
  if (u < 0 || v < 0 || u + v > 1) return Infinity;
  const distance = (vx * qx + vy * qy + vz * qz) / determinant;
  return distance > 0 ? distance : Infinity;
}

/** The particle nearest to a place, among `candidates` or else among the first `particles` points. */
export function nearestParticle(
  places: Float32Array,
  place: Vector,
  particles: number,
  candidates: readonly number[],
): number {
  const own = candidates.filter((i) => i < particles);
  let best = -1;
  let least = Infinity;
  const consider = (i: number) => {
    const dx = places[3 * i]! - place[0];
    const dy = places[3 * i + 1]! - place[1];
    const dz = places[3 * i + 2]! - place[2];
    const square = dx * dx + dy * dy + dz * dz;
    if (square >= least) return;
    least = square;
    best = i;
  };
  if (own.length > 0) own.forEach(consider);
  // An embedded surface has no particles of its own: take the nearest one of the solid below.
  else for (let i = 0; i < particles; i += 1) consider(i);
  return best;
}
