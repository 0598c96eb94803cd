// Renderer, camera and light: what every scene stands in.

import {
  Box3,
  DirectionalLight,
  Group,
  MathUtils,
  PCFShadowMap,
  PerspectiveCamera,
  Scene,
  Sphere,
  Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { KEY_DIRECTION, TONES, VIEW } from "../color/look";
import type { Theme } from "../state";
import { Ground } from "./ground";
import { Backdrop, backdropMaterial } from "./shade";
import { cover, Still } from "./still";

/** From the front, a little to the right and above. */
const FROM = new Vector3().setFromSphericalCoords(
  1,
  MathUtils.degToRad(90 - VIEW.elevation),
  MathUtils.degToRad(VIEW.azimuth),
);
const LIGHT_FROM = new Vector3(...KEY_DIRECTION).normalize();
/** Without a graphics card a larger shadow map costs more than it shows. */
const MOST_TEXELS_IN_SOFTWARE = 1024;

export class Stage {
  readonly scene = new Scene();
  /** What is around bodies, and what is drawn anew in every picture. */
  readonly resting = new Group();
  readonly moving = new Group();
  readonly camera = new PerspectiveCamera(VIEW.fov, 1, 0.01, 1000);
  readonly backdrop = new Backdrop();
  readonly ground = new Ground(this.backdrop);
  readonly renderer: WebGLRenderer;
  readonly controls: OrbitControls;
  /** Pictures are drawn by the processor. */
  readonly inSoftware: boolean;
  /** Only casts shadows: how bright it is, shaders know themselves. */
  private readonly key = new DirectionalLight();
  /** Where it is worth it. */
  private readonly still: Still | null;

  constructor(canvas: HTMLCanvasElement) {
    this.inSoftware = drawsInSoftware();
    this.renderer = new WebGLRenderer({ canvas, antialias: !this.inSoftware });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.autoUpdate = false;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.key.castShadow = false;
    this.resting.add(cover(backdropMaterial(this.backdrop)), this.ground.mesh);
    this.scene.add(this.key, this.key.target, this.resting, this.moving);
    const { resting, moving } = this;
    this.still = this.inSoftware ? new Still(this.renderer, this.scene, { resting, moving }) : null;
  }

  get canvas(): HTMLCanvasElement {
    return this.renderer.domElement;
  }

  recolor(theme: Theme): void {
    this.backdrop.recolor(theme);
    this.ground.recolor(TONES[theme].grid);
    this.still?.forget();
  }

  /** Light and shadows for a scene of this box. */
  light(box: Box3): void {
    const { center, radius } = box.getBoundingSphere(new Sphere());
    const reach = 1.25 * radius;
    this.key.target.position.copy(center);
    this.key.position.copy(center).addScaledVector(LIGHT_FROM, 3 * reach);
    const { camera } = this.key.shadow;
    camera.left = camera.bottom = -reach;
    camera.right = camera.top = reach;
    camera.near = reach;
    camera.far = 6 * reach;
    camera.updateProjectionMatrix();
    this.offset();
  }

  /** Shadows from a map of so many texels along a side; null: none. */
  castShadows(texels: number | null): void {
    const { shadow } = this.key;
    this.key.castShadow = texels !== null;
    const size = Math.min(texels ?? Infinity, this.inSoftware ? MOST_TEXELS_IN_SOFTWARE : Infinity);
    if (texels === null || size === shadow.mapSize.x) return;
    shadow.mapSize.setScalar(size);
    shadow.map?.dispose();
    shadow.map = null;
    this.offset();
  }

  /** Shadows are looked up as far off as a texel is large, or surfaces shade themselves in stripes. */
  private offset(): void {
    const { camera, mapSize } = this.key.shadow;
    const texel = (camera.right - camera.left) / mapSize.x;
    this.key.shadow.bias = (-2 * texel) / (camera.far - camera.near);
    this.key.shadow.normalBias = 3 * texel;
    this.key.shadow.radius = 2;
  }

  /** Shows the whole box, from where the camera looks now or from the front. */
  fit(box: Box3, fromFront: boolean): void {
    const { center, radius } = box.getBoundingSphere(new Sphere());
    const direction = fromFront
      ? FROM.clone()
      : this.camera.position.clone().sub(this.controls.target).normalize();
    const fov = fromFront ? VIEW.fov : this.camera.fov;
    const narrow = Math.min(1, this.camera.aspect);
    const angle = Math.atan(Math.tan(MathUtils.degToRad(fov / 2)) * narrow);
    const eye = center.clone().addScaledVector(direction, (1.02 * radius) / Math.sin(angle));
    this.aim(center, eye, fov);
  }

  aim(target: Vector3, eye: Vector3, fov: number): void {
    const distance = eye.distanceTo(target);
    this.camera.fov = fov;
    this.camera.near = distance / 200;
    this.camera.far = distance * 60;
    this.camera.position.copy(eye);
    this.camera.updateProjectionMatrix();
    this.controls.target.copy(target);
    this.controls.update();
  }

  /** Fits the picture into these CSS pixels, at a share of the full resolution. */
  resize(width: number, height: number, scale: number): void {
    this.renderer.setPixelRatio(scale * Math.min(devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
    this.renderer.getDrawingBufferSize(this.backdrop.uniforms.viewport.value);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }

  /** Begins to compile shaders of what is there. Nothing waits for it. */
  compile(): void {
    this.renderer.compile(this.scene, this.camera);
  }

  /** Draws, with shadows of what is there now or those of an earlier picture. */
  draw(withShadows: boolean): void {
    this.renderer.shadowMap.needsUpdate = withShadows;
    // Shadows move with bodies, wherever they fall.
    if (this.still && !this.key.castShadow) this.still.draw(this.camera);
    else this.renderer.render(this.scene, this.camera);
  }
}

/** Without a graphics card smooth edges cost more than they are worth. */
function drawsInSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const names = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = names ? String(gl?.getParameter(names.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}
