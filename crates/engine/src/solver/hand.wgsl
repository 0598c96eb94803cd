// The twin of `hand.rs`: particles that are pulled or held while a step lasts.

struct Hand {
    /// Where the particle is to go.
    goal: vec3f,
    particle: u32,
    /// Its own inverse mass, and that while the step lasts.
    inverse_mass: f32,
    heavy: f32,
    is_firm: u32,
    unused: u32,
}

/// See `Hands` in `hand.rs`.
struct Hands {
    count: u32,
    /// Whether time passes.
    is_integrated: u32,
    step: f32,
    inverse_step: f32,
    gain: f32,
    kept: f32,
    reach: f32,
    unused: u32,
    fall: vec3f,
    all: array<Hand>,
}

@group(1) @binding(0) var<storage, read_write> positions: array<vec4f>;
@group(1) @binding(1) var<storage, read_write> velocities: array<vec4f>;
@group(1) @binding(2) var<storage, read> hands: Hands;

/// Before a step.
@compute @workgroup_size(64)
fn grab(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let own = flat_id(id, groups);
    if (own >= hands.count) {
        return;
    }
    let hand = hands.all[own];
    let place = positions[hand.particle].xyz;
    let way = hand.goal - place;
    var turned = way * hands.inverse_step;
    if (hand.is_firm == 0u) {
        turned = (velocities[hand.particle].xyz + way * hands.gain) * hands.kept;
    }
    let ahead = length(turned) * hands.step;
    if (ahead > hands.reach) {
        turned = turned * (hands.reach / ahead);
    }
    if (hands.is_integrated != 0u) {
        velocities[hand.particle] = vec4f(turned - hands.fall, 0.0);
        positions[hand.particle].w = hand.heavy;
    } else {
        positions[hand.particle] = vec4f(place + turned * hands.step, hand.heavy);
    }
}

/// After a step: every particle has its own mass again.
@compute @workgroup_size(64)
fn let_go(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let own = flat_id(id, groups);
    if (own < hands.count) {
        let hand = hands.all[own];
        positions[hand.particle].w = hand.inverse_mass;
    }
}
