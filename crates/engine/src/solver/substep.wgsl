// What every kernel knows: the conditions of the substep (`solver/stage.rs`) and of bodies.

struct Substep {
    /// m/s².
    gravity: vec3f,
    /// Length h, s.
    step: f32,
    /// Velocity of the air, m/s.
    wind: vec3f,
    /// 1/h², 1/s².
    inverse_step_squared: f32,
    /// The farthest that a particle may move, m.
    longest_way: f32,
    /// Where the shapes of this substep begin in the list of all.
    first_shape: u32,
    /// Particles of bodies.
    particles: u32,
    /// Kinematic particles after them.
    targets: u32,
    /// Whether the air moves, and its density, kg/m³.
    is_windy: u32,
    air_density: f32,
    /// Whether this is the last substep of the step, when contacts are counted.
    is_last: u32,
}

/// What particles of a body have in common: what is left of a velocity after damping, distance from
/// shapes (m), drag coefficient.
struct Body {
    damping: f32,
    thickness: f32,
    drag: f32,
    unused: f32,
}

@group(0) @binding(0) var<uniform> substep: Substep;

/// A dispatch has at most 65535 workgroups along an axis, so large ones go on along y.
fn flat_id(id: vec3u, groups: vec3u) -> u32 {
    return id.x + id.y * groups.x * 64u;
}
