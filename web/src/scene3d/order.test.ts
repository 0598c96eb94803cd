// Contract: the same triangles, turned the same way, in an order in which few points are worked out twice.

import { describe, expect, it } from "vitest";
import { local, renumber } from "./order";

/** A square of `side` × `side` points, row by row. */
function square(side: number): Uint32Array {
  const corners: number[] = [];
  for (let y = 0; y + 1 < side; y += 1) {
    for (let x = 0; x + 1 < side; x += 1) {
      const i = y * side + x;
      corners.push(i, i + 1, i + side, i + 1, i + side + 1, i + side);
    }
  }
  return Uint32Array.from(corners);
}

/** Triangles as text, whatever their order and their first corner. */
function setOf(triangles: Uint32Array): string[] {
  const texts: string[] = [];
  for (let t = 0; t < triangles.length; t += 3) {
    const corners = [...triangles.subarray(t, t + 3)];
    while (corners[0] !== Math.min(...corners)) corners.push(corners.shift() ?? 0);
    texts.push(corners.join());
  }
  return texts.sort();
}

/** How often a renderer that remembers the last `most` points works one out. */
function work(triangles: Uint32Array, most: number): number {
  const last: number[] = [];
  let count = 0;
  for (const point of triangles) {
    if (last.includes(point)) continue;
    count += 1;
    last.push(point);
    if (last.length > most) last.shift();
  }
  return count;
}

describe("an order of triangles", () => {
  it("has every triangle once, turned as it was", () => {
    const two = Uint32Array.from([...square(9), ...square(5).map((i) => i + 81)]);
    expect(setOf(local(two, 81 + 25))).toEqual(setOf(two));
    expect(local(new Uint32Array(0), 0)).toHaveLength(0);
    expect(setOf(local(Uint32Array.of(7, 9, 8), 12))).toEqual(["7,9,8"]);
  });

  it("keeps triangles that share points together", () => {
    const rows = square(80);
    const points = 80 * 80;
    expect(work(rows, 64)).toBeGreaterThan(1.9 * points);
    expect(work(local(rows, points), 64)).toBeLessThan(1.4 * points);
  });
});

describe("numbers of points", () => {
  it("follow the triangles, and tell the old ones", () => {
    const triangles = Uint32Array.of(7, 2, 9, 9, 2, 4);
    const old = renumber(triangles, 12);
    expect([...triangles]).toEqual([0, 1, 2, 2, 1, 3]);
    expect([...old]).toEqual([7, 2, 9, 4]);
  });
});
