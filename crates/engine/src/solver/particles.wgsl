// Stages that go through all particles: the twins of `wind`, `predict`, `velocity`, `remember` and
// `accelerate` in `solver/stage.rs`, and of `is_in_bounds`.

/// A kinematic particle: its place in the frame of a shape, and which shape; −1: it rests.
struct Follower {
    local: vec3f,
    shape: i32,
}

@group(1) @binding(0) var<storage, read_write> positions: array<vec4f>;
@group(1) @binding(1) var<storage, read_write> velocities: array<vec4f>;
@group(1) @binding(2) var<storage, read_write> previous: array<vec4f>;
@group(1) @binding(3) var<storage, read> body_of: array<u32>;
@group(1) @binding(4) var<storage, read> bodies: array<Body>;
@group(1) @binding(5) var<storage, read> followers: array<Follower>;
@group(1) @binding(6) var<storage, read> shapes: array<Shape>;
@group(1) @binding(7) var<storage, read_write> findings: Findings;

@compute @workgroup_size(64)
fn predict(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let own = flat_id(id, groups);
    if (own >= substep.particles) {
        follow(own - substep.particles);
        return;
    }
    let old = positions[own];
    if (old.w != 0.0) {
        var velocity = velocities[own].xyz + substep.gravity * substep.step;
        if (substep.is_windy != 0u) {
            velocity = velocity + previous[own].xyz;
        }
        velocities[own] = vec4f(velocity, 0.0);
        positions[own] = vec4f(old.xyz + velocity * substep.step, old.w);
    }
    previous[own] = old;
}

/// A kinematic particle goes where its shape is.
fn follow(target_index: u32) {
    if (target_index >= substep.targets) {
        return;
    }
    let follower = followers[target_index];
    if (follower.shape >= 0) {
        let place = to_world(shapes[substep.first_shape + u32(follower.shape)].pose, follower.local);
        positions[substep.particles + target_index] = vec4f(place, 0.0);
    }
}

@compute @workgroup_size(64)
fn velocity(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let own = flat_id(id, groups);
    if (own < substep.particles) {
        let way = positions[own].xyz - previous[own].xyz;
        let kept = bodies[body_of[own]].damping / substep.step;
        velocities[own] = vec4f(way * kept, 0.0);
    }
}

/// Notices particles that are nowhere or moved farther than they can have.
@compute @workgroup_size(64)
fn bounds(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let own = flat_id(id, groups);
    if (own < substep.particles) {
        let way = positions[own].xyz - previous[own].xyz;
        let longest = min(substep.longest_way * substep.longest_way, 3.4e38);
        // A comparison with what is no number may be optimized away, its bits may not.
        let square = bitcast<u32>(dot(way, way));
        if (square > bitcast<u32>(longest)) {
            atomicMax(&findings.out_of_bounds, 1u);
        }
    }
}
