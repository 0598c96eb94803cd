//! The rows of one element solved together: (J W Jᵀ + α̃) Δλ = r, by LDLᵀ.
#![allow(
    clippy::needless_range_loop,
    reason = "loops over corners and rows are unrolled; iterators end up as calls"
)]

use super::Row;
use crate::math::Lane;

/// A pivot that is smaller than this share of its diagonal entry is rounding: the row depends on
/// those before it.
const SINGULAR: f32 = 1e-6;

/// Δλ. A row that cannot move anything, or nothing that the rows before it do not move, gets 0.
#[inline(always)]
pub(super) fn solve<L: Lane, const N: usize, const M: usize>(
    rows: &[Row<L, N>; M],
    w: &[L; N],
    compliance: &[L; M],
    right: &[L; M],
) -> [L; M] {
    let zero = L::splat(0.0);
    let mut lower = [[zero; M]; M];
    let mut pivots = [zero; M];
    let mut inverses = [zero; M];
    let mut solution = *right;
    for row in 0..M {
        for column in 0..row {
            let mut entry = product(&rows[row], &rows[column], w);
            for before in 0..column {
                entry = entry - lower[row][before] * lower[column][before] * pivots[before];
            }
            lower[row][column] = entry * inverses[column];
            solution[row] = solution[row] - lower[row][column] * solution[column];
        }
        let movable = product(&rows[row], &rows[row], w);
        let mut pivot = movable + compliance[row];
        for before in 0..row {
            pivot = pivot - lower[row][before] * lower[row][before] * pivots[before];
        }
        let least = L::select(zero.less(movable), movable * L::splat(SINGULAR), pivot);
        let usable = least.less(pivot);
        pivots[row] = pivot;
        let divisor = L::select(usable, pivot, L::splat(1.0));
        inverses[row] = L::select(usable, L::splat(1.0) / divisor, zero);
    }
    for row in (0..M).rev() {
        solution[row] = solution[row] * inverses[row];
        for later in row + 1..M {
            solution[row] = solution[row] - lower[later][row] * solution[later];
        }
    }
    solution
}

/// Σ wᵢ ∇ᵢC·∇ᵢC′ of two rows.
#[inline(always)]
fn product<L: Lane, const N: usize>(a: &Row<L, N>, b: &Row<L, N>, w: &[L; N]) -> L {
    let mut sum = w[0] * a.gradients[0].dot(b.gradients[0]);
    for corner in 1..N {
        sum = sum + w[corner] * a.gradients[corner].dot(b.gradients[corner]);
    }
    sum
}

#[cfg(test)]
mod tests {
    //! Contract: the block is solved exactly; rows that are copies of others or move nothing get no
    //! multiplier, and nothing becomes NaN.

    use super::*;
    use crate::math::Vec3;

    fn row(gradients: [[f32; 3]; 2]) -> Row<f32, 2> {
        Row { value: 0.0, gradients: gradients.map(|[x, y, z]| Vec3::new(x, y, z)) }
    }

    #[test]
    fn three_rows_are_solved_together() {
        let rows = [
            row([[1.0, 2.0, 0.5], [0.3, -1.0, 0.0]]),
            row([[0.0, 1.0, -1.0], [2.0, 0.4, 0.1]]),
            row([[0.7, 0.0, 0.2], [-0.5, 0.5, 1.5]]),
        ];
        let (w, compliance, right) = ([0.5, 2.0], [0.1, 0.0, 0.3], [1.0, -2.0, 0.5]);
        let change = solve(&rows, &w, &compliance, &right);
        for i in 0..3 {
            let left: f32 = (0..3).map(|j| product(&rows[i], &rows[j], &w) * change[j]).sum();
            let error = left + compliance[i] * change[i] - right[i];
            assert!(error.abs() < 1e-5, "row {i}: {error}");
        }
    }

    #[test]
    fn rows_that_cannot_move_anything_are_left_alone() {
        let some = row([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]);
        let none = row([[0.0; 3]; 2]);
        assert_eq!(solve(&[none], &[1.0, 1.0], &[0.0], &[3.0]), [0.0]);
        assert_eq!(solve(&[none], &[1.0, 1.0], &[0.5], &[3.0]), [0.0]);
        assert_eq!(solve(&[some], &[0.0, 0.0], &[0.5], &[3.0]), [0.0]);
        assert_eq!(solve(&[some, some], &[1.0, 1.0], &[0.0, 0.0], &[3.0, 3.0]), [1.5, 0.0]);
    }
}
