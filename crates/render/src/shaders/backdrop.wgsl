// The picture before anything is drawn on it.

@vertex
fn everywhere(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    // One triangle that covers the whole picture.
    let corner = vec2(f32(index & 1u), f32(index >> 1u)) * 4.0 - 1.0;
    return vec4(corner, 1.0, 1.0);
}

@fragment
fn behind(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    return vec4(backdrop(position.xy), 1.0);
}
