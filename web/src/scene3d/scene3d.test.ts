// Contract: normals of a flat sheet point out of it, closed surfaces are told from open ones, rays
// find the nearest triangle from either side, and every element is drawn in the color of its phase.

import { describe, expect, it } from "vitest";
import type { Elements, Vector } from "../protocol";
import { colorElements, segmentsOf } from "./segments";
import { FITTED, SKY_LIGHT } from "./shade";
import { castRay, edgesOf, longestEdge, nearestParticle, smoothNormals } from "./surface";

// A unit square in the x-z plane and the same one a meter below.
const PLACES = Float32Array.of(
  ...[0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 1],
  ...[0, -1, 0, 1, -1, 0, 0, -1, 1, 1, -1, 1],
);
const SQUARES = Uint32Array.of(0, 2, 1, 1, 2, 3, 4, 6, 5, 5, 6, 7);
const TETRAHEDRON = Uint32Array.of(0, 1, 2, 0, 3, 1, 1, 3, 2, 2, 3, 0);

describe("normals", () => {
  it("of a flat sheet point up", () => {
    const normals = new Float32Array(PLACES.length);
    smoothNormals(PLACES, SQUARES, normals);
    for (let i = 0; i < 8; i += 1) {
      expect([...normals.subarray(3 * i, 3 * i + 3)]).toEqual([0, 1, 0]);
    }
  });

  it("of points in no triangle are 0, not NaN", () => {
    const normals = new Float32Array(PLACES.length);
    smoothNormals(PLACES, SQUARES.subarray(0, 6), normals);
    expect([...normals.subarray(12)]).toEqual(new Array(12).fill(0));
  });
});

describe("topology", () => {
  it("has every edge once", () => {
    expect(edgesOf(SQUARES, 8).length / 2).toBe(10);
    expect(edgesOf(TETRAHEDRON, 4).length / 2).toBe(6);
  });

  it("has long edges of a length", () => {
    // That across a square.
    expect(longestEdge(PLACES, SQUARES)).toBeCloseTo(Math.SQRT2);
    const many = Uint32Array.from({ length: 3000 }, (_, i) => SQUARES[i % 3] ?? 0);
    expect(longestEdge(PLACES, many)).toBeCloseTo(Math.SQRT2);
    expect(longestEdge(PLACES, Uint32Array.of())).toBe(0);
  });
});

describe("sums in place of powers", () => {
  const encode = (x: number) => (x < 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055);
  const roots = ([a, b, c, d]: readonly [number, number, number, number], x: number) =>
    a + b * x + c * Math.sqrt(x) + d * x ** 0.25;
  const steps = Array.from({ length: 1001 }, (_, i) => i / 1000);

  it("differ by less than a step of a screen's 256", () => {
    for (const x of steps) {
      if (x > 0.0031) expect(Math.abs(roots(FITTED.encode, x) - encode(x))).toBeLessThan(0.001);
      expect(Math.abs(roots(FITTED.seen, x) - x ** (1 / 2.2))).toBeLessThan(0.0025);
      const [a, b, c] = FITTED.shown;
      const shown = Math.max(a + b * x + c * x * x, 0);
      // Two steps in what is nearly black.
      expect(Math.abs(shown - encode(x ** 2.2))).toBeLessThan(x > 0.08 ? 0.0025 : 0.008);
    }
  });
});

describe("the sky", () => {
  it("is as bright as the renderer's many lights", () => {
    const whole = sum(LIGHTS.map((d) => brightness(d) * d[1]));
    for (let up = -1; up <= 1; up += 0.125) {
      const normal: Vector = [Math.sqrt(1 - up * up), up, 0];
      const facing = LIGHTS.map((d) => brightness(d) * Math.max(dot(normal, d), 0));
      const formula = SKY_LIGHT[0] + up * (SKY_LIGHT[1] + up * SKY_LIGHT[2]);
      expect(formula).toBeCloseTo(sum(facing) / whole, 1);
    }
  });
});

// As in crates/render/src/light.rs and shaders/light.wgsl.
const LIGHTS = Array.from({ length: 32 }, (_, i): Vector => {
  const height = 1 - ((i + 0.5) / 32) * 0.96;
  const across = Math.sqrt(1 - height * height);
  const angle = 2 * Math.PI * 0.618034 * i;
  return [across * Math.cos(angle), height, across * Math.sin(angle)];
});
const brightness = (direction: Vector) => 0.55 + 0.45 * direction[1];
const dot = (a: Vector, b: Vector) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

describe("rays", () => {
  it("find the nearest triangle, from above and from below", () => {
    const above = castRay(PLACES, SQUARES, [0.2, 5, 0.2], [0, -1, 0]);
    expect(above).toMatchObject({ triangle: 0, distance: 5 });
    expect(above?.place[0]).toBeCloseTo(0.2);
    const below = castRay(PLACES, SQUARES, [0.9, -5, 0.9], [0, 1, 0]);
    expect(below).toMatchObject({ triangle: 3, distance: 4 });
  });

  it("miss what is beside them or behind them", () => {
    expect(castRay(PLACES, SQUARES, [1.2, 5, 0.2], [0, -1, 0])).toBeNull();
    expect(castRay(PLACES, SQUARES, [0.2, 5, 0.2], [0, 1, 0])).toBeNull();
  });

  it("take the nearest corner, or the nearest particle below an embedded surface", () => {
    expect(nearestParticle(PLACES, [0.9, 0, 0.8], 8, [1, 2, 3])).toBe(3);
    expect(nearestParticle(PLACES, [0.9, -0.9, 0.8], 4, [4, 5, 6])).toBe(3);
  });
});

function elements(arity: number, particles: number[], phases: number[]): Elements {
  const own = Uint32Array.from(phases);
  return {
    type: "elements",
    generation: 1,
    kind: 0,
    count: phases.length,
    arity,
    particles: Uint32Array.from(particles),
    phases: own,
    blocks: own.map((_, i) => i),
    batches: own.map(() => 0),
  };
}

describe("elements", () => {
  it("are edges, triangles or tetrahedra", () => {
    expect(segmentsOf(elements(2, [0, 1], [0]), 9).count).toBe(1);
    expect(segmentsOf(elements(3, [0, 1, 2], [0]), 9).count).toBe(3);
    const { count, ends, corners } = segmentsOf(elements(4, [4, 5, 6, 7], [0]), 9);
    expect(count).toBe(6);
    expect([...ends.subarray(0, 4)]).toEqual([4, 5, 4, 6]);
    expect([...corners.subarray(0, 4)]).toEqual([4, 5, 6, 7]);
  });

  it("with an end that is not drawn are left out", () => {
    const { count, element } = segmentsOf(elements(2, [0, 9, 1, 2], [0, 1]), 9);
    expect(count).toBe(1);
    expect([...element]).toEqual([1]);
  });

  it("have as many colors as there are phases", () => {
    const three = elements(2, [0, 1, 1, 2, 2, 3, 3, 4], [0, 2, 1, 0]);
    const { bytes, shown } = colorElements(three, "phase", 3);
    expect(shown).toHaveLength(3);
    expect([...bytes.subarray(0, 4)]).toEqual([...bytes.subarray(12, 16)]);
    expect([...bytes.subarray(0, 4)]).not.toEqual([...bytes.subarray(4, 8)]);
    expect(colorElements(three, "block", 3).shown).toHaveLength(4);
    expect(colorElements(three, "batch", 3).shown).toHaveLength(1);
  });
});
