// Planes without end: the ground, and those that are not level. Where one is in the light it looks like
// the backdrop, so that only shadows are seen on it, and a faint grid of meters; far away it fades into
// the backdrop.

import {
  CircleGeometry,
  Color,
  Mesh,
  Quaternion,
  Vector3,
  type Matrix4,
  type ShaderMaterial,
} from "three";
import { litMaterial, type Backdrop } from "./shade";

/** Where a plane ends, and where it begins to fade, in radii of the scene. */
const REACH = 9;
const CLEAR = 2;

const CODE = /* glsl */ `
  float away = distance(vPlace, center) / radius;
  float fade = 1.0 - smoothstep(${CLEAR}.0, ${REACH}.0, away);
  float facing = max(dot(normal, normalize(KEY_DIRECTION)), 0.0);
  vec3 light = KEY_COLOR * facing * share + SKY_COLOR * mix(0.9, 1.0, share);
  light /= KEY_COLOR * facing + SKY_COLOR;
  vec2 along = vec2(dot(vPlace, right), dot(vPlace, forward));
  vec2 cell = abs(fract(along / spacing - 0.5) - 0.5) * spacing / fwidth(along);
  float line = 1.0 - min(min(cell.x, cell.y), 1.0);
  vec3 tint = GROUND_TINT * mix(1.0, STEEP_TINT, clamp(1.0 - normal.y, 0.0, 1.0));
  vec3 floor = backdrop() * mix(vec3(1.0), tint * light, fade);
  vec3 color = encode(mix(floor, grid, 0.12 * line * fade));
`;

/** From the circle's own plane to one whose front is along y. */
const LEVEL = new Quaternion().setFromAxisAngle(new Vector3(1, 0, 0), -Math.PI / 2);

export class Ground {
  readonly mesh: Mesh<CircleGeometry, ShaderMaterial>;
  private readonly uniforms = {
    spacing: { value: 1 },
    radius: { value: 1 },
    center: { value: new Vector3() },
    right: { value: new Vector3(1, 0, 0) },
    forward: { value: new Vector3(0, 0, 1) },
    grid: { value: new Color() },
  };

  constructor(backdrop: Backdrop) {
    const declarations = `
      uniform float spacing;
      uniform float radius;
      uniform vec3 center;
      uniform vec3 right;
      uniform vec3 forward;
      uniform vec3 grid;`;
    const material = litMaterial(backdrop, {
      uniforms: this.uniforms,
      fragment: { declarations, code: CODE },
    });
    this.mesh = new Mesh(new CircleGeometry(1, 96), material);
    this.mesh.quaternion.copy(LEVEL);
    this.mesh.receiveShadow = true;
    // Before everything else.
    this.mesh.renderOrder = -1;
    this.hides(false);
  }

  /** Whether it hides what is behind it. */
  hides(does: boolean): void {
    this.mesh.material.depthWrite = does;
  }

  /** The level plane at this height, around a place in a scene of this radius (m). */
  place(height: number, radius: number, center: Vector3): void {
    this.put(new Vector3(center.x, height, center.z), new Quaternion(), radius);
  }

  /** The plane that is turned so and passes through a place, around what is nearest to the center. */
  follow(pose: Matrix4, radius: number, center: Vector3): void {
    const turn = new Quaternion().setFromRotationMatrix(pose);
    const up = new Vector3(0, 1, 0).applyQuaternion(turn);
    const height = new Vector3().setFromMatrixPosition(pose).sub(center).dot(up);
    this.put(center.clone().addScaledVector(up, height), turn, radius);
  }

  private put(center: Vector3, turn: Quaternion, radius: number): void {
    this.mesh.scale.setScalar(REACH * radius);
    this.mesh.position.copy(center);
    this.mesh.quaternion.multiplyQuaternions(turn, LEVEL);
    this.uniforms.radius.value = radius;
    this.uniforms.center.value.copy(center);
    this.uniforms.right.value.set(1, 0, 0).applyQuaternion(turn);
    this.uniforms.forward.value.set(0, 0, 1).applyQuaternion(turn);
    this.uniforms.spacing.value = 10 ** Math.round(Math.log10(radius / 3));
  }

  recolor(grid: string): void {
    this.uniforms.grid.value.set(grid);
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
  }
}
