// Renderer, camera and light: what every scene stands in.

import {
  Box3,
  Color,
  DirectionalLight,
  HemisphereLight,
  NeutralToneMapping,
  PCFShadowMap,
  PerspectiveCamera,
  Scene,
  Sphere,
  Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { Theme } from "../state";
import { Ground } from "./ground";

export interface Tones {
  background: Color;
  ground: Color;
  grid: Color;
  obstacle: Color;
  wire: Color;
  plain: Color;
  rest: Color;
}

const TONES: Record<Theme, Tones> = {
  light: tones("#e9ebee", "#dfe1e4", "#8b929c", "#9aa3ad", "#1b1f26", "#c3c7cc", "#b4b9c0"),
  dark: tones("#14171c", "#323941", "#6a7581", "#7d8894", "#f2f4f7", "#3a4149", "#454d57"),
};

function tones(...colors: [string, string, string, string, string, string, string]): Tones {
  const [background, ground, grid, obstacle, wire, plain, rest] = colors.map(
    (color) => new Color(color),
  ) as [Color, Color, Color, Color, Color, Color, Color];
  return { background, ground, grid, obstacle, wire, plain, rest };
}

/** From the front, a little to the right and above. */
const FROM = new Vector3(0.55, 0.42, 1).normalize();
const LIGHT_FROM = new Vector3(-0.62, 1, 0.48).normalize();
/** Texels along a side of the shadow map, with a graphics card and without. */
const SHADOW_MAP = { hardware: 2048, software: 1024 };

export class Stage {
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(40, 1, 0.01, 1000);
  readonly ground = new Ground();
  readonly renderer: WebGLRenderer;
  readonly controls: OrbitControls;
  private readonly sky = new HemisphereLight(0xffffff, 0x9a938a, 1.6);
  private readonly key = new DirectionalLight(0xfff4e6, 2.4);
  private readonly fill = new DirectionalLight(0xcfe0ff, 0.5);

  constructor(canvas: HTMLCanvasElement) {
    const software = drawsInSoftware();
    this.renderer = new WebGLRenderer({ canvas, antialias: !software });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.toneMapping = NeutralToneMapping;
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.key.castShadow = true;
    this.key.shadow.mapSize.setScalar(SHADOW_MAP[software ? "software" : "hardware"]);
    this.fill.position.set(1, 0.35, -0.7);
    this.scene.add(this.sky, this.key, this.key.target, this.fill, this.ground.mesh);
  }

  get canvas(): HTMLCanvasElement {
    return this.renderer.domElement;
  }

  tones(theme: Theme): Tones {
    return TONES[theme];
  }

  recolor(theme: Theme): void {
    const { background, ground, grid } = TONES[theme];
    this.scene.background = background;
    this.ground.recolor(ground, grid);
    this.sky.intensity = theme === "light" ? 2 : 1.6;
    this.sky.groundColor.set(theme === "light" ? 0xb0a79c : 0x6b645c);
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
    // As large as a texel of the shadow map, or surfaces shade themselves in stripes.
    const texel = (2 * reach) / this.key.shadow.mapSize.x;
    this.key.shadow.bias = (-2.5 * texel) / (camera.far - camera.near);
    this.key.shadow.radius = 2.5;
  }

  castShadows(on: boolean): void {
    this.key.castShadow = on;
  }

  /** Shows the whole box, from where the camera looks now or from the front. */
  fit(box: Box3, fromFront: boolean): void {
    const { center, radius } = box.getBoundingSphere(new Sphere());
    const direction = fromFront
      ? FROM.clone()
      : this.camera.position.clone().sub(this.controls.target).normalize();
    const narrow = Math.min(1, this.camera.aspect);
    const angle = Math.atan(Math.tan((this.camera.fov * Math.PI) / 360) * narrow);
    this.aim(center, center.clone().addScaledVector(direction, (1.02 * radius) / Math.sin(angle)));
  }

  aim(target: Vector3, eye: Vector3): void {
    const distance = eye.distanceTo(target);
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
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }

  draw(): void {
    this.renderer.render(this.scene, this.camera);
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
