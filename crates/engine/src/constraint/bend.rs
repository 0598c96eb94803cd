//! Dihedral bending: C = θ − θ₀, with θ the angle between the normals of two triangles.
//!
//! Particles 1 and 2 are the shared edge e = x₂ − x₁, 3 and 4 the far corners. With
//! n₁ = (x₁ − x₃) × (x₂ − x₃) and n₂ = (x₂ − x₄) × (x₁ − x₄), not normalized:
//! θ = atan2(e/|e| · (n₁ × n₂), n₁ · n₂), which is 0 for flat cloth and signed, so that cloth
//! knows up from down. The acos of [Müller 2007] has no gradient at θ = 0, where cloth spends
//! its life; these gradients [Bridson, Marino & Fedkiw 2003] have one everywhere:
//!
//! - ∇₃θ = −|e| n₁/|n₁|², ∇₄θ = −|e| n₂/|n₂|²
//! - ∇₁θ and ∇₂θ share out the opposite of ∇₃θ + ∇₄θ by where the far corners stand along e.

use super::{Constraint, Matter, Row, TINY};
use crate::math::{Lane, Vec3, atan2};

/// Two triangles on an edge keep their angle.
#[derive(Clone, Copy, Debug)]
pub struct Bend;

impl Constraint<4, 1, 1> for Bend {
    fn size(rest: &[Vec3<f64>; 4]) -> f64 {
        let area = |far: Vec3<f64>| (rest[0] - far).cross(rest[1] - far).length() / 2.0;
        area(rest[2]) + area(rest[3])
    }

    fn constants(rest: &[Vec3<f64>; 4], _: &Matter) -> [f64; 1] {
        Self::evaluate(rest, &[0.0]).map(|row| row.value)
    }

    #[inline(always)]
    fn evaluate<L: Lane>(x: &[Vec3<L>; 4], &[rest]: &[L; 1]) -> [Row<L, 4>; 1] {
        let [x1, x2, x3, x4] = *x;
        let tiny = L::splat(TINY);
        let edge = x2 - x1;
        let length = edge.length().max(tiny);
        let n1 = (x1 - x3).cross(x2 - x3);
        let n2 = (x2 - x4).cross(x1 - x4);
        let angle = atan2(edge.dot(n1.cross(n2)) / length, n1.dot(n2));

        let far1 = -n1 * (length / n1.length_squared().max(tiny));
        let far2 = -n2 * (length / n2.length_squared().max(tiny));
        // Where the far corners stand along the edge: 0 at x₁, 1 at x₂.
        let scale = L::splat(1.0) / (length * length);
        let along1 = (x3 - x1).dot(edge) * scale;
        let along2 = (x4 - x1).dot(edge) * scale;
        let one = L::splat(1.0);
        let near1 = -(far1 * (one - along1)) - far2 * (one - along2);
        let near2 = -(far1 * along1) - far2 * along2;
        [Row { value: wrap(angle - rest), gradients: [near1, near2, far1, far2] }]
    }
}

/// Brings the difference of two angles into [−π, π]: folding past 180° must not spring back by 360°.
#[inline(always)]
fn wrap<L: Lane>(angle: L) -> L {
    let pi = L::splat(std::f32::consts::PI);
    let turn = L::splat(std::f32::consts::TAU);
    let angle = L::select(pi.less(angle), angle - turn, angle);
    L::select(angle.less(-pi), angle + turn, angle)
}
