// A kind of one row and one constant, by itself or in a bundle: the twin of `Member` in `in_turn.rs`.
// A kind's own file follows this one and defines `member_at` and `member_mobility`; A, its number of
// particles, stands above.

/// Some s > 0, and C and s ∇C.
struct Member {
    scale: f32,
    value: f32,
    gradients: array<vec3f, A>,
}

fn value_at_rest(row: u32, constants: ptr<function, Constants>) -> f32 {
    return 0.0;
}
