// Cloth and soft bodies: one mesh for all of them, so that a hundred tori are one draw call.
//
// Places and normals are worked out on the CPU: picking needs the places anyway, and both together
// take a few milliseconds for 100,000 points.

import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DataTexture,
  DoubleSide,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  SRGBColorSpace,
  type ShaderMaterial,
} from "three";
import { bodyColor } from "../color/palette";
import { rampBytes } from "../color/ramp";
import { writePlaces, type Field, type Frame, type SceneInfo, type Topology } from "../protocol";
import { coarser, type Range } from "./coarse";
import { litMaterial, type Backdrop } from "./shade";
import { Skin, type PointData } from "./skin";
import { edgesOf } from "./surface";

/** A surface, or the same one from fewer points. */
interface Version {
  triangles: Uint32Array<ArrayBuffer>;
  bodies: readonly Range[];
  /** What is drawn of it, as soon as it was needed. */
  skin: Skin | null;
}

/**
 * A coarse surface cuts corners and would sink into what it lies on. So it is drawn as if it were nearer
 * to the eye, by this share of the length of its edges.
 */
const LIFT = 0.5;
const LIFT_CODE = /* glsl */ `
  vec3 lifted = vPlace + lift * normalize(cameraPosition - vPlace);
  vec4 nearer = projectionMatrix * (viewMatrix * vec4(lifted, 1.0));
  gl_Position.z = nearer.z / nearer.w * gl_Position.w;
`;

/** Where the color of a point comes from. */
enum Paint {
  Material = 0,
  Field = 1,
  Plain = 2,
}

const CODE = /* glsl */ `
  vec3 albedo = vTint;
  if (paint == ${Paint.Field}) albedo = texture2D(ramp, vec2((vField * 255.0 + 0.5) / 256.0, 0.5)).rgb;
  if (paint == ${Paint.Plain}) albedo = plain;
  if (paint == ${Paint.Material} && !gl_FrontFacing) albedo = mix(albedo, BACK_COLOR, BACK_SHARE);
  vec3 color = shade(albedo, normal, vPlace, share);
`;

export class Bodies {
  readonly mesh: Mesh<BufferGeometry, ShaderMaterial>;
  readonly wires: LineSegments<BufferGeometry, LineBasicMaterial>;
  /** All triangles, whatever is drawn of them. */
  triangles = new Uint32Array(0);
  /** All points, whatever is drawn of them. */
  private all = dataOf(new Float32Array(0));
  /** From fine to coarse, as far as they were needed; the first one is complete. */
  private versions: Version[] = [];
  private version: Version | null = null;
  private readonly lift = { value: 0 };
  private readonly paint = { value: Paint.Material };
  private readonly plain = { value: new Color(0.5, 0.5, 0.5) };
  private readonly ramp = { value: rampTexture("strain") };
  private rampOf: Field = "strain";
  private wiresStale = true;

  constructor(backdrop: Backdrop) {
    const material = litMaterial(backdrop, {
      uniforms: { lift: this.lift, paint: this.paint, plain: this.plain, ramp: this.ramp },
      varyings: "varying float vField;\nvarying vec3 vTint;",
      vertex: {
        declarations: "uniform float lift;\nattribute float field;\nattribute vec3 tint;",
        code: `vField = field;\nvTint = tint;${LIFT_CODE}`,
      },
      fragment: {
        declarations: "uniform int paint;\nuniform vec3 plain;\nuniform sampler2D ramp;",
        code: CODE,
      },
    });
    material.side = DoubleSide;
    // Shaders depend on what points have: so they can be compiled before there are any.
    const nothing = new Skin(Uint32Array.of(0, 1, 2), dataOf(new Float32Array(9)), true);
    this.mesh = new Mesh(nothing.geometry, material);
    this.mesh.castShadow = true;
    this.mesh.receiveShadow = true;
    this.mesh.frustumCulled = false;
    const wire = new LineBasicMaterial({ transparent: true, opacity: 0.35 });
    this.wires = new LineSegments(new BufferGeometry(), wire);
    this.wires.frustumCulled = false;
    this.wires.visible = false;
  }

  get places(): Float32Array {
    return this.all.places;
  }

  rebuild(scene: SceneInfo, topology: Topology): void {
    for (const { skin } of this.versions) skin?.geometry.dispose();
    this.triangles = topology.triangles as Uint32Array<ArrayBuffer>;
    const bodies = scene.bodies.map((body) => ({
      first: body.first_triangle,
      count: body.triangles,
    }));
    this.all = dataOf(tints(scene, topology));
    this.versions = [{ triangles: this.triangles, bodies, skin: null }];
    this.limit(Infinity);
    this.wires.geometry.dispose();
    this.wires.geometry = new BufferGeometry();
    this.wiresStale = true;
    if (this.wires.visible) this.buildWires();
  }

  /** Draws from fewer points, if there are more triangles than these. */
  limit(most: number): void {
    const version = this.versionBelow(most);
    if (version === this.version) return;
    this.version = version;
    if (!version) return;
    const skin = this.skinOf(version);
    this.mesh.geometry = skin.geometry;
    skin.showField(this.all);
    this.smooth();
  }

  /** How many triangles are drawn. */
  get drawn(): number {
    return (this.version?.triangles.length ?? 0) / 3;
  }

  show(frame: Frame): void {
    writePlaces(frame, this.places);
    this.smooth();
    // Wires have all points.
    const complete = this.versions[0]?.skin;
    if (complete) complete.position.needsUpdate = true;
    if (!frame.fieldValues) return;
    this.all.field.set(frame.fieldValues);
    this.version?.skin?.showField(this.all);
  }

  paintMaterial(): void {
    this.paint.value = Paint.Material;
  }

  paintPlain(color: string): void {
    this.paint.value = Paint.Plain;
    this.plain.value.set(color);
  }

  paintField(field: Field): void {
    this.paint.value = Paint.Field;
    if (field === this.rampOf) return;
    this.rampOf = field;
    this.ramp.value.dispose();
    this.ramp.value = rampTexture(field);
  }

  showWires(visible: boolean, color: string): void {
    this.wires.visible = visible;
    this.wires.material.color.set(color);
    if (visible && this.wiresStale) this.buildWires();
  }

  private versionBelow(most: number): Version | null {
    for (let i = 0; ; i += 1) {
      const version = this.versions[i] ?? null;
      if (!version || version.triangles.length <= 3 * most) return version;
      if (this.versions[i + 1]) continue;
      const next = coarser(version.triangles, version.bodies, this.places.length / 3);
      // Bodies that are all small stay as they are.
      if (next.triangles.length === version.triangles.length) return version;
      this.versions.push({ ...next, skin: null });
    }
  }

  private skinOf(version: Version): Skin {
    version.skin ??= new Skin(version.triangles, this.all, version === this.versions[0]);
    return version.skin;
  }

  private smooth(): void {
    if (!this.version) return;
    const skin = this.skinOf(this.version);
    skin.show(this.all);
    const isCoarse = this.version !== this.versions[0];
    this.lift.value = isCoarse ? LIFT * skin.edge : 0;
  }

  private buildWires(): void {
    const complete = this.versions[0];
    if (!complete || this.triangles.length === 0) return;
    const edges = edgesOf(this.triangles, this.places.length / 3);
    this.wires.geometry.setIndex(new BufferAttribute(edges, 1));
    // The same attribute in two geometries is one buffer on the GPU.
    this.wires.geometry.setAttribute("position", this.skinOf(complete).position);
    this.wiresStale = false;
  }
}

/** Points of these colors. */
function dataOf(tints: Float32Array): PointData {
  const points = tints.length / 3;
  return { places: new Float32Array(3 * points), field: new Uint8Array(points), tints };
}

function rampTexture(field: Field): DataTexture {
  const texture = new DataTexture(rampBytes(field), 256, 1);
  texture.colorSpace = SRGBColorSpace;
  texture.needsUpdate = true;
  return texture;
}

/** Color of each point: that of its body. */
function tints(scene: SceneInfo, topology: Topology): Float32Array {
  const colors = new Float32Array(3 * topology.points).fill(0.5);
  const color = new Color();
  for (const body of scene.bodies) {
    const [r, g, b] = bodyColor(body.color);
    color.setRGB(r / 255, g / 255, b / 255, SRGBColorSpace);
    const first = 3 * body.first_triangle;
    for (const point of topology.triangles.subarray(first, first + 3 * body.triangles)) {
      color.toArray(colors, 3 * point);
    }
  }
  return colors;
}
