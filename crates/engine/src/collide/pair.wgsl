// The twin of `pair.rs`: contact of two particles.

const FACING = -0.5;
const SPLIT = 0.6;
const SHORTEST = 1e-20;

/// A particle now and at the start of the substep, and the direction out of its body.
struct Moving {
    x: vec3f,
    previous: vec3f,
    normal: vec3f,
}

/// How far two particles are too close, and the direction from the second to the first.
struct Overlap {
    depth: f32,
    normal: vec3f,
}

fn overlap(first: Moving, second: Moving) -> Overlap {
    let apart = first.x - second.x;
    let before = first.previous - second.previous;
    let facing = dot(first.normal, second.normal) < FACING;
    let side = select(before, second.normal - first.normal, facing);
    let crossed = dot(apart, side) < 0.0;
    let axis = select(apart, side, crossed);
    let normal = axis * (1.0 / max(sqrt(dot(axis, axis)), SHORTEST));
    let push = contacts.push_speed * substep.step;
    let wanted = min(dot(normal, before) + push, contacts.diameter);
    return Overlap(max(wanted - dot(normal, apart), 0.0), normal);
}

/// How the first is to move against the second, with friction.
fn parting(first: Moving, second: Moving) -> vec3f {
    let found = overlap(first, second);
    let slip = (first.x - first.previous) - (second.x - second.previous);
    let tangential = slip - found.normal * dot(slip, found.normal);
    let limit = found.depth * contacts.friction;
    let share = min(limit / max(sqrt(dot(tangential, tangential)), SHORTEST), 1.0);
    return found.normal * found.depth - tangential * share;
}

/// The share of a pair's way that a particle goes: its inverse mass and the contacts of both.
fn share_of(w: f32, touching: f32, other_w: f32, other_touching: f32) -> f32 {
    let split = w * max(touching * SPLIT, 1.0) + other_w * max(other_touching * SPLIT, 1.0);
    return w / max(split, SHORTEST);
}
