// Colors for things that are told apart: bodies, and the phases of a partition.

import { hex, oklch, type Rgb } from "./oklab";

/** Restrained colors of bodies, in the order of the scene; they repeat after the last. */
const BODIES: readonly Rgb[] = [
  oklch(0.61, 0.115, 32), // terracotta
  oklch(0.56, 0.08, 225), // steel blue
  oklch(0.74, 0.105, 82), // ochre
  oklch(0.58, 0.075, 160), // sage
  oklch(0.53, 0.085, 345), // plum
  oklch(0.66, 0.07, 265), // lavender
];

export function bodyColor(index: number): Rgb {
  return BODIES[index % BODIES.length] ?? [128, 128, 128];
}

const LIGHTNESS = [0.68, 0.54, 0.8];
const CHROMA = [0.17, 0.12];

/**
 * `count` different colors. Up to a dozen go once around the circle of hues; more also differ in
 * lightness from their neighbors. Consecutive numbers are far apart in hue, because consecutive
 * phases lie beside each other on a mesh.
 */
export function partitionColors(count: number): Rgb[] {
  const stride = strideOf(count);
  const used = new Set<string>();
  return Array.from({ length: count }, (_, i) => {
    const place = (i * stride) % count;
    const L = count > 6 ? (LIGHTNESS[place % 3] ?? 0.68) : 0.66;
    const C = CHROMA[Math.floor(place / 3) % 2] ?? 0.15;
    return unused(oklch(L, count > 12 ? C : 0.15, 28 + (360 * place) / count), used);
  });
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
