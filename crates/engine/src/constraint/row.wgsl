// What all constraints share: see `constraint/mod.rs`. A kind's own file follows this one and defines
// `evaluate`; N, M and K, its numbers of particles, rows and constants, stand above.

/// Smallest length (m), squared length or area² that is divided by.
const TINY = 1e-20;

/// One C(x) of an element and its gradient with respect to each of the N particles.
struct Row {
    value: f32,
    gradients: array<vec3f, N>,
}

alias Rows = array<Row, M>;
alias Corners = array<vec3f, N>;
alias Constants = array<f32, K>;
alias Matrix = array<array<f32, M>, M>;
