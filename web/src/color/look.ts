// The look that the page shares with `taut render`: both are built from the same file.

import look from "../../../crates/render/look.json";
import type { Theme } from "../state";

/** Lightness, chroma and hue. */
export type Lch = readonly [number, number, number];

/** Colors of all that is no body, as CSS has them. */
export interface Tones {
  /** The backdrop, from the upper to the lower edge. */
  high: string;
  low: string;
  shape: string;
  /** Bodies under lines of their elements. */
  plain: string;
  wire: string;
  /** Phases that are not the one that is looked at. */
  rest: string;
  grid: string;
}

export const BODIES = look.bodies as unknown as readonly Lch[];
export const PARTITION = look.partition;
export const SCALES = look.scales as unknown as Record<
  "strain" | "speed" | "contact",
  readonly Lch[]
>;
/** From where a scene is seen that has no camera of its own, degrees. */
export const VIEW = look.view;
export const TONES: Record<Theme, Tones> = look.themes;
/** Toward the key light. */
export const KEY_DIRECTION = look.shading.KEY_DIRECTION as [number, number, number];

/** The constants of shaders, in GLSL. */
export const CONSTANTS = Object.entries(look.shading)
  .map(([name, value]) =>
    typeof value === "number"
      ? `const float ${name} = ${decimal(value)};`
      : `const vec3 ${name} = vec3(${value.map(decimal).join(", ")});`,
  )
  .join("\n");

/** GLSL takes 28 for an integer. */
function decimal(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
