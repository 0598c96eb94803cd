// Elements as line segments: an edge for two particles, all edges of the triangle or tetrahedron for
// three or four. Plain arrays, for the instanced lines of `partition.ts`.

import { GRAY, partitionColors, repeatingColors } from "../color/palette";
import { hex, type Rgb } from "../color/oklab";
import type { Elements } from "../protocol";

export type Level = "phase" | "block" | "batch";

export interface Segments {
  count: number;
  /** Two particles a segment. */
  ends: Uint32Array<ArrayBuffer>;
  /** Four particles a segment: the corners of its element, repeated if it has fewer. */
  corners: Uint32Array<ArrayBuffer>;
  /** Element of each segment. */
  element: Uint32Array<ArrayBuffer>;
}

const EDGES: Record<number, readonly (readonly [number, number])[]> = {
  2: [[0, 1]],
  3: [
    [0, 1],
    [1, 2],
    [2, 0],
  ],
  4: [
    [0, 1],
    [0, 2],
    [0, 3],
    [1, 2],
    [1, 3],
    [2, 3],
  ],
};

/**
 * Elements with an end that is not drawn (what an attachment holds on to) are left out. Of hinges only
 * the edge that they turn about is shown, which is that of their first two particles.
 */
export function segmentsOf(elements: Elements, points: number, isHinge = false): Segments {
  const { arity, count, particles } = elements;
  const edges = EDGES[isHinge ? 2 : Math.min(arity, 4)] ?? [];
  const most = count * edges.length;
  const ends = new Uint32Array(2 * most);
  const corners = new Uint32Array(4 * most);
  const element = new Uint32Array(most);
  let at = 0;
  for (let e = 0; e < count; e += 1) {
    const own = particles.subarray(arity * e, arity * (e + 1));
    if (own.some((particle) => particle >= points)) continue;
    for (const [i, j] of edges) {
      ends[2 * at] = own[i] ?? 0;
      ends[2 * at + 1] = own[j] ?? 0;
      for (let k = 0; k < 4; k += 1) corners[4 * at + k] = own[k % arity] ?? 0;
      element[at] = e;
      at += 1;
    }
  }
  return {
    count: at,
    ends: ends.slice(0, 2 * at),
    corners: corners.slice(0, 4 * at),
    element: element.slice(0, at),
  };
}

export interface Coloring {
  /** Four bytes an element. */
  bytes: Uint8Array<ArrayBuffer>;
  /** Each color that some element has, once. */
  shown: string[];
}

/** The colors of elements: as many as there are phases, or a repeating set for blocks and batches. */
export function colorElements(elements: Elements, level: Level, phases: number): Coloring {
  const numbers =
    level === "phase" ? elements.phases : level === "block" ? elements.blocks : elements.batches;
  const colors = level === "phase" ? partitionColors(phases) : repeatingColors();
  const bytes = new Uint8Array(4 * elements.count);
  const shown = new Set<string>();
  for (let e = 0; e < elements.count; e += 1) {
    const color: Rgb = colors[(numbers[e] ?? 0) % colors.length] ?? GRAY;
    bytes.set([...color, 255], 4 * e);
    shown.add(hex(color));
  }
  return { bytes, shown: [...shown] };
}
