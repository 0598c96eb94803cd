// The twin of `contact.rs`: a particle is moved out of a shape, with friction. SHAPES, FORMS, SOME_MOVE and
// ONE_THICKNESS stand above. Kernels that follow define `previous_place`, where a particle was before the
// substep, for not all of them know particles by their ids.

@group(1) @binding(11) var<storage, read> previous: array<vec4f>;
@group(1) @binding(12) var<storage, read> body_of: array<u32>;
@group(1) @binding(13) var<storage, read> bodies: array<Body>;
@group(1) @binding(14) var<storage, read> shapes: array<Shape>;
@group(1) @binding(15) var<storage, read_write> findings: Findings;

/// The distance that a particle keeps. Where all bodies keep the same, that of the first one, which is read
/// once, will do.
fn thickness_of(particle: u32) -> f32 {
    var body = 0u;
    if (!ONE_THICKNESS) {
        body = body_of[particle];
    }
    return bodies[body].thickness;
}

/// Whether a place is too close to a shape.
fn is_deep(shape: Shape, place: vec3f, thickness: f32) -> bool {
    return 0.0 < thickness - distance_to(shape, to_local(shape.pose, place)).value;
}

/// Moves a particle out of a shape, with friction; returns by how much it was too deep.
fn resolve(shape: Shape, own: u32, place: ptr<function, vec3f>, thickness: f32) -> f32 {
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
    let slip = out - previous_place(own) - moved;
    let tangential = slip - normal * dot(slip, normal);
    let limit = depth * shape.friction;
    let share = min(limit / max(sqrt(dot(tangential, tangential)), SHORTEST), 1.0);
    *place = out - tangential * share;
    return depth;
}
