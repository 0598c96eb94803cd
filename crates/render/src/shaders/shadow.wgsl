// Depths as a light sees them.

@group(0) @binding(0) var<uniform> matrix: mat4x4<f32>;

@vertex
fn shadow(@location(0) place: vec4<f32>) -> @builtin(position) vec4<f32> {
    return matrix * vec4(place.xyz, 1.0);
}
