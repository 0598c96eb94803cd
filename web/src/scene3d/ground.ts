// The ground: where it is in the light it looks like the backdrop, so that only shadows are seen on
// it, and a faint grid of meters; far away it fades into the backdrop.

import { CircleGeometry, Color, Mesh, type ShaderMaterial } from "three";
import { litMaterial, type Backdrop } from "./shade";

/** Where the ground ends, and where it begins to fade, in radii of the scene. */
const REACH = 9;
const CLEAR = 2;

const CODE = /* glsl */ `
  float away = distance(vPlace.xz, center) / radius;
  float fade = 1.0 - smoothstep(${CLEAR}.0, ${REACH}.0, away);
  float facing = max(normalize(KEY_DIRECTION).y, 0.0);
  vec3 light = KEY_COLOR * facing * share + SKY_COLOR * mix(0.9, 1.0, share);
  light /= KEY_COLOR * facing + SKY_COLOR;
  vec2 cell = abs(fract(vPlace.xz / spacing - 0.5) - 0.5) * spacing / fwidth(vPlace.xz);
  float line = 1.0 - min(min(cell.x, cell.y), 1.0);
  vec3 floor = backdrop() * mix(vec3(1.0), GROUND_TINT * light, fade);
  vec3 color = encode(mix(floor, grid, 0.12 * line * fade));
`;

export class Ground {
  readonly mesh: Mesh<CircleGeometry, ShaderMaterial>;
  private readonly uniforms = {
    spacing: { value: 1 },
    radius: { value: 1 },
    center: { value: [0, 0] },
    grid: { value: new Color() },
  };

  constructor(backdrop: Backdrop) {
    const declarations = `
      uniform float spacing;
      uniform float radius;
      uniform vec2 center;
      uniform vec3 grid;`;
    const material = litMaterial(backdrop, {
      uniforms: this.uniforms,
      fragment: { declarations, code: CODE },
    });
    // Drawn before everything else, and hides nothing: it has no depth.
    material.depthWrite = false;
    this.mesh = new Mesh(new CircleGeometry(1, 96), material);
    this.mesh.rotation.x = -Math.PI / 2;
    this.mesh.receiveShadow = true;
    this.mesh.renderOrder = -1;
  }

  /** Under a scene of this radius (m) around a place, at this height. */
  place(height: number, radius: number, x: number, z: number): void {
    this.mesh.scale.setScalar(REACH * radius);
    this.mesh.position.set(x, height, z);
    this.uniforms.radius.value = radius;
    this.uniforms.center.value = [x, z];
    this.uniforms.spacing.value = 10 ** Math.round(Math.log10(radius / 3));
  }

  recolor(grid: string): void {
    this.uniforms.grid.value.set(grid);
  }
}
