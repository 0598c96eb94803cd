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
  DynamicDrawUsage,
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
import { edgeLength, edgesOf, smoothNormals } from "./surface";

/** A surface, or the same one from fewer points. */
interface Version {
  triangles: Uint32Array<ArrayBuffer>;
  bodies: readonly Range[];
  index: BufferAttribute;
}

/**
 * A coarse surface cuts corners and would sink into what it lies on. So it is drawn as if it were nearer
 * to the eye, by this share of the length of its edges.
 */
const LIFT = 0.25;
const LIFT_CODE = /* glsl */ `
  vec3 lifted = vPlace + lift * normalize(cameraPosition - vPlace);
  vec4 nearer = projectionMatrix * viewMatrix * vec4(lifted, 1.0);
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
  places = new Float32Array(0);
  /** All triangles, whatever is drawn of them. */
  triangles = new Uint32Array(0);
  /** From fine to coarse, as far as they were needed; the first one is complete. */
  private versions: Version[] = [];
  private version: Version | null = null;
  private normals = new Float32Array(0);
  private fieldBytes = new Uint8Array(0);
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
    this.mesh = new Mesh(this.geometry(new Float32Array(9)), material);
    this.mesh.geometry.setIndex([0, 1, 2]);
    this.places = new Float32Array(0);
    this.mesh.castShadow = true;
    this.mesh.receiveShadow = true;
    this.mesh.frustumCulled = false;
    const wire = new LineBasicMaterial({ transparent: true, opacity: 0.35 });
    this.wires = new LineSegments(new BufferGeometry(), wire);
    this.wires.frustumCulled = false;
    this.wires.visible = false;
  }

  rebuild(scene: SceneInfo, topology: Topology): void {
    this.triangles = topology.triangles as Uint32Array<ArrayBuffer>;
    const bodies = scene.bodies.map((body) => ({
      first: body.first_triangle,
      count: body.triangles,
    }));
    const index = new BufferAttribute(this.triangles, 1);
    this.versions = [{ triangles: this.triangles, bodies, index }];
    this.mesh.geometry.dispose();
    this.mesh.geometry = this.geometry(tints(scene, topology));
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
    this.mesh.geometry.setIndex(version?.index ?? null);
    this.smooth();
  }

  /** How many triangles are drawn. */
  get drawn(): number {
    return (this.version?.triangles.length ?? 0) / 3;
  }

  show(frame: Frame): void {
    writePlaces(frame, this.places);
    this.touch("position");
    this.smooth();
    if (!frame.fieldValues) return;
    this.fieldBytes.set(frame.fieldValues);
    this.touch("field");
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

  get positionAttribute(): BufferAttribute {
    return this.mesh.geometry.getAttribute("position") as BufferAttribute;
  }

  /** For as many points as there are colors. */
  private geometry(tint: Float32Array): BufferGeometry {
    const points = tint.length / 3;
    this.places = new Float32Array(3 * points);
    this.normals = new Float32Array(3 * points);
    this.fieldBytes = new Uint8Array(points);
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", dynamic(this.places, 3));
    geometry.setAttribute("normal", dynamic(this.normals, 3));
    geometry.setAttribute("field", dynamic(this.fieldBytes, 1, true));
    geometry.setAttribute("tint", new BufferAttribute(tint, 3));
    return geometry;
  }

  private versionBelow(most: number): Version | null {
    for (let i = 0; ; i += 1) {
      const version = this.versions[i] ?? null;
      if (!version || version.triangles.length <= 3 * most) return version;
      if (this.versions[i + 1]) continue;
      const next = coarser(version.triangles, version.bodies, this.places.length / 3);
      // Bodies that are all small stay as they are.
      if (next.triangles.length === version.triangles.length) return version;
      this.versions.push({ ...next, index: new BufferAttribute(next.triangles, 1) });
    }
  }

  private smooth(): void {
    if (!this.version) return;
    const { triangles } = this.version;
    smoothNormals(this.places, triangles, this.normals);
    this.touch("normal");
    const isCoarse = triangles !== this.triangles;
    this.lift.value = isCoarse ? LIFT * edgeLength(this.places, triangles) : 0;
  }

  private buildWires(): void {
    if (this.triangles.length === 0) return;
    const edges = edgesOf(this.triangles, this.places.length / 3);
    this.wires.geometry.setIndex(new BufferAttribute(edges, 1));
    // The same attribute in two geometries is one buffer on the GPU.
    this.wires.geometry.setAttribute("position", this.positionAttribute);
    this.wiresStale = false;
  }

  private touch(name: string): void {
    (this.mesh.geometry.getAttribute(name) as BufferAttribute).needsUpdate = true;
  }
}

function dynamic(
  array: Float32Array | Uint8Array,
  size: number,
  normalized = false,
): BufferAttribute {
  return new BufferAttribute(array, size, normalized).setUsage(DynamicDrawUsage);
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
