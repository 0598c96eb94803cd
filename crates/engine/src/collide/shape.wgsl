// The twin of `shape.rs` and `pose.rs`: signed distances to shapes, negative inside, with the outward
// normal.

/// A rotation (the images of the three axes) followed by a translation.
struct Pose {
    x: vec4f,
    y: vec4f,
    z: vec4f,
    translation: vec4f,
}

/// A shape in one substep.
struct Shape {
    /// Which form: see `distance`.
    form: u32,
    friction: f32,
    moves: u32,
    /// Where the field of a mesh begins in `fields`.
    field: u32,
    size: vec4f,
    /// At the end of the substep.
    pose: Pose,
    /// At its start.
    before: Pose,
}

/// A signed distance and the outward normal.
struct Distance {
    value: f32,
    normal: vec3f,
}

fn to_world(pose: Pose, local: vec3f) -> vec3f {
    return turn(pose, local) + pose.translation.xyz;
}

fn to_local(pose: Pose, world: vec3f) -> vec3f {
    let moved = world - pose.translation.xyz;
    return vec3f(dot(moved, pose.x.xyz), dot(moved, pose.y.xyz), dot(moved, pose.z.xyz));
}

fn turn(pose: Pose, local: vec3f) -> vec3f {
    return pose.x.xyz * local.x + pose.y.xyz * local.y + pose.z.xyz * local.z;
}
