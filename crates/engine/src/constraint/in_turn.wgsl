// The twin of `in_turn.rs`: what the members of a bundle share. A kind's own file follows this one and
// defines `member_at` and `member_mobility`; A, its number of particles, stands above. After it come
// `evaluate` and `solve`, which `twins.rs` writes out member by member.

/// Some s > 0, and C and s ∇C.
struct Member {
    scale: f32,
    value: f32,
    gradients: array<vec3f, A>,
}

/// A member that a bundle does not have has a negative constant.
fn error_of(member: Member, rest: f32) -> f32 {
    return select(member.value, 0.0, rest < 0.0);
}

fn value_at_rest(row: u32, constants: ptr<function, Constants>) -> f32 {
    return 0.0;
}
