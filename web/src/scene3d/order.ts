// An order of triangles in which those that share points follow each other: points are worked out once
// while a renderer remembers the last ones [Sander, Nehab and Barczak 2007].

/** Points that a renderer remembers, at least. */
const REMEMBERED = 32;

/** The same triangles in such an order. */
export function local(triangles: Uint32Array, points: number): Uint32Array<ArrayBuffer> {
  const { starts, around } = trianglesAround(triangles, points);
  const left = new Int32Array(points);
  for (const point of triangles) left[point]! += 1;
  const isDone = new Uint8Array(triangles.length / 3);
  /** When a point was last worked out. */
  const since = new Float64Array(points);
  const ordered = new Uint32Array(triangles.length);
  const trail: number[] = [];
  let [count, clock, next] = [0, REMEMBERED + 1, 0];
  let fan = 0;
  while (fan >= 0) {
    const near: number[] = [];
    for (let i = starts[fan]!; i < starts[fan + 1]!; i += 1) {
      const triangle = around[i]!;
      if (isDone[triangle] === 1) continue;
      isDone[triangle] = 1;
      for (const point of triangles.subarray(3 * triangle, 3 * triangle + 3)) {
        ordered[count++] = point;
        trail.push(point);
        near.push(point);
        left[point]! -= 1;
        if (clock - since[point]! > REMEMBERED) since[point] = clock++;
      }
    }
    fan = nearest(near);
  }
  return ordered;

  /** The point to go on with: the one that was remembered longest and still will be, or else any. */
  function nearest(near: readonly number[]): number {
    let best = -1;
    let most = -1;
    for (const point of near) {
      if (left[point]! <= 0) continue;
      const age = clock - since[point]!;
      const priority = age + 2 * left[point]! <= REMEMBERED ? age : 0;
      if (priority <= most) continue;
      most = priority;
      best = point;
    }
    if (best >= 0) return best;
    for (let point = trail.pop(); point !== undefined; point = trail.pop()) {
      if (left[point]! > 0) return point;
    }
    while (next < points && left[next]! <= 0) next += 1;
    return next < points ? next : -1;
  }
}

/** Numbers points anew, in the order in which triangles have them; the old number of each. */
export function renumber(triangles: Uint32Array, points: number): Uint32Array<ArrayBuffer> {
  const numbers = new Int32Array(points).fill(-1);
  const old: number[] = [];
  triangles.forEach((point, i) => {
    if (numbers[point] === -1) numbers[point] = old.push(point) - 1;
    triangles[i] = numbers[point]!;
  });
  return Uint32Array.from(old);
}

/** Triangles of every point. */
function trianglesAround(triangles: Uint32Array, points: number) {
  const starts = new Uint32Array(points + 1);
  for (const point of triangles) starts[point + 1]! += 1;
  for (let i = 0; i < points; i += 1) starts[i + 1]! += starts[i]!;
  const free = starts.slice();
  const around = new Uint32Array(triangles.length);
  triangles.forEach((point, i) => (around[free[point]!++] = Math.floor(i / 3)));
  return { starts, around };
}
