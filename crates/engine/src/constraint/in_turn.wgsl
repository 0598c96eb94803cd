// The twin of `in_turn.rs`: members in bundles. After this come `evaluate` and `solve`, which `twins.rs`
// writes out member by member.

/// A member that a bundle does not have has a negative constant.
fn error_of(member: Member, rest: f32) -> f32 {
    return select(member.value, 0.0, rest < 0.0);
}
