// What does not move is drawn once and copied into each picture, with how far away it is. Where the
// processor draws, that is a third of a picture's time; a graphics card does not need it.

import {
  AlwaysDepth,
  BufferAttribute,
  BufferGeometry,
  DepthTexture,
  GLSL3,
  Mesh,
  NearestFilter,
  ShaderMaterial,
  Vector2,
  WebGLRenderTarget,
  type Camera,
  type Group,
  type Material,
  type Scene,
  type WebGLRenderer,
} from "three";

/** One triangle that covers the whole picture. */
export function cover(material: Material): Mesh {
  const corners = new Float32Array([-1, -1, 0, 3, -1, 0, -1, 3, 0]);
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(corners, 3));
  const mesh = new Mesh(geometry, material);
  mesh.frustumCulled = false;
  mesh.renderOrder = -2;
  return mesh;
}

/** Draws a scene in which some things rest. */
export class Still {
  private readonly target = new WebGLRenderTarget(1, 1, {
    depthTexture: new DepthTexture(1, 1),
    minFilter: NearestFilter,
    magFilter: NearestFilter,
  });
  private readonly copy = cover(
    new ShaderMaterial({
      glslVersion: GLSL3,
      uniforms: {
        color: { value: this.target.texture },
        depth: { value: this.target.depthTexture },
      },
      vertexShader: "void main() { gl_Position = vec4(position.xy, 1.0, 1.0); }",
      fragmentShader: `
        uniform sampler2D color;
        uniform highp sampler2D depth;
        out vec4 seen;
        void main() {
          ivec2 at = ivec2(gl_FragCoord.xy);
          seen = texelFetch(color, at, 0);
          gl_FragDepth = texelFetch(depth, at, 0).r;
        }`,
      depthFunc: AlwaysDepth,
    }),
  );
  /** What the last picture was made from, and whether `target` has that. */
  private last: number[] = [];
  private isKept = false;

  constructor(
    private readonly renderer: WebGLRenderer,
    private readonly scene: Scene,
    private readonly parts: { resting: Group; moving: Group },
  ) {
    this.copy.visible = false;
    scene.add(this.copy);
  }

  /** Something looks different although nothing has moved. */
  forget(): void {
    this.last = [];
  }

  draw(camera: Camera): void {
    const now = this.signature(camera);
    const isSame =
      now.length === this.last.length && now.every((value, i) => value === this.last[i]);
    this.last = now;
    this.isKept &&= isSame;
    // While the camera moves, every picture is drawn as a whole: keeping it would be in vain.
    if (isSame) this.drawKept(camera);
    else this.renderer.render(this.scene, camera);
  }

  private drawKept(camera: Camera): void {
    const { renderer, scene, copy } = this;
    const { resting, moving } = this.parts;
    if (!this.isKept) {
      const { x, y } = renderer.getDrawingBufferSize(new Vector2());
      this.target.setSize(x, y);
      moving.visible = false;
      renderer.setRenderTarget(this.target);
      renderer.render(scene, camera);
      renderer.setRenderTarget(null);
      moving.visible = true;
      this.isKept = true;
    }
    resting.visible = false;
    copy.visible = true;
    renderer.render(scene, camera);
    resting.visible = true;
    copy.visible = false;
  }

  /** All that the picture of what rests depends on, except for colors. */
  private signature(camera: Camera): number[] {
    this.scene.updateMatrixWorld();
    camera.updateMatrixWorld();
    const { x, y } = this.renderer.getDrawingBufferSize(new Vector2());
    const values = [x, y, ...camera.matrixWorld.elements, ...camera.projectionMatrix.elements];
    this.parts.resting.traverseVisible((object) => {
      if (!(object instanceof Mesh)) return;
      const { geometry, material } = object as Mesh<BufferGeometry, Material>;
      values.push(geometry.id, Number(material.depthWrite), ...object.matrixWorld.elements);
    });
    return values;
  }
}
