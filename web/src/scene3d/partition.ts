// A partition as colored lines: each element in the color of its phase, block or batch.
//
// A particle belongs to elements of many colors, so lines cannot share the colors of points. Instead
// each line is an instance that knows its particles and looks their places up in a texture: a frame
// costs one upload of places, however many lines there are.

import {
  Color,
  DataTexture,
  DoubleSide,
  FloatType,
  GLSL3,
  InstancedBufferAttribute,
  InstancedBufferGeometry,
  BufferAttribute,
  Mesh,
  NearestFilter,
  RGBAFormat,
  ShaderMaterial,
  Vector2,
} from "three";
import { CONSTANTS } from "../color/look";
import type { Elements } from "../protocol";
import { colorElements, segmentsOf, type Level, type Segments } from "./segments";

const WIDTH = 1024;

const VERTEX = /* glsl */ `
  ${CONSTANTS}
  uniform highp sampler2D places;
  uniform vec2 resolution;
  uniform float pixels;
  uniform int arity;
  uniform int only;
  uniform bool hideRest;
  uniform vec3 restColor;
  in uvec2 ends;
  in uvec4 corners;
  in uint phase;
  in vec3 tint;
  out vec3 vTint;

  vec3 placeOf(uint i) {
    return texelFetch(places, ivec2(int(i) % ${WIDTH}, int(i) / ${WIDTH}), 0).xyz;
  }

  void main() {
    bool rest = only >= 0 && int(phase) != only;
    vec3 a = placeOf(ends.x);
    vec3 b = placeOf(ends.y);
    if (arity > 2) {
      vec3 sum = placeOf(corners.x) + placeOf(corners.y) + placeOf(corners.z);
      if (arity > 3) sum += placeOf(corners.w);
      // Elements keep a little distance from each other, so that one sees where each ends.
      a = mix(a, sum / float(arity), INSET);
      b = mix(b, sum / float(arity), INSET);
    }
    // In front of the surface that the elements lie in; what is looked for lies before the rest.
    float lift = rest ? 0.5 * LIFT : LIFT;
    vec4 clipA = projectionMatrix * viewMatrix * vec4(mix(a, cameraPosition, lift), 1.0);
    vec4 clipB = projectionMatrix * viewMatrix * vec4(mix(b, cameraPosition, lift), 1.0);
    if ((rest && hideRest) || clipA.w <= 0.0 || clipB.w <= 0.0) {
      gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
      return;
    }
    vec2 along = (clipB.xy / clipB.w - clipA.xy / clipA.w) * resolution;
    vec2 across = normalize(vec2(-along.y, along.x) + vec2(1e-6, 0.0));
    vec4 clip = mix(clipA, clipB, position.x);
    float width = rest ? 1.0 : pixels;
    clip.xy += across * position.y * width / resolution * clip.w;
    gl_Position = clip;
    vTint = rest ? restColor : tint;
  }
`;

const FRAGMENT = /* glsl */ `
  in vec3 vTint;
  out vec4 color;
  void main() { color = vec4(vTint, 1.0); }
`;

export class PartitionLines {
  readonly mesh: Mesh<InstancedBufferGeometry, ShaderMaterial>;
  /** Each color that is drawn, once. */
  shown: readonly string[] = [];
  private readonly uniforms = {
    places: { value: null as DataTexture | null },
    resolution: { value: new Vector2(1, 1) },
    pixels: { value: 2 },
    arity: { value: 2 },
    only: { value: -1 },
    hideRest: { value: true },
    restColor: { value: new Color() },
  };
  private elements: Elements | null = null;
  private segments: Segments | null = null;

  constructor() {
    const material = new ShaderMaterial({
      uniforms: this.uniforms,
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      glslVersion: GLSL3,
      side: DoubleSide,
    });
    this.mesh = new Mesh(new InstancedBufferGeometry(), material);
    this.mesh.frustumCulled = false;
    this.mesh.visible = false;
  }

  /** Of a hinge, the edge that it turns about says where it is. */
  rebuild(elements: Elements, points: number, isHinge: boolean): void {
    this.elements = elements;
    this.segments = segmentsOf(elements, points, isHinge);
    this.uniforms.arity.value = isHinge ? 2 : Math.min(elements.arity, 4);
    const geometry = quad();
    geometry.instanceCount = this.segments.count;
    geometry.setAttribute("ends", new InstancedBufferAttribute(this.segments.ends, 2));
    geometry.setAttribute("corners", new InstancedBufferAttribute(this.segments.corners, 4));
    const phases = this.segments.element.map((e) => elements.phases[e] ?? 0);
    geometry.setAttribute("phase", new InstancedBufferAttribute(phases, 1));
    this.mesh.geometry.dispose();
    this.mesh.geometry = geometry;
    const rows = Math.max(1, Math.ceil(points / WIDTH));
    this.uniforms.places.value?.dispose();
    this.uniforms.places.value = placesTexture(rows);
  }

  clear(): void {
    this.elements = null;
    this.segments = null;
    this.mesh.visible = false;
    this.shown = [];
  }

  paint(level: Level, phases: number): void {
    if (!this.elements || !this.segments) return;
    const { bytes, shown } = colorElements(this.elements, level, phases);
    const tints = new Uint8Array(4 * this.segments.count);
    this.segments.element.forEach((e, i) => tints.set(bytes.subarray(4 * e, 4 * e + 4), 4 * i));
    this.mesh.geometry.setAttribute("tint", new InstancedBufferAttribute(tints, 4, true));
    this.shown = shown;
  }

  isolate(phase: number | null, hideRest: boolean, restColor: string): void {
    this.uniforms.only.value = phase ?? -1;
    this.uniforms.hideRest.value = hideRest;
    this.uniforms.restColor.value.set(restColor).convertLinearToSRGB();
  }

  resize(width: number, height: number, pixels: number): void {
    this.uniforms.resolution.value.set(width, height);
    this.uniforms.pixels.value = pixels;
  }

  show(places: Float32Array): void {
    const texture = this.uniforms.places.value;
    if (!texture || !this.mesh.visible) return;
    const data = texture.image.data as Float32Array;
    for (let i = 0, j = 0; i < places.length; i += 3, j += 4) {
      data[j] = places[i]!;
      data[j + 1] = places[i + 1]!;
      data[j + 2] = places[i + 2]!;
    }
    texture.needsUpdate = true;
  }

  get ready(): boolean {
    return this.elements !== null;
  }
}

/** Along the line from 0 to 1, across it from -1 to 1. */
function quad(): InstancedBufferGeometry {
  const geometry = new InstancedBufferGeometry();
  const corners = new Float32Array([0, -1, 0, 1, -1, 0, 1, 1, 0, 0, 1, 0]);
  geometry.setAttribute("position", new BufferAttribute(corners, 3));
  geometry.setIndex([0, 1, 2, 0, 2, 3]);
  return geometry;
}

function placesTexture(rows: number): DataTexture {
  const data = new Float32Array(4 * WIDTH * rows);
  const texture = new DataTexture(data, WIDTH, rows, RGBAFormat, FloatType);
  texture.minFilter = NearestFilter;
  texture.magFilter = NearestFilter;
  texture.unpackAlignment = 4;
  return texture;
}
