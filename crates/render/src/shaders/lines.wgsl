// Edges of elements as thin rectangles that face the eye. Elements of three or four particles are drawn
// a little smaller than they are (by INSET), so that neighbors stay apart, and in front of the surface (by
// LIFT, a share of the distance to the eye).

struct Line {
    corners: vec4<u32>,
    /// Which two of the corners the line joins, and how many there are.
    ends: vec2<u32>,
    count: u32,
    /// Red, green, blue and opacity, a byte each, red lowest.
    color: u32,
}

@group(1) @binding(0) var<storage, read> points: array<vec4<f32>>;
@group(1) @binding(1) var<storage, read> lines: array<Line>;

struct Corner {
    @builtin(position) clip: vec4<f32>,
    @location(0) color: vec4<f32>,
}

fn end(line: Line, corner: u32) -> vec4<f32> {
    var sum = vec3(0.0);
    for (var index = 0u; index < line.count; index++) {
        sum += points[line.corners[index]].xyz;
    }
    let shrink = select(0.0, INSET, line.count > 2u);
    let place = mix(points[line.corners[corner]].xyz, sum / f32(line.count), shrink);
    return globals.view_projection * vec4(mix(place, globals.eye.xyz, LIFT), 1.0);
}

@vertex
fn corner(@builtin(vertex_index) index: u32, @builtin(instance_index) instance: u32) -> Corner {
    let line = lines[instance];
    let from_clip = end(line, line.ends.x);
    let to_clip = end(line, line.ends.y);
    let half = globals.viewport.xy * 0.5;
    let way = to_clip.xy / to_clip.w * half - from_clip.xy / from_clip.w * half;
    let along = select(vec2(1.0, 0.0), normalize(way), dot(way, way) > 1e-12);
    let across = vec2(-along.y, along.x) * globals.viewport.z * 0.5 / half;
    let is_end = index == 1u || index == 2u || index == 4u;
    let side = select(-1.0, 1.0, index == 2u || index == 4u || index == 5u);
    var clip = select(from_clip, to_clip, is_end);
    clip = vec4(clip.xy + across * side * clip.w, clip.zw);
    return Corner(clip, unpack4x8unorm(line.color));
}

@fragment
fn line(in: Corner) -> @location(0) vec4<f32> {
    return vec4(linear(in.color.rgb), in.color.a);
}
