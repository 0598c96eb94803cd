// The twin of `touch.rs`: particles that detection found close to each other are parted.

@group(1) @binding(0) var<uniform> contacts: Contacts;
@group(1) @binding(1) var<storage, read_write> positions: array<vec4f>;
@group(1) @binding(2) var<storage, read> previous: array<vec4f>;
@group(1) @binding(3) var<storage, read> normals: array<vec4f>;
@group(1) @binding(4) var<storage, read> order: array<u32>;
/// How many partners the particle at each place has, and how many of them are near in this substep.
@group(1) @binding(5) var<storage, read_write> partner_counts: array<vec2u>;
/// Those that are near come first, in their order.
@group(1) @binding(6) var<storage, read_write> partners: array<u32>;
/// How many partners each particle touches.
@group(1) @binding(7) var<storage, read_write> touching: array<f32>;
/// How far the particle at each place is to be moved.
@group(1) @binding(8) var<storage, read_write> corrections: array<vec4f>;
@group(1) @binding(9) var<storage, read_write> findings: Findings;

fn moving(particle: u32) -> Moving {
    return Moving(positions[particle].xyz, previous[particle].xyz, normals[particle].xyz);
}

@compute @workgroup_size(64)
fn count_touching(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let place = flat_id(id, groups);
    if (place >= contacts.members || partner_counts[place].x == 0u) {
        return;
    }
    let own = order[place];
    let first = moving(own);
    let close = contacts.reach - 2.0 * contacts.stale;
    var count = 0.0;
    var near = 0u;
    for (var index = 0u; index < partner_counts[place].x; index++) {
        let slot = place * MOST_PARTNERS + index;
        let partner = partners[slot];
        let second = moving(partner);
        let touches = overlap(first, second).depth > 0.0;
        if (touches) {
            count += 1.0;
        }
        let apart = first.x - second.x;
        if (touches || dot(apart, apart) < close * close) {
            bring_forward(place * MOST_PARTNERS, near, slot);
            near += 1u;
        }
    }
    touching[own] = count;
    partner_counts[place].y = near;
    if (count > 0.0 && substep.is_last != 0u) {
        atomicAdd(&findings.touching, 1u);
    }
}

/// Puts a partner among those that are near, of which there are some already, in the order of the particles.
fn bring_forward(first: u32, near: u32, slot: u32) {
    let partner = partners[slot];
    var hole = first + near;
    partners[slot] = partners[hole];
    while (hole > first && partners[hole - 1u] > partner) {
        partners[hole] = partners[hole - 1u];
        hole -= 1u;
    }
    partners[hole] = partner;
}

@compute @workgroup_size(64)
fn correct(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let place = flat_id(id, groups);
    if (place >= contacts.members || partner_counts[place].y == 0u) {
        return;
    }
    let own = order[place];
    let first = moving(own);
    let w = positions[own].w;
    var sum = vec3f();
    for (var index = 0u; index < partner_counts[place].y; index++) {
        let other = partners[place * MOST_PARTNERS + index];
        let share = share_of(w, touching[own], positions[other].w, touching[other]);
        sum = sum + parting(first, moving(other)) * share;
    }
    corrections[place] = vec4f(sum, 0.0);
}

@compute @workgroup_size(64)
fn move_apart(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let place = flat_id(id, groups);
    if (place >= contacts.members || partner_counts[place].y == 0u) {
        return;
    }
    let own = order[place];
    positions[own] = vec4f(positions[own].xyz + corrections[place].xyz, positions[own].w);
}
