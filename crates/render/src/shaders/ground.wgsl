// Planes without end: where they are in the light they look like the backdrop, so that only the shadows
// on them are seen, and far away they fade into it.

struct Plane {
    /// The point nearest to the scene's center.
    center: vec4<f32>,
    right: vec4<f32>,
    forward: vec4<f32>,
    normal: vec4<f32>,
}

@group(1) @binding(0) var<uniform> plane: Plane;

struct Corner {
    @builtin(position) clip: vec4<f32>,
    @location(0) place: vec3<f32>,
}

const REACH: f32 = 9.0;

@vertex
fn corner(@builtin(vertex_index) index: u32) -> Corner {
    let right = select(-1.0, 1.0, index == 1u || index == 2u || index == 4u);
    let forward = select(-1.0, 1.0, index == 2u || index == 4u || index == 5u);
    let across = plane.right.xyz * right + plane.forward.xyz * forward;
    let place = plane.center.xyz + across * globals.extent.w * REACH;
    return Corner(globals.view_projection * vec4(place, 1.0), place);
}

@fragment
fn ground(in: Corner) -> @location(0) vec4<f32> {
    let normal = plane.normal.xyz;
    let facing = max(dot(normal, globals.key_direction.xyz), 0.0);
    let away = distance(in.place, plane.center.xyz) / globals.extent.w;
    let fade = 1.0 - smoothstep(2.0, REACH, away);
    let key = facing * key_share(in.place, normal, in.clip.xy);
    let sky = sky_light(in.place, normal, in.clip.xy);
    // Relative to the same plane with nothing on it.
    let open = KEY_COLOR * facing + SKY_COLOR;
    let light = (KEY_COLOR * key + SKY_COLOR * min(sky, 1.0)) / open;
    let tint = GROUND_TINT * mix(1.0, STEEP_TINT, clamp(1.0 - normal.y, 0.0, 1.0));
    return vec4(backdrop(in.clip.xy) * mix(vec3(1.0), tint * light, fade), 1.0);
}
