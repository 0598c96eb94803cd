// The twins of `remember` and `accelerate` in `solver/stage.rs`.

@group(1) @binding(0) var<storage, read_write> positions: array<vec4f>;
@group(1) @binding(1) var<storage, read_write> memory: array<vec4f>;
/// ω, in the first component.
@group(1) @binding(2) var<uniform> weight: vec4f;

@compute @workgroup_size(64)
fn remember(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let own = flat_id(id, groups);
    if (own < substep.particles) {
        memory[own] = positions[own];
    }
}

@compute @workgroup_size(64)
fn accelerate(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let own = flat_id(id, groups);
    if (own < substep.particles) {
        let now = positions[own];
        if (now.w != 0.0) {
            let before = memory[own].xyz;
            positions[own] = vec4f((now.xyz - before) * weight.x + before, now.w);
        }
    }
}
