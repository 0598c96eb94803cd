// Colors for things that are told apart: bodies, and the phases of a partition.

import { BODIES, PARTITION } from "./look";
import { hex, oklch, type Rgb } from "./oklab";

/** Restrained colors of bodies, in the order of the scene; they repeat after the last. */
const COLORS: readonly Rgb[] = BODIES.map(([L, C, h]) => oklch(L, C, h));

export function bodyColor(index: number): Rgb {
  return COLORS[index % COLORS.length] ?? GRAY;
}

/** What has no color of its own. */
export const GRAY: Rgb = [128, 128, 128];

/**
 * `count` different colors. A few go once around the circle of hues; more also differ in
 * lightness from their neighbors. Consecutive numbers are far apart in hue, because consecutive
 * phases lie beside each other on a mesh.
 */
export function partitionColors(count: number): Rgb[] {
  const { hue, few, calm, lightness, chroma, plain } = PARTITION;
  const [plainL = 0, plainC = 0] = plain;
  const stride = strideOf(count);
  const used = new Set<string>();
  return Array.from({ length: count }, (_, i) => {
    const place = (i * stride) % count;
    const L = count > few ? (lightness[place % 3] ?? plainL) : plainL;
    const C = count > calm ? (chroma[Math.floor(place / 3) % 2] ?? plainC) : plainC;
    return unused(oklch(L, C, hue + (360 * place) / count), used);
  });
}

/** The colors of blocks and batches, of which there can be thousands: these tell neighbors apart. */
export function repeatingColors(): Rgb[] {
  return partitionColors(PARTITION.repeating);
}

/** A step near the golden section of the circle that visits every place once. */
function strideOf(count: number): number {
  let stride = Math.max(1, Math.round(count * 0.382));
  while (common(stride, count) > 1) stride += 1;
  return stride;
}

function common(a: number, b: number): number {
  return b === 0 ? a : common(b, a % b);
}

/** The color itself, or the nearest free one: a thousand phases are still a thousand colors. */
function unused(color: Rgb, used: Set<string>): Rgb {
  const [r, g, b] = color;
  for (let nudge = 0; ; nudge += 1) {
    const near: Rgb = [(r + nudge) % 256, (g + (nudge >> 3)) % 256, (b + (nudge >> 6)) % 256];
    if (used.has(hex(near))) continue;
    used.add(hex(near));
    return near;
  }
}
