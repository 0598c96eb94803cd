// Color scales of fields: quiet where little happens, bright where much does.

import type { Field } from "../protocol";
import { hex, oklch, type Rgb } from "./oklab";

type Stop = [lightness: number, chroma: number, hue: number];

const STOPS: Record<Field, readonly Stop[]> = {
  none: [
    [0.7, 0, 0],
    [0.7, 0, 0],
  ],
  strain: [
    [0.42, 0.06, 255],
    [0.62, 0.09, 190],
    [0.82, 0.14, 95],
    [0.62, 0.2, 30],
  ],
  speed: [
    [0.32, 0.1, 285],
    [0.5, 0.11, 240],
    [0.72, 0.13, 175],
    [0.93, 0.13, 105],
  ],
  contact: [
    [0.72, 0.02, 250],
    [0.66, 0.14, 55],
    [0.58, 0.21, 27],
  ],
};

/** Color of a value between 0 and 1. */
export function rampColor(field: Field, value: number): Rgb {
  const stops = STOPS[field];
  const x = Math.min(Math.max(value, 0), 1) * (stops.length - 1);
  const i = Math.min(Math.floor(x), stops.length - 2);
  const [from, to] = [stops[i], stops[i + 1]] as [Stop, Stop];
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
