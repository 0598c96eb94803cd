// The ground: a disc with a faint grid of meters that fades into the background.

import {
  CircleGeometry,
  Color,
  Float32BufferAttribute,
  Mesh,
  MeshLambertMaterial,
  type WebGLProgramParametersWithUniforms,
} from "three";

const GRID = /* glsl */ `
  vec2 cell = abs(fract(vGround / spacing - 0.5) - 0.5) * spacing / fwidth(vGround);
  float line = 1.0 - min(min(cell.x, cell.y), 1.0);
  diffuseColor.rgb = mix(diffuseColor.rgb, gridColor, 0.35 * line);
`;

export class Ground {
  readonly mesh: Mesh<CircleGeometry, MeshLambertMaterial>;
  private readonly spacing = { value: 1 };
  private readonly gridColor = { value: new Color() };

  constructor() {
    const material = new MeshLambertMaterial({ transparent: true, vertexColors: true });
    material.onBeforeCompile = (shader) => this.extend(shader);
    this.mesh = new Mesh(fadingDisc(), material);
    this.mesh.rotation.x = -Math.PI / 2;
    this.mesh.receiveShadow = true;
    // Drawn first: what is transparent at its rim must not hide the bodies.
    this.mesh.renderOrder = -1;
    material.depthWrite = false;
  }

  /** Under a scene of this size (m), at this height. */
  place(height: number, size: number): void {
    this.mesh.scale.setScalar(size * 4);
    this.mesh.position.y = height;
    this.spacing.value = 10 ** Math.round(Math.log10(size / 6));
  }

  recolor(ground: Color, grid: Color): void {
    this.mesh.material.color.copy(ground);
    this.gridColor.value.copy(grid);
  }

  private extend(shader: WebGLProgramParametersWithUniforms): void {
    shader.uniforms.spacing = this.spacing;
    shader.uniforms.gridColor = this.gridColor;
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nvarying vec2 vGround;")
      .replace(
        "#include <begin_vertex>",
        "#include <begin_vertex>\nvGround = (modelMatrix * vec4(position, 1.0)).xz;",
      );
    shader.fragmentShader = shader.fragmentShader
      .replace(
        "#include <common>",
        "#include <common>\nvarying vec2 vGround;\nuniform float spacing;\nuniform vec3 gridColor;",
      )
      .replace("#include <color_fragment>", `#include <color_fragment>\n${GRID}`);
  }
}

/** White in the middle, clear at the rim: the alpha of a vertex color fades it. */
function fadingDisc(): CircleGeometry {
  const disc = new CircleGeometry(1, 96);
  const count = disc.getAttribute("position").count;
  const colors = new Float32Array(4 * count).fill(1);
  for (let i = 1; i < count; i += 1) colors[4 * i + 3] = 0;
  disc.setAttribute("color", new Float32BufferAttribute(colors, 4));
  return disc;
}
