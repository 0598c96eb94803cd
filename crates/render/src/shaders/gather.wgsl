// Points from the buffer that a solver wrote: each is a sum of up to four particles, with weights that
// add up to 1. A particle itself has one weight of 1, and its place in the solver's order as corner.

struct Source {
    corners: vec4<u32>,
    weights: vec4<f32>,
}

@group(0) @binding(0) var<storage, read> particles: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> sources: array<Source>;
@group(0) @binding(2) var<storage, read_write> points: array<vec4<f32>>;

@compute @workgroup_size(64)
fn gather(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let point = id.y * groups.x * 64u + id.x;
    if point >= arrayLength(&points) {
        return;
    }
    let source = sources[point];
    // From the first corner: far from the origin, a sum of places would round more.
    let first = particles[source.corners.x].xyz;
    var place = first;
    place += source.weights.y * (particles[source.corners.y].xyz - first);
    place += source.weights.z * (particles[source.corners.z].xyz - first);
    place += source.weights.w * (particles[source.corners.w].xyz - first);
    points[point] = vec4(place, 1.0);
}
