//! Strain of a triangle along warp and weft and between them (paper B's TC and TF).
//!
//! The rest triangle lies in a plane with coordinates (u, v), u along the warp. The deformation
//! gradient has the columns w_u = ∂x/∂u and w_v = ∂x/∂v: [w_u w_v] = [x₂ − x₁, x₃ − x₁] D⁻¹ with
//! D = [u₂ − u₁, u₃ − u₁; v₂ − v₁, v₃ − v₁] (Baraff & Witkin 1998, equation 9). Three rows:
//!
//! - warp: |w_u| − 1, weft: |w_v| − 1, shear: w_u · w_v (their equations 10 and 11).
//!
//! Constants: D⁻¹ row by row. With a modulus k in N/m the energy of a row is ½ k A C², A the rest
//! area, so its compliance is 1/(k A) and stretching does not depend on the mesh.

use super::{Constraint, Matter, Row, TINY};
use crate::math::{Lane, Vec3};

/// Below this sine of the angle between the warp and a triangle's normal, the triangle has no
/// direction of its own for the warp.
const PERPENDICULAR: f64 = 1e-4;

/// A triangle keeps its shape in its plane.
#[derive(Clone, Copy, Debug)]
pub struct Strain;

impl Constraint<3, 3, 4> for Strain {
    fn size(rest: &[Vec3<f64>; 3]) -> f64 {
        (rest[1] - rest[0]).cross(rest[2] - rest[0]).length() / 2.0
    }

    fn constants(rest: &[Vec3<f64>; 3], matter: &Matter) -> [f64; 4] {
        let (d1, d2) = (rest[1] - rest[0], rest[2] - rest[0]);
        let normal = d1.cross(d2);
        let normal = normal * (1.0 / normal.length());
        let in_plane = matter.warp - normal * normal.dot(matter.warp);
        let usable = in_plane.length() > PERPENDICULAR * matter.warp.length();
        let along = if usable { in_plane } else { d1 };
        let u = along * (1.0 / along.length());
        let v = normal.cross(u);
        let [u1, u2, v1, v2] = [d1.dot(u), d2.dot(u), d1.dot(v), d2.dot(v)];
        let determinant = u1 * v2 - u2 * v1;
        [v2, -u2, -v1, u1].map(|entry| entry / determinant)
    }

    #[inline(always)]
    fn evaluate<L: Lane>(x: &[Vec3<L>; 3], constants: &[L; 4]) -> [Row<L, 3>; 3] {
        let [a, b, c, d] = *constants;
        let (d1, d2) = (x[1] - x[0], x[2] - x[0]);
        let warp = d1 * a + d2 * c;
        let weft = d1 * b + d2 * d;
        let [warp_row, weft_row] = [along(warp, a, c), along(weft, b, d)];
        let (second, third) = (weft * a + warp * b, weft * c + warp * d);
        let shear_row =
            Row { value: warp.dot(weft), gradients: [-(second + third), second, third] };
        [warp_row, weft_row, shear_row]
    }
}

/// |w| − 1, where w moves with the second and third particle by these factors.
#[inline(always)]
fn along<L: Lane>(w: Vec3<L>, second: L, third: L) -> Row<L, 3> {
    let length = w.length();
    // A triangle of no length has no direction: the gradient vanishes, nothing moves.
    let normal = w * (L::splat(1.0) / length.max(L::splat(TINY)));
    let (second, third) = (normal * second, normal * third);
    Row { value: length - L::splat(1.0), gradients: [-(second + third), second, third] }
}
