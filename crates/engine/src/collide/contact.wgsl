// The twin of `contact.rs` and of `contact_lanes` in `solver/stage.rs`: particles are moved out of the
// shapes, with friction.

@group(1) @binding(0) var<storage, read_write> positions: array<vec4f>;
@group(1) @binding(1) var<storage, read> previous: array<vec4f>;
@group(1) @binding(2) var<storage, read> body_of: array<u32>;
@group(1) @binding(3) var<storage, read> bodies: array<Body>;
@group(1) @binding(4) var<storage, read> shapes: array<Shape>;
@group(1) @binding(5) var<storage, read_write> findings: Findings;
/// Whether this is the last time in the substep, in the first component.
@group(1) @binding(7) var<uniform> pass_flags: vec4u;

@compute @workgroup_size(64)
fn contact(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    // Nobody returns early, although some have no particle: what all invocations read alike is read once
    // only where all of them certainly are.
    let flat = flat_id(id, groups);
    let own = min(flat, substep.particles - 1u);
    let particle = positions[own];
    // ONE_THICKNESS stands above: then the first body's will do, and is read once.
    var body = 0u;
    if (!ONE_THICKNESS) {
        body = body_of[own];
    }
    let thickness = bodies[body].thickness;
    var place = particle.xyz;
    var deepest = 0.0;
    // SHAPES stands above: a loop whose end is known is unrolled.
    for (var index = 0u; index < SHAPES; index++) {
        let depth = resolve(substep.first_shape + index, own, &place, thickness);
        deepest = max(deepest, depth);
    }
    if (particle.w != 0.0 && deepest > 0.0 && flat == own) {
        positions[own] = vec4f(place, particle.w);
        if (substep.is_last != 0u && pass_flags.x != 0u) {
            atomicAdd(&findings.contacts, 1u);
        }
    }
}

/// Moves a particle out of a shape, with friction; returns by how much it was too deep.
fn resolve(index: u32, own: u32, place: ptr<function, vec3f>, thickness: f32) -> f32 {
    let shape = shapes[index];
    let x = *place;
    let local = to_local(shape.pose, x);
    let found = distance_to(shape, local);
    let depth = max(thickness - found.value, 0.0);
    if (!(0.0 < depth)) {
        return 0.0;
    }
    let normal = turn(shape.pose, found.normal);
    let out = x + normal * depth;
    var moved = vec3f();
    // SOME_MOVE stands above: drivers that go through all branches are spared this one where nobody does.
    if (SOME_MOVE && shape.moves != 0u) {
        moved = x - to_world(shape.before, local);
    }
    let slip = out - previous[own].xyz - moved;
    let tangential = slip - normal * dot(slip, normal);
    let limit = depth * shape.friction;
    let share = min(limit / max(sqrt(dot(tangential, tangential)), SHORTEST), 1.0);
    *place = out - tangential * share;
    return depth;
}
