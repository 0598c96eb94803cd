// The same surface from fewer points. Where triangles are as small as pixels, most of them are drawn
// for nothing.
//
// Some points stay; every other point goes to a neighbor that stays, and takes its triangles along.
// That is a continuous map of the surface, so it has no holes where there were none; it needs no
// places, so it holds however the body moves; and what stays are particles, so the coarse surface
// passes through true places.

/** Bodies with fewer triangles are left as they are: they would lose their form. */
const FEWEST = 400;

export interface Range {
  first: number;
  count: number;
}

/**
 * Triangles of a surface with about a quarter of the points, and where each body's are in it. No point
 * belongs to two bodies.
 */
export function coarser(
  triangles: Uint32Array,
  bodies: readonly Range[],
  points: number,
): { triangles: Uint32Array<ArrayBuffer>; bodies: Range[] } {
  const target = new Int32Array(points).fill(-1);
  for (const { first, count } of bodies) {
    if (count >= FEWEST) continue;
    for (const point of triangles.subarray(3 * first, 3 * (first + count))) target[point] = point;
  }
  choose(triangles, target);
  const corners: number[] = [];
  const ranges = bodies.map(({ first, count }) => {
    const start = corners.length / 3;
    addSurvivors(triangles.subarray(3 * first, 3 * (first + count)), target, corners);
    return { first: start, count: corners.length / 3 - start };
  });
  return { triangles: Uint32Array.from(corners), bodies: ranges };
}

/** Finds where each point goes, unless that is settled. */
function choose(triangles: Uint32Array, target: Int32Array): void {
  const { neighbors, starts, isBorder } = graphOf(triangles, target.length);
  // Those with the most neighbors take the most along. Among equals in the order of their numbers:
  // where these follow the rows of a grid, a grid remains.
  const order = byDegree(starts);
  // Borders first, and only to points of the border: so they keep their line.
  for (const border of [1, 0]) {
    for (const point of order) {
      if (isBorder[point] !== border || target[point] !== -1) continue;
      target[point] = point;
      for (let i = starts[point]!; i < starts[point + 1]!; i += 1) {
        const other = neighbors[i]!;
        if (target[other] === -1 && isBorder[other] === border) target[other] = point;
      }
    }
  }
}

/** Triangles whose corners went to three points; two that became each other's back are both gone. */
function addSurvivors(triangles: Uint32Array, target: Int32Array, corners: number[]): void {
  const points = target.length;
  const kept = new Map<number, { corners: [number, number, number]; sign: number }>();
  for (let t = 0; t < triangles.length; t += 3) {
    const a = target[triangles[t]!]!;
    const b = target[triangles[t + 1]!]!;
    const c = target[triangles[t + 2]!]!;
    if (a === b || b === c || c === a) continue;
    const least = Math.min(a, b, c);
    // Turned so that the least comes first, a triangle and its back differ in the last two.
    const [x, y] = a === least ? [b, c] : b === least ? [c, a] : [a, b];
    const key = (least * points + Math.min(x, y)) * points + Math.max(x, y);
    const sign = x < y ? 1 : -1;
    const same = kept.get(key);
    if (same) same.sign += sign;
    else kept.set(key, { corners: [least, Math.min(x, y), Math.max(x, y)], sign });
  }
  for (const {
    corners: [a, b, c],
    sign,
  } of kept.values()) {
    if (sign > 0) corners.push(a, b, c);
    else if (sign < 0) corners.push(a, c, b);
  }
}

/** Neighbors of every point, each as often as the two share a triangle, and who is on the border. */
function graphOf(triangles: Uint32Array, points: number) {
  const starts = new Uint32Array(points + 1);
  for (const corner of triangles) starts[corner + 1]! += 2;
  for (let i = 0; i < points; i += 1) starts[i + 1]! += starts[i]!;
  const next = starts.slice();
  const neighbors = new Uint32Array(2 * triangles.length);
  for (let t = 0; t < triangles.length; t += 1) {
    const point = triangles[t]!;
    const first = t - (t % 3);
    neighbors[next[point]!++] = triangles[first + ((t + 1) % 3)]!;
    neighbors[next[point]!++] = triangles[first + ((t + 2) % 3)]!;
  }
  return { neighbors, starts, isBorder: bordersOf(neighbors, starts) };
}

/** Whether a point is on the border: on an edge of one triangle only. */
function bordersOf(neighbors: Uint32Array, starts: Uint32Array): Uint8Array {
  const isBorder = new Uint8Array(starts.length - 1);
  for (let point = 0; point < isBorder.length; point += 1) {
    const [first, end] = [starts[point]!, starts[point + 1]!];
    for (let i = first; i < end && isBorder[point] === 0; i += 1) {
      // Within a closed fan every neighbor is met twice.
      let met = 0;
      for (let k = first; k < end; k += 1) if (neighbors[k] === neighbors[i]) met += 1;
      if (met === 1) isBorder[point] = 1;
    }
  }
  return isBorder;
}

/** Points with the most neighbors first, else in the order of their numbers. */
function byDegree(starts: Uint32Array): Uint32Array {
  const points = starts.length - 1;
  const degree = (point: number) => starts[point + 1]! - starts[point]!;
  let most = 0;
  for (let point = 0; point < points; point += 1) most = Math.max(most, degree(point));
  const next = new Uint32Array(most + 2);
  for (let point = 0; point < points; point += 1) next[most - degree(point) + 1]! += 1;
  for (let i = 0; i <= most; i += 1) next[i + 1]! += next[i]!;
  const order = new Uint32Array(points);
  for (let point = 0; point < points; point += 1) order[next[most - degree(point)]!++] = point;
  return order;
}
