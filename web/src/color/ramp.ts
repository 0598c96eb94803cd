// Color scales of fields: quiet where little happens, bright where much does.

import type { Field } from "../protocol";
import { SCALES, type Lch } from "./look";
import { hex, oklch, type Rgb } from "./oklab";

const NO_FIELD: readonly Lch[] = [
  [0.7, 0, 0],
  [0.7, 0, 0],
];

/** Color of a value between 0 and 1. */
export function rampColor(field: Field, value: number): Rgb {
  const stops = field === "none" ? NO_FIELD : SCALES[field];
  const x = Math.min(Math.max(value, 0), 1) * (stops.length - 1);
  const i = Math.min(Math.floor(x), stops.length - 2);
  const [from, to] = [stops[i], stops[i + 1]] as [Lch, Lch];
  const mix = (k: 0 | 1 | 2) => from[k] + (x - i) * (to[k] - from[k]);
  return oklch(mix(0), mix(1), mix(2));
}

/** 256 colors, four bytes each: what a byte of a field looks like. */
export function rampBytes(field: Field): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(4 * 256);
  for (let i = 0; i < 256; i += 1) bytes.set([...rampColor(field, i / 255), 255], 4 * i);
  return bytes;
}

/** The scale as a CSS gradient, for the legend. */
export function rampGradient(field: Field): string {
  const colors = Array.from({ length: 9 }, (_, i) => hex(rampColor(field, i / 8)));
  return `linear-gradient(to right, ${colors.join(", ")})`;
}
