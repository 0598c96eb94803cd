// The twin of `Group::residual`: relative errors of all elements of a group, squared and added up, and
// the largest. Each workgroup leaves its part; the host adds them up in double precision.

struct Errors {
    /// Elements.
    count: u32,
    /// Whether an error is compared with the row's constant, else with `scale`.
    is_relative: u32,
    scale: f32,
}

@group(1) @binding(0) var<storage, read> positions: array<vec4f>;
// Binding 2 is `elements`, with the ids of particles, not of their copies.
@group(1) @binding(3) var<uniform> group: Errors;
/// Sum of squares and largest error of each workgroup.
@group(1) @binding(4) var<storage, read_write> parts: array<vec2f>;

var<workgroup> shared_parts: array<vec2f, 64>;

@compute @workgroup_size(64)
fn measure_errors(
    @builtin(workgroup_id) own_group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = own_group.x + own_group.y * groups.x;
    let place = number * 64u + lane;
    var part = vec2f();
    if (place < group.count) {
        part = errors_of(place);
    }
    shared_parts[lane] = part;
    for (var half = 32u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if (lane < half) {
            let other = shared_parts[lane + half];
            let mine = shared_parts[lane];
            shared_parts[lane] = vec2f(mine.x + other.x, max(mine.y, other.y));
        }
    }
    if (lane == 0u) {
        parts[number] = shared_parts[0];
    }
}

fn errors_of(place: u32) -> vec2f {
    var element = element_at(place);
    var x: Corners;
    for (var corner = 0u; corner < N; corner++) {
        x[corner] = positions[element.ids[corner]].xyz;
    }
    var constants = element.constants;
    let rows = evaluate(&x, &constants);
    var part = vec2f();
    for (var row = 0u; row < M; row++) {
        // Kinds with relative errors have a constant for each row.
        let rest = abs(constants[min(row, K - 1u)]);
        let scale = select(group.scale, rest, group.is_relative != 0u);
        let error = (rows[row].value - value_at_rest(row, &constants)) / scale;
        part = vec2f(part.x + error * error, max(part.y, abs(error)));
    }
    return part;
}
