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
  MeshStandardMaterial,
  SRGBColorSpace,
  type WebGLProgramParametersWithUniforms,
} from "three";
import { bodyColor } from "../color/palette";
import { rampBytes } from "../color/ramp";
import { writePlaces, type Field, type Frame, type SceneInfo, type Topology } from "../protocol";
import { edgesOf, isClosed, smoothNormals } from "./surface";

/** Where the color of a point comes from. */
enum Paint {
  Material = 0,
  Field = 1,
  Plain = 2,
}

// Open surfaces are cloth: a little light catches in the fuzz at grazing angles, and the back is
// darker than the front. Closed ones are soft bodies, smoother and without a back.
const PAINT = /* glsl */ `
  if (paint == ${Paint.Field}) diffuseColor.rgb = texture2D(ramp, vec2((vField * 255.0 + 0.5) / 256.0, 0.5)).rgb;
  if (paint == ${Paint.Plain}) diffuseColor.rgb = plain;
  if (!gl_FrontFacing) diffuseColor.rgb *= mix(1.0, 0.82, vCloth);
`;
const ROUGHNESS = /* glsl */ `
  roughnessFactor = mix(0.48, 0.92, vCloth);
`;
const FUZZ = /* glsl */ `
  float grazing = 1.0 - abs(dot(normalize(vViewPosition), normal));
  totalEmissiveRadiance += vCloth * 0.22 * diffuseColor.rgb * grazing * grazing * grazing;
`;

export class Bodies {
  readonly mesh: Mesh<BufferGeometry, MeshStandardMaterial>;
  readonly wires: LineSegments<BufferGeometry, LineBasicMaterial>;
  places = new Float32Array(0);
  triangles = new Uint32Array(0);
  private normals = new Float32Array(0);
  private fieldBytes = new Uint8Array(0);
  private readonly paint = { value: Paint.Material };
  private readonly plain = { value: new Color(0.5, 0.5, 0.5) };
  private readonly ramp = { value: rampTexture("strain") };
  private rampOf: Field = "strain";
  private wiresStale = true;

  constructor() {
    const material = new MeshStandardMaterial({ side: DoubleSide, vertexColors: true });
    material.onBeforeCompile = (shader) => this.extend(shader);
    this.mesh = new Mesh(new BufferGeometry(), material);
    this.mesh.castShadow = true;
    this.mesh.receiveShadow = true;
    this.mesh.frustumCulled = false;
    const wire = new LineBasicMaterial({ transparent: true, opacity: 0.35 });
    this.wires = new LineSegments(new BufferGeometry(), wire);
    this.wires.frustumCulled = false;
    this.wires.visible = false;
  }

  rebuild(scene: SceneInfo, topology: Topology): void {
    const { points } = topology;
    this.triangles = topology.triangles as Uint32Array<ArrayBuffer>;
    this.places = new Float32Array(3 * points);
    this.normals = new Float32Array(3 * points);
    this.fieldBytes = new Uint8Array(points);
    const { colors, cloth } = appearance(scene, topology);
    const geometry = new BufferGeometry();
    geometry.setIndex(new BufferAttribute(this.triangles, 1));
    geometry.setAttribute("position", dynamic(this.places, 3));
    geometry.setAttribute("normal", dynamic(this.normals, 3));
    geometry.setAttribute("field", dynamic(this.fieldBytes, 1, true));
    geometry.setAttribute("color", new BufferAttribute(colors, 3));
    geometry.setAttribute("cloth", new BufferAttribute(cloth, 1, true));
    this.mesh.geometry.dispose();
    this.mesh.geometry = geometry;
    this.wires.geometry.dispose();
    this.wires.geometry = new BufferGeometry();
    this.wiresStale = true;
    if (this.wires.visible) this.buildWires();
  }

  show(frame: Frame): void {
    writePlaces(frame, this.places);
    smoothNormals(this.places, this.triangles, this.normals);
    this.touch("position");
    this.touch("normal");
    if (!frame.fieldValues) return;
    this.fieldBytes.set(frame.fieldValues);
    this.touch("field");
  }

  paintMaterial(): void {
    this.paint.value = Paint.Material;
  }

  paintPlain(color: Color): void {
    this.paint.value = Paint.Plain;
    this.plain.value.copy(color);
  }

  paintField(field: Field): void {
    this.paint.value = Paint.Field;
    if (field === this.rampOf) return;
    this.rampOf = field;
    this.ramp.value.dispose();
    this.ramp.value = rampTexture(field);
  }

  showWires(visible: boolean, color: Color): void {
    this.wires.visible = visible;
    this.wires.material.color.copy(color);
    if (visible && this.wiresStale) this.buildWires();
  }

  get positionAttribute(): BufferAttribute {
    return this.mesh.geometry.getAttribute("position") as BufferAttribute;
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

  private extend(shader: WebGLProgramParametersWithUniforms): void {
    shader.uniforms.paint = this.paint;
    shader.uniforms.plain = this.plain;
    shader.uniforms.ramp = this.ramp;
    const varyings = "varying float vField;\nvarying float vCloth;";
    shader.vertexShader = shader.vertexShader
      .replace(
        "#include <common>",
        `#include <common>\nattribute float field;\nattribute float cloth;\n${varyings}`,
      )
      .replace(
        "#include <begin_vertex>",
        "#include <begin_vertex>\nvField = field;\nvCloth = cloth;",
      );
    const uniforms = "uniform int paint;\nuniform vec3 plain;\nuniform sampler2D ramp;";
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>\n${varyings}\n${uniforms}`)
      .replace("#include <color_fragment>", `#include <color_fragment>\n${PAINT}`)
      .replace("#include <roughnessmap_fragment>", `#include <roughnessmap_fragment>\n${ROUGHNESS}`)
      .replace("#include <emissivemap_fragment>", `#include <emissivemap_fragment>\n${FUZZ}`);
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

/** Color of each point, and whether it belongs to cloth (255) or to a closed body (0). */
function appearance(scene: SceneInfo, topology: Topology) {
  const colors = new Float32Array(3 * topology.points).fill(0.5);
  const cloth = new Uint8Array(topology.points);
  const color = new Color();
  for (const body of scene.bodies) {
    const [r, g, b] = bodyColor(body.color);
    color.setRGB(r / 255, g / 255, b / 255, SRGBColorSpace);
    const closed = isClosed(topology.triangles, body.first_triangle, body.triangles);
    const first = 3 * body.first_triangle;
    for (const point of topology.triangles.subarray(first, first + 3 * body.triangles)) {
      colors.set([color.r, color.g, color.b], 3 * point);
      cloth[point] = closed ? 0 : 255;
    }
  }
  return { colors, cloth };
}
