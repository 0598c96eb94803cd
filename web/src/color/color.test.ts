// Contract: there are exactly as many partition colors as phases, all different, well apart where
// there are few; scales run from one end to the other without jumps.

import { describe, expect, it } from "vitest";
import { hex, oklabOf, oklch, type Rgb } from "./oklab";
import { BODIES } from "./look";
import { bodyColor, partitionColors } from "./palette";
import { rampBytes, rampColor } from "./ramp";

function distance(a: Rgb, b: Rgb): number {
  const [p, q] = [oklabOf(a), oklabOf(b)];
  return Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

function closest(colors: readonly Rgb[]): number {
  const pairs = colors.flatMap((a, i) => colors.slice(i + 1).map((b) => distance(a, b)));
  return Math.min(...pairs);
}

describe("partition colors", () => {
  it.each([1, 2, 3, 7, 12, 24, 100, 1000, 4096])("%i phases have as many colors", (count) => {
    const colors = partitionColors(count);
    expect(new Set(colors.map(hex)).size).toBe(count);
  });

  it("are well apart where there are few", () => {
    expect(closest(partitionColors(6))).toBeGreaterThan(0.12);
    expect(closest(partitionColors(12))).toBeGreaterThan(0.07);
    expect(closest(partitionColors(24))).toBeGreaterThan(0.03);
  });
});

// `taut render` draws with the same colors: its own test reads this file too. A new look is written
// down with `npx vitest run -u`.
it("colors are those of the renderer", async () => {
  const counts = [1, 2, 3, 6, 7, 12, 13, 24, 40];
  const steps = Array.from({ length: 17 }, (_, i) => i / 16);
  const scale = (field: "strain" | "speed" | "contact") =>
    steps.map((value) => hex(rampColor(field, value)));
  const colors = {
    bodies: [...BODIES, BODIES[0]].map((_, i) => hex(bodyColor(i))),
    partition: Object.fromEntries(counts.map((n) => [n, partitionColors(n).map(hex)])),
    scales: { strain: scale("strain"), speed: scale("speed"), contact: scale("contact") },
  };
  const text = `${JSON.stringify(colors, null, 1)}\n`;
  await expect(text).toMatchFileSnapshot("../../../crates/render/tests/colors.json");
});

describe("bodies", () => {
  it("are told apart", () => {
    expect(closest(BODIES.map((_, i) => bodyColor(i)))).toBeGreaterThan(0.05);
  });
});

describe("oklch", () => {
  it("goes there and back", () => {
    const [L, a, b] = oklabOf(oklch(0.6, 0.1, 40));
    expect(L).toBeCloseTo(0.6, 2);
    expect(Math.hypot(a, b)).toBeCloseTo(0.1, 2);
    expect((Math.atan2(b, a) * 180) / Math.PI).toBeCloseTo(40, -0.5);
  });

  it("knows white and black", () => {
    expect(oklch(1, 0, 0)).toEqual([255, 255, 255]);
    expect(oklch(0, 0, 0)).toEqual([0, 0, 0]);
  });
});

describe("scales", () => {
  it.each(["strain", "speed", "contact"] as const)("%s has no jumps", (field) => {
    const bytes = rampBytes(field);
    const colors = Array.from(
      { length: 256 },
      (_, i) => [...bytes.subarray(4 * i, 4 * i + 3)] as Rgb,
    );
    const steps = colors.slice(1).map((color, i) => distance(color, colors[i] ?? color));
    expect(Math.max(...steps)).toBeLessThan(0.03);
    expect(distance(rampColor(field, 0), rampColor(field, 1))).toBeGreaterThan(0.2);
  });
});
