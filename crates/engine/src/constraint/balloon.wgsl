// The twin of `balloon.rs`: a workgroup per chunk of 256 particles.

struct Balloon {
    first_particle: u32,
    particles: u32,
    /// Where its gradients begin in `scratch`; sums of chunks follow them.
    first_scratch: u32,
    first_multiplier: u32,
    chunks: u32,
    is_compliant: u32,
    is_first: u32,
    /// m³.
    volume: f32,
    /// k or α.
    softness: f32,
}

@group(1) @binding(0) var<storage, read_write> positions: array<vec4f>;
@group(1) @binding(1) var<storage, read_write> scratch: array<vec4f>;
@group(1) @binding(2) var<storage, read_write> multipliers: array<f32>;
/// For each particle where the edges across from it begin in this same list, one more entry at the end,
/// and then the edges, two particles each.
@group(1) @binding(3) var<storage, read> edges: array<u32>;
@group(1) @binding(4) var<uniform> balloon: Balloon;

const CHUNK = 256u;

/// Parts of V and of Σ w|∇C|² of this workgroup's particles.
var<workgroup> sums: array<vec2f, 256>;

@compute @workgroup_size(256)
fn measure(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let own = group.x * CHUNK + lane;
    sums[lane] = vec2f();
    if (own < balloon.particles) {
        let base = positions[balloon.first_particle].xyz;
        let particle = positions[balloon.first_particle + own];
        var gradient = vec3f();
        for (var edge = edges[own]; edge < edges[own + 1u]; edge += 2u) {
            let a = positions[edges[edge]].xyz - base;
            let b = positions[edges[edge + 1u]].xyz - base;
            gradient = gradient + cross(a, b);
        }
        gradient = gradient * (1.0 / 6.0);
        let volume = dot(particle.xyz - base, gradient) * (1.0 / 3.0);
        sums[lane] = vec2f(volume, particle.w * dot(gradient, gradient));
        scratch[balloon.first_scratch + own] = vec4f(gradient, 0.0);
    }
    for (var half = CHUNK / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if (lane < half) {
            sums[lane] += sums[lane + half];
        }
    }
    if (lane == 0u) {
        scratch[balloon.first_scratch + balloon.particles + group.x] = vec4f(sums[0], 0.0, 0.0);
    }
}

@compute @workgroup_size(256)
fn inflate(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    var volume = 0.0;
    var movable = 0.0;
    for (var chunk = 0u; chunk < balloon.chunks; chunk++) {
        let part = scratch[balloon.first_scratch + balloon.particles + chunk];
        volume = volume + part.x;
        movable = movable + part.y;
    }
    let place = balloon.first_multiplier + group.x;
    var total = 0.0;
    if (balloon.is_compliant != 0u && balloon.is_first == 0u) {
        total = multipliers[place];
    }
    let change = change_of(volume - balloon.volume, movable, total);
    let own = group.x * CHUNK + lane;
    if (own < balloon.particles) {
        let particle = positions[balloon.first_particle + own];
        if (particle.w != 0.0) {
            let way = scratch[balloon.first_scratch + own].xyz * (particle.w * change);
            positions[balloon.first_particle + own] = vec4f(particle.xyz + way, particle.w);
        }
    }
    // All have read the multiplier before the first of them writes it.
    storageBarrier();
    if (lane == 0u && balloon.is_compliant != 0u) {
        multipliers[place] = total + change;
    }
}

/// Δλ.
fn change_of(error: f32, movable: f32, total: f32) -> f32 {
    if (movable <= 0.0) {
        return 0.0;
    }
    if (balloon.is_compliant == 0u) {
        return -balloon.softness * error / movable;
    }
    let compliance = balloon.softness * substep.inverse_step_squared;
    return (-error - compliance * total) / (movable + compliance);
}
