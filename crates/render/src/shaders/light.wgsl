// What all drawing shaders share: the scene's numbers, its shadows and its light. Constants that are not
// here are those of `look.json`; the page's shaders (web/src/scene3d/shade.ts) do the same with them.

// As many as `light.rs` has.
const SKY_LIGHTS: u32 = 32u;

struct Globals {
    view_projection: mat4x4<f32>,
    /// From the world to the key light's shadow map.
    key: mat4x4<f32>,
    /// From the world to the sky lights' shadow maps.
    sky: array<mat4x4<f32>, SKY_LIGHTS>,
    /// Toward the sky lights.
    sky_directions: array<vec4<f32>, SKY_LIGHTS>,
    eye: vec4<f32>,
    /// Toward the key light.
    key_direction: vec4<f32>,
    /// Center of the scene, and its radius.
    extent: vec4<f32>,
    /// Width and height in pixels, width of lines in pixels.
    viewport: vec4<f32>,
    /// Colors of the backdrop at its upper and lower edge.
    high: vec4<f32>,
    low: vec4<f32>,
}

@group(0) @binding(0) var<uniform> globals: Globals;
@group(0) @binding(1) var key_map: texture_depth_2d;
@group(0) @binding(2) var sky_maps: texture_depth_2d_array;
@group(0) @binding(3) var comparison: sampler_comparison;

const KEY_TAPS: u32 = 24u;

/// Noise without visible pattern from the place of a pixel [Jimenez 2014].
fn noise(pixel: vec2<f32>) -> f32 {
    return fract(52.9829189 * fract(dot(pixel, vec2(0.06711056, 0.00583715))));
}

/// Texture coordinates and depth of a place in a shadow map.
fn in_map(matrix: mat4x4<f32>, place: vec3<f32>) -> vec3<f32> {
    let clip = matrix * vec4(place, 1.0);
    // Behind the farthest depth of a map is as far as its end: still in the shadow of what is in front.
    return vec3(clip.x * 0.5 + 0.5, 0.5 - clip.y * 0.5, min(clip.z, 1.0));
}

/// The share of the key light that reaches a place: samples on a disc, so that edges are soft.
fn key_share(place: vec3<f32>, normal: vec3<f32>, pixel: vec2<f32>) -> f32 {
    let size = f32(textureDimensions(key_map).x);
    let texel = 2.0 * globals.extent.w / size;
    let at = in_map(globals.key, place + normal * texel * 3.0);
    let start = noise(pixel) * 6.2831853;
    var lit = 0.0;
    for (var tap = 0u; tap < KEY_TAPS; tap++) {
        // Vogel's spiral covers the disc evenly.
        let angle = start + f32(tap) * 2.3999632;
        let reach = sqrt((f32(tap) + 0.5) / f32(KEY_TAPS)) * 11.0 / size;
        let offset = vec2(cos(angle), sin(angle)) * reach;
        lit += textureSampleCompareLevel(key_map, comparison, at.xy + offset, at.z - 0.0008);
    }
    return select(lit / f32(KEY_TAPS), 1.0, any(at.xy < vec2(0.0)) || any(at.xy > vec2(1.0)));
}

/// Light of the sky on a surface: lights in many directions, each with a shadow map of its own, so that
/// folds and contacts are dark.
fn sky_light(place: vec3<f32>, normal: vec3<f32>, pixel: vec2<f32>) -> f32 {
    let size = f32(textureDimensions(sky_maps).x);
    let texel = 2.0 * globals.extent.w / size;
    let turn = noise(pixel + vec2(37.0, 17.0)) * 6.2831853;
    let reach = (1.0 + 5.0 * noise(pixel + vec2(11.0, 71.0))) / size;
    let origin = place + normal * texel * 1.6;
    var light = 0.0;
    var whole = 0.0;
    for (var index = 0u; index < SKY_LIGHTS; index++) {
        let direction = globals.sky_directions[index].xyz;
        let brightness = 0.55 + 0.45 * direction.y;
        whole += brightness * max(direction.y, 0.0);
        let facing = dot(normal, direction);
        if facing > 0.0 {
            let at = in_map(globals.sky[index], origin);
            // Each light is sampled a little beside the place, every pixel elsewhere: the edges of many
            // shadows melt into one.
            let angle = turn + f32(index) * 2.3999632;
            let beside = vec2(cos(angle), sin(angle)) * reach;
            let seen = textureSampleCompareLevel(sky_maps, comparison, at.xy + beside, index, at.z - 0.004);
            let outside = any(at.xy < vec2(0.0)) || any(at.xy > vec2(1.0));
            light += brightness * facing * select(seen, 1.0, outside);
        }
    }
    return light / whole;
}

/// From the encoding of pictures (sRGB) to amounts of light.
fn linear(color: vec3<f32>) -> vec3<f32> {
    let bright = pow((color + 0.055) / 1.055, vec3(2.4));
    return select(bright, color / 12.92, color <= vec3(0.04045));
}

/// Keeps highlights from burning out, and gives the middle more contrast, as film does.
fn expose(color: vec3<f32>) -> vec3<f32> {
    let seen = pow(1.0 - exp(-color * EXPOSURE), vec3(1.0 / 2.2));
    return pow(mix(seen, seen * seen * (3.0 - 2.0 * seen), CONTRAST), vec3(2.2));
}

/// What is behind everything: brighter in the middle of the picture, darker at its edges.
fn backdrop(pixel: vec2<f32>) -> vec3<f32> {
    let at = pixel / globals.viewport.xy;
    let color = mix(globals.high.rgb, globals.low.rgb, smoothstep(0.0, 0.85, at.y));
    let away = (at - vec2(0.5, 0.55)) * vec2(1.0, 0.8);
    return color * (1.06 - VIGNETTE * dot(away, away));
}
