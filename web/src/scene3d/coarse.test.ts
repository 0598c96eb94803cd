// Contract: a coarse surface has far fewer triangles, no holes, the same sides and corners, and bodies
// do not grow together.

import { describe, expect, it } from "vitest";
import { coarser } from "./coarse";

/** A sheet of n × n squares in the x-z plane, its points from `first` on. */
function sheet(n: number, first = 0): number[] {
  const triangles: number[] = [];
  for (let row = 0; row < n; row += 1) {
    for (let column = 0; column < n; column += 1) {
      const a = first + row * (n + 1) + column;
      const [b, c, d] = [a + 1, a + n + 1, a + n + 2];
      triangles.push(...((row + column) % 2 === 0 ? [a, c, b, b, c, d] : [a, c, d, a, d, b]));
    }
  }
  return triangles;
}

/** A tube that is closed to a ring: n × n squares, both directions around. */
function torus(n: number): number[] {
  const at = (i: number, j: number) => (i % n) * n + (j % n);
  const triangles: number[] = [];
  for (let i = 0; i < n; i += 1) {
    for (let j = 0; j < n; j += 1) {
      triangles.push(at(i, j), at(i + 1, j), at(i, j + 1));
      triangles.push(at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
    }
  }
  return triangles;
}

/** How often each edge occurs, forward less backward: 0 everywhere on a closed surface. */
function openEdges(triangles: Uint32Array): number {
  const counts = new Map<string, number>();
  for (let t = 0; t < triangles.length; t += 1) {
    const [a, b] = [triangles[t] ?? 0, triangles[t % 3 === 2 ? t - 2 : t + 1] ?? 0];
    const key = `${Math.min(a, b)} ${Math.max(a, b)}`;
    counts.set(key, (counts.get(key) ?? 0) + (a < b ? 1 : -1));
  }
  return [...counts.values()].filter((count) => count !== 0).length;
}

/** Area of the triangles of a sheet, downward ones counted as negative. */
function area(triangles: Uint32Array, n: number): number {
  let sum = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => {
      const point = triangles[t + k] ?? 0;
      return { x: point % (n + 1), z: Math.floor(point / (n + 1)) };
    });
    if (!a || !b || !c) continue;
    sum += ((b.z - a.z) * (c.x - a.x) - (b.x - a.x) * (c.z - a.z)) / 2;
  }
  return sum;
}

const whole = (triangles: number[]) => [{ first: 0, count: triangles.length / 3 }];

describe("a coarse surface", () => {
  it("of a sheet covers it, with its corners and sides, in fewer triangles", () => {
    const n = 40;
    const fine = sheet(n);
    let version = { triangles: Uint32Array.from(fine), bodies: whole(fine) };
    for (const share of [0.35, 0.12]) {
      version = coarser(version.triangles, version.bodies, (n + 1) ** 2);
      expect(version.triangles.length).toBeLessThan(share * fine.length);
      expect(area(version.triangles, n)).toBeGreaterThan(0.97 * n * n);
      expect(area(version.triangles, n)).toBeLessThanOrEqual(n * n);
      expect(version.bodies).toEqual([{ first: 0, count: version.triangles.length / 3 }]);
    }
  });

  it("of a closed body is closed", () => {
    const n = 32;
    const fine = torus(n);
    expect(openEdges(Uint32Array.from(fine))).toBe(0);
    const { triangles } = coarser(Uint32Array.from(fine), whole(fine), n * n);
    expect(triangles.length).toBeGreaterThan(0);
    expect(triangles.length).toBeLessThan(0.4 * fine.length);
    expect(openEdges(triangles)).toBe(0);
  });

  it("leaves small bodies alone and bodies apart", () => {
    const [large, small] = [sheet(30), sheet(5, 31 * 31)];
    const bodies = [
      { first: 0, count: large.length / 3 },
      { first: large.length / 3, count: small.length / 3 },
    ];
    const version = coarser(Uint32Array.of(...large, ...small), bodies, 31 * 31 + 36);
    const [first, second] = version.bodies;
    if (!first || !second) throw new Error("two bodies stay two");
    expect([...version.triangles.subarray(3 * second.first)]).toEqual(small);
    expect(Math.max(...version.triangles.subarray(0, 3 * first.count))).toBeLessThan(31 * 31);
    expect(first.count).toBeLessThan((0.4 * large.length) / 3);
  });
});
