//! Stable neo-Hookean tetrahedron (Macklin & Müller 2021, 'A constraint-based formulation of
//! stable neo-Hookean materials').
//!
//! With the deformation gradient F = [x₂ − x₁, x₃ − x₁, x₄ − x₁] D⁻¹, D the same of the rest shape,
//! the energy per rest volume is ½ μ tr(FᵀF) + ½ λ (det F − γ)². Two rows, solved as one block:
//!
//! - deviatoric: C = ‖F‖, compliance 1/(μ V), ∂C/∂F = F / ‖F‖ (their equation 10);
//! - hydrostatic: C = det F − γ, compliance 1/(λ V), ∂C/∂F = cof F (their equation 8).
//!
//! Neither row is 0 at rest: ‖F‖ pulls the tetrahedron together and det F − γ pushes it apart. They
//! balance for F = 1 if γ = 1 + μ/λ (their equation 12), and since both gradients then point the
//! same way, the block moves nothing there, whatever the step.
//!
//! Linearized about F = 1 the stress is μ (∇u + ∇uᵀ) + (λ − μ) tr(∇u): so λ is Lamé's first
//! parameter *plus* μ, which makes Young's modulus and Poisson's number mean what they say, and
//! γ − 1 = μ/λ = 1 − 2ν ([`Matter::swelling`]). Constants: D⁻¹ row by row, then γ.

use super::{Constraint, Matter, Row, TINY};
use crate::math::{Lane, Vec3};

/// An elastic tetrahedron.
#[derive(Clone, Copy, Debug)]
pub struct NeoHookean;

impl NeoHookean {
    /// μ and λ of the energy above from Young's modulus (Pa) and Poisson's number.
    pub fn moduli(young: f64, poisson: f64) -> [f64; 2] {
        let shear = young / (2.0 * (1.0 + poisson));
        let first = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
        [shear, first + shear]
    }
}

impl Constraint<4, 2, 10> for NeoHookean {
    fn size(rest: &[Vec3<f64>; 4]) -> f64 {
        let [d1, d2, d3] = [rest[1] - rest[0], rest[2] - rest[0], rest[3] - rest[0]];
        d1.cross(d2).dot(d3) / 6.0
    }

    fn constants(rest: &[Vec3<f64>; 4], matter: &Matter) -> [f64; 10] {
        let [d1, d2, d3] = [rest[1] - rest[0], rest[2] - rest[0], rest[3] - rest[0]];
        let rows = [d2.cross(d3), d3.cross(d1), d1.cross(d2)];
        let inverse = 1.0 / d1.dot(rows[0]);
        let [a, b, c] = rows.map(|row| row * inverse);
        [a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z, 1.0 + matter.swelling]
    }

    #[inline(always)]
    fn evaluate<L: Lane>(x: &[Vec3<L>; 4], constants: &[L; 10]) -> [Row<L, 4>; 2] {
        let [a1, a2, a3, b1, b2, b3, c1, c2, c3, rest] = *constants;
        let (d1, d2, d3) = (x[1] - x[0], x[2] - x[0], x[3] - x[0]);
        let f1 = d1 * a1 + d2 * b1 + d3 * c1;
        let f2 = d1 * a2 + d2 * b2 + d3 * c2;
        let f3 = d1 * a3 + d2 * b3 + d3 * c3;

        let norm = (f1.length_squared() + f2.length_squared() + f3.length_squared()).sqrt();
        let inverse = L::splat(1.0) / norm.max(L::splat(TINY));
        let deviatoric = [f1 * inverse, f2 * inverse, f3 * inverse];
        let cofactors = [f2.cross(f3), f3.cross(f1), f1.cross(f2)];
        let volume = f1.dot(cofactors[0]);
        [
            Row { value: norm, gradients: gradients(&deviatoric, constants) },
            Row { value: volume - rest, gradients: gradients(&cofactors, constants) },
        ]
    }

    fn errors(x: &[Vec3<f32>; 4], constants: &[f32; 10]) -> [f32; 2] {
        let [deviatoric, hydrostatic] = Self::evaluate(x, constants);
        let (norm_at_rest, volume_at_rest) = (3.0_f32.sqrt(), 1.0 - constants[9]);
        [deviatoric.value - norm_at_rest, hydrostatic.value - volume_at_rest]
    }
}

/// ∇ᵢC from the columns of ∂C/∂F: ∂C/∂F D⁻ᵀ, and the opposite of their sum for the first particle.
#[inline(always)]
fn gradients<L: Lane>(by_f: &[Vec3<L>; 3], constants: &[L; 10]) -> [Vec3<L>; 4] {
    let [a1, a2, a3, b1, b2, b3, c1, c2, c3, _] = *constants;
    let [p1, p2, p3] = *by_f;
    let g2 = p1 * a1 + p2 * a2 + p3 * a3;
    let g3 = p1 * b1 + p2 * b2 + p3 * b3;
    let g4 = p1 * c1 + p2 * c2 + p3 * c3;
    [-(g2 + g3 + g4), g2, g3, g4]
}
