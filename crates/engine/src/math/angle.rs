//! The angle of a point in the plane, from lane operations alone, so that it has the same bits
//! in every lane. (A library's `atan2` has no SIMD twin that rounds alike.)

use super::Lane;

/// Coefficients of t·p(t²) ≈ atan t on [0, 1], lowest first, with the least maximal error
/// (found by Remez exchange): 4·10⁻⁸, below the rounding of the angle itself.
const ATAN: [f32; 8] = [
    0.999_999_34,
    -0.333_298_6,
    0.199_465_66,
    -0.139_086_3,
    0.096_422,
    -0.055_912_37,
    0.021_862_988,
    -0.004_054_575_6,
];

/// The angle of (x, y) against the x axis in (−π, π]; 0 for (0, 0).
#[inline(always)]
pub fn atan2<L: Lane>(y: L, x: L) -> L {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let (ax, ay) = (x.abs(), y.abs());
    let large = ax.max(ay);
    // Both zero: divide by one instead; the angle comes out as 0.
    let tangent = ax.min(ay) / L::select(zero.less(large), large, one);
    let square = tangent * tangent;
    // A loop and no fold, whose closure may end up as a function of its own.
    let mut series = L::splat(ATAN[ATAN.len() - 1]);
    for degree in (0..ATAN.len() - 1).rev() {
        series = series * square + L::splat(ATAN[degree]);
    }
    let first_octant = tangent * series;
    let steep = ax.less(ay);
    let quadrant =
        L::select(steep, L::splat(std::f32::consts::FRAC_PI_2) - first_octant, first_octant);
    let half = L::select(x.less(zero), L::splat(std::f32::consts::PI) - quadrant, quadrant);
    L::select(y.less(zero), -half, half)
}

#[cfg(test)]
mod tests {
    //! Contract: within 4·10⁻⁷ of the exact angle everywhere, finite at the origin.

    use super::*;

    #[test]
    fn agrees_with_the_library_all_around() {
        for degree in -1800..=1800 {
            let angle = f64::from(degree) / 10.0 * std::f64::consts::PI / 180.0;
            for radius in [1e-12, 1.0, 3e10] {
                let (x, y) = ((radius * angle.cos()) as f32, (radius * angle.sin()) as f32);
                let exact = f64::from(y).atan2(f64::from(x));
                let error = (f64::from(atan2(y, x)) - exact).abs();
                assert!(error < 4e-7, "{x} {y}: error {error}");
            }
        }
    }

    #[test]
    fn is_zero_at_the_origin() {
        assert_eq!(atan2(0.0_f32, 0.0), 0.0);
    }
}
