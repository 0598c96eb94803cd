// The twin of `merge` in `solver/stage.rs`. Here the particle itself takes no part in the sweep, so all
// that stand for it are copies: see `constraint/sweep.wgsl`.

@group(1) @binding(0) var<storage, read_write> positions: array<vec4f>;
/// The particles that have copies, and where the copies of each end; they begin where those of the one
/// before end.
@group(1) @binding(1) var<storage, read> split: array<vec2u>;
/// How many particles have copies, and the first copy of all.
@group(1) @binding(2) var<uniform> counts: vec4u;

@compute @workgroup_size(64)
fn merge(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let own = flat_id(id, groups);
    if (own >= counts.x) {
        return;
    }
    let particle = split[own].x;
    let end = split[own].y;
    var start = counts.y;
    if (own > 0u) {
        start = split[own - 1u].y;
    }
    // Differences are averaged: where nothing moved, nothing may move.
    let first = positions[start].xyz;
    var sum = vec3f();
    for (var copy = start + 1u; copy < end; copy++) {
        sum = sum + (positions[copy].xyz - first);
    }
    let mean = first + sum * (1.0 / f32(end - start));
    positions[particle] = vec4f(mean, positions[particle].w);
}
