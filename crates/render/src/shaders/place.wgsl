// Vertices from points: the place of each, and its normal, the mean over its triangles weighted by their
// areas. A point on a crease has a vertex on each side of it. Each vertex adds up its own triangles, in
// order: no atomics, the same bits every time.

struct Vertex {
    point: u32,
    /// Its triangles: `incident[first..last]`.
    first: u32,
    last: u32,
}

@group(0) @binding(0) var<storage, read> points: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> incident: array<u32>;
@group(0) @binding(3) var<storage, read> corners: array<u32>;
@group(0) @binding(4) var<storage, read_write> places: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> normals: array<vec4<f32>>;

@compute @workgroup_size(64)
fn place(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let index = id.y * groups.x * 64u + id.x;
    if index >= arrayLength(&vertices) {
        return;
    }
    let vertex = vertices[index];
    var sum = vec3(0.0);
    for (var entry = vertex.first; entry < vertex.last; entry++) {
        let first = 3u * incident[entry];
        let a = points[corners[first]].xyz;
        let b = points[corners[first + 1u]].xyz;
        let c = points[corners[first + 2u]].xyz;
        sum += cross(b - a, c - a);
    }
    let size = length(sum);
    places[index] = vec4(points[vertex.point].xyz, 1.0);
    normals[index] = vec4(select(vec3(0.0, 1.0, 0.0), sum / size, size > 0.0), 0.0);
}
