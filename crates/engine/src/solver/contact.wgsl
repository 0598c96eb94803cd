// The twin of `contact_lanes` in `stage.rs`: particles are moved out of the shapes.

@group(1) @binding(0) var<storage, read_write> positions: array<vec4f>;
/// Whether this is the last time in the substep, in the first component.
@group(1) @binding(17) var<uniform> pass_flags: vec4u;

fn previous_place(own: u32) -> vec3f {
    return previous[own].xyz;
}

@compute @workgroup_size(64)
fn contact(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    // Nobody returns early, although some have no particle: what all invocations read alike is read once
    // only where all of them certainly are.
    let flat = flat_id(id, groups);
    let own = min(flat, substep.particles - 1u);
    let particle = positions[own];
    let thickness = thickness_of(own);
    var place = particle.xyz;
    var deepest = 0.0;
    // SHAPES stands above: a loop whose end is known is unrolled.
    for (var index = 0u; index < SHAPES; index++) {
        let depth = resolve(shapes[substep.first_shape + index], own, &place, thickness);
        deepest = max(deepest, depth);
    }
    if (particle.w != 0.0 && deepest > 0.0 && flat == own) {
        positions[own] = vec4f(place, particle.w);
        if (substep.is_last != 0u && pass_flags.x != 0u) {
            atomicAdd(&findings.contacts, 1u);
        }
    }
}
