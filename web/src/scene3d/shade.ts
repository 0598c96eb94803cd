// Light and color of everything that is drawn, as `taut render` has them (crates/render/src/shaders):
// a bright key light with shadows, the sky, light from the ground, and a sheen. The constants are
// those of look.json. What pictures take their time for is made short here: the sky is one formula
// instead of 32 lights with a shadow map each.

import { Color, ShaderMaterial, UniformsLib, UniformsUtils, Vector2, type IUniform } from "three";
import { CONSTANTS, TONES } from "../color/look";
import type { Theme } from "../state";

/** Shared by all materials: a change is seen by all. */
export class Backdrop {
  readonly uniforms = {
    high: { value: new Color() },
    low: { value: new Color() },
    viewport: { value: new Vector2(1, 1) },
  };

  recolor(theme: Theme): void {
    this.uniforms.high.value.set(TONES[theme].high);
    this.uniforms.low.value.set(TONES[theme].low);
  }
}

/**
 * Powers are what takes longest in these shaders where the processor draws, and roots are not. So powers
 * are replaced by sums that differ from them by less than what an eye sees: coefficients of 1, x, its
 * root and the root of that; or of 1, x and its square.
 */
export const FITTED = {
  /** The encoding of screens (sRGB), above its straight part. */
  encode: [-0.0769, -0.0553, 0.8337, 0.2981],
  /** The power 1 / 2.2. */
  seen: [0, -0.0798, 1.0082, 0.0697],
  /** The encoding of the power 2.2. */
  shown: [-0.0391, 1.1372, -0.1003],
} as const;

/** Light of the sky on a surface that nothing hides, by how far its normal points up (-1 to 1). */
export const SKY_LIGHT = [0.42, 0.5, 0.08] as const;

/** A sum of roots in GLSL; `root` is known there. */
function roots([a, b, c, d]: readonly [number, number, number, number], x: string): string {
  const [first, second, third, fourth] = [a, b, c, d].map((value) => value.toFixed(4));
  return `${first} + ${second} * ${x} + ${third} * root + ${fourth} * sqrt(root)`;
}

const SHARED = /* glsl */ `
  ${CONSTANTS}
  uniform vec3 high;
  uniform vec3 low;
  uniform vec2 viewport;

  float skyLight(float up) {
    return ${SKY_LIGHT[0]} + up * (${SKY_LIGHT[1]} + up * ${SKY_LIGHT[2]});
  }

  // From light to what a screen is told.
  vec3 encode(vec3 light) {
    vec3 root = sqrt(light);
    vec3 curve = ${roots(FITTED.encode, "light")};
    return mix(curve, 12.92 * light, vec3(lessThan(light, vec3(0.0031))));
  }

  // Keeps highlights from burning out, and gives the middle more contrast, as film does. Encoded.
  vec3 expose(vec3 color) {
    vec3 light = 1.0 - exp(-color * EXPOSURE);
    vec3 root = sqrt(light);
    vec3 seen = ${roots(FITTED.seen, "light")};
    vec3 film = mix(seen, seen * seen * (3.0 - 2.0 * seen), CONTRAST);
    return max(${FITTED.shown[0]} + film * (${FITTED.shown[1]} + ${FITTED.shown[2]} * film), 0.0);
  }

  vec3 backdrop() {
    vec2 at = gl_FragCoord.xy / viewport;
    at.y = 1.0 - at.y;
    vec3 color = mix(high, low, smoothstep(0.0, 0.85, at.y));
    vec2 away = (at - vec2(0.5, 0.55)) * vec2(1.0, 0.8);
    return color * (1.06 - VIGNETTE * dot(away, away));
  }

  // Where the key light does not reach, some of the sky is hidden as well.
  const float SKY_IN_SHADOW = 0.82;

  // Light that comes back from a surface, encoded; a share of the key light reaches it.
  vec3 shade(vec3 albedo, vec3 normal, vec3 place, float share) {
    vec3 towardKey = normalize(KEY_DIRECTION);
    vec3 towardEye = normalize(cameraPosition - place);
    float facing = dot(normal, towardKey);
    float wrapped = max((facing + WRAP) / (1.0 + WRAP), 0.0);
    // Where light grazes, one coarse map cannot tell what is in the shadow; fading hides its steps.
    vec3 key = KEY_COLOR * wrapped * share * smoothstep(0.0, 0.25, facing);
    vec3 sky = SKY_COLOR * skyLight(normal.y) * mix(SKY_IN_SHADOW, 1.0, share);
    vec3 bounce = BOUNCE_COLOR * (0.5 - 0.5 * normal.y);
    float gloss = pow(max(dot(normal, normalize(towardKey + towardEye)), 0.0), GLOSS_POWER) * GLOSS;
    float grazing = 1.0 - max(dot(normal, towardEye), 0.0);
    float sheen = grazing * grazing * grazing * grazing * SHEEN;
    return expose(albedo * (key + sky + bounce) * ALBEDO + gloss * key + sheen * sky);
  }
`;

const VERTEX = /* glsl */ `
  #include <common>
  #include <shadowmap_pars_vertex>
  varying vec3 vPlace;
  varying vec3 vFacing;
  ${CONSTANTS}
  OWN_DECLARATIONS
  void main() {
    vPlace = (modelMatrix * vec4(position, 1.0)).xyz;
    vFacing = mat3(modelMatrix) * normal;
    // In this order no matrix is multiplied by another.
    gl_Position = projectionMatrix * (viewMatrix * vec4(vPlace, 1.0));
    #if defined(USE_SHADOWMAP) && NUM_DIR_LIGHT_SHADOWS > 0
      // Shadows are looked up a little off the surface, on the side that faces the light: cloth has two.
      float side = dot(vFacing, KEY_DIRECTION) < 0.0 ? -1.0 : 1.0;
      vec3 off = vPlace + side * directionalLightShadows[0].shadowNormalBias * vFacing;
      vDirectionalShadowCoord[0] = directionalShadowMatrix[0] * vec4(off, 1.0);
    #endif
    OWN_CODE
  }
`;

const FRAGMENT = /* glsl */ `
  #include <common>
  #include <bsdfs>
  #include <lights_pars_begin>
  #include <shadowmap_pars_fragment>
  #include <shadowmask_pars_fragment>
  varying vec3 vPlace;
  varying vec3 vFacing;
  ${SHARED}
  OWN_DECLARATIONS
  void main() {
    float share = getShadowMask();
    vec3 normal = normalize(gl_FrontFacing ? vFacing : -vFacing);
    OWN_CODE
    gl_FragColor = vec4(color, 1.0);
  }
`;

export interface Shader {
  uniforms: Record<string, IUniform>;
  /** Declarations of both shaders: varyings. */
  varyings?: string;
  vertex?: { declarations: string; code: string };
  /** `code` makes a `vec3 color`, encoded, from `normal`, `vPlace` and `share`, the key light's share. */
  fragment: { declarations: string; code: string };
}

/** A material in the light of the key and the sky. */
export function litMaterial(backdrop: Backdrop, shader: Shader): ShaderMaterial {
  const { varyings = "", vertex = { declarations: "", code: "" }, fragment } = shader;
  const fill = (text: string, own: { declarations: string; code: string }) =>
    text
      .replace("OWN_DECLARATIONS", `${varyings}\n${own.declarations}`)
      .replace("OWN_CODE", own.code);
  return new ShaderMaterial({
    lights: true,
    uniforms: {
      ...UniformsUtils.clone(UniformsLib.lights),
      ...backdrop.uniforms,
      ...shader.uniforms,
    },
    vertexShader: fill(VERTEX, vertex),
    fragmentShader: fill(FRAGMENT, fragment),
  });
}

/** What is seen where there is nothing. */
export function backdropMaterial(backdrop: Backdrop): ShaderMaterial {
  return new ShaderMaterial({
    uniforms: backdrop.uniforms,
    vertexShader: "void main() { gl_Position = vec4(position.xy, 1.0, 1.0); }",
    fragmentShader: `${SHARED}
      void main() {
        gl_FragColor = vec4(encode(backdrop()), 1.0);
      }`,
    depthTest: false,
    depthWrite: false,
  });
}
