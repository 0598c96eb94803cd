// The twin of `wind` in `solver/stage.rs`: how the air changes velocities, left in `previous`.

@group(1) @binding(0) var<storage, read> positions: array<vec4f>;
@group(1) @binding(1) var<storage, read> velocities: array<vec4f>;
@group(1) @binding(2) var<storage, read_write> previous: array<vec4f>;
@group(1) @binding(3) var<storage, read> body_of: array<u32>;
@group(1) @binding(4) var<storage, read> bodies: array<Body>;
/// Three particles each.
@group(1) @binding(5) var<storage, read> triangles: array<u32>;
/// For each particle where its triangles begin in this same list, one more entry at the end, and then
/// the triangles.
@group(1) @binding(6) var<storage, read> incident: array<u32>;

@compute @workgroup_size(64)
fn wind(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let own = flat_id(id, groups);
    if (own >= substep.particles) {
        return;
    }
    let w = positions[own].w;
    let drag = 0.5 * substep.air_density * bodies[body_of[own]].drag;
    var change = vec3f();
    for (var index = incident[own]; index < incident[own + 1u]; index++) {
        let first = 3u * incident[index];
        let a = triangles[first];
        let b = triangles[first + 1u];
        let c = triangles[first + 2u];
        let x1 = positions[a].xyz;
        let area_vector = cross(positions[b].xyz - x1, positions[c].xyz - x1) * 0.5;
        let area = max(sqrt(dot(area_vector, area_vector)), 1.17549435e-38);
        let normal = area_vector * (1.0 / area);
        let moving = (velocities[a].xyz + velocities[b].xyz + velocities[c].xyz) * (1.0 / 3.0);
        let speed = dot(substep.wind - moving, normal);
        let pull = substep.step * w * drag * area * (1.0 / 3.0) * abs(speed);
        change = change + normal * (speed * pull / (1.0 + pull));
    }
    previous[own] = vec4f(change, 0.0);
}
