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

/// J W Jᵀ, lower half.
#[inline(always)]
pub(super) fn mobility<L: Lane, const N: usize, const M: usize>(
    rows: &[Row<L, N>; M],
    w: &[L; N],
) -> [[L; M]; M] {
    let mut matrix = [[L::splat(0.0); M]; M];
    for row in 0..M {
        for column in 0..=row {
            let (a, b) = (&rows[row].gradients, &rows[column].gradients);
            let mut sum = w[0] * a[0].dot(b[0]);
            for corner in 1..N {
                sum = sum + w[corner] * a[corner].dot(b[corner]);
            }
            matrix[row][column] = sum;
        }
    }
    matrix
}

/// Δλ. A row that cannot move anything, or nothing that the rows before it do not move, gets 0.
#[inline(always)]
pub(super) fn solve<L: Lane, const M: usize>(
    mobility: &[[L; M]; M],
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
            let mut entry = mobility[row][column];
            for before in 0..column {
                entry = entry - lower[row][before] * lower[column][before] * pivots[before];
            }
            lower[row][column] = entry * inverses[column];
            solution[row] = solution[row] - lower[row][column] * solution[column];
        }
        let movable = mobility[row][row];
        let mut pivot = movable + compliance[row];
        for before in 0..row {
            pivot = pivot - lower[row][before] * lower[row][before] * pivots[before];
        }
        let usable = if row == 0 {
            // Compliances are not negative, so the first pivot is at least as large.
            zero.less(movable)
        } else {
            // In exact arithmetic no pivot is smaller than its compliance: with one, rows may depend
            // on each other (those of a neo-Hookean solid do at rest), and all of them count.
            pivot = pivot.max(compliance[row]);
            let rounding = movable * L::splat(SINGULAR);
            let least = L::select(zero.less(compliance[row]), zero, rounding);
            least.less(L::select(zero.less(movable), pivot, zero))
        };
        pivots[row] = pivot;
        inverses[row] = L::select(usable, L::splat(1.0) / pivot, zero);
    }
    for row in (0..M).rev() {
        solution[row] = solution[row] * inverses[row];
        for later in row + 1..M {
            solution[row] = solution[row] - lower[later][row] * solution[later];
        }
    }
    solution
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
        let matrix = mobility(&rows, &w);
        let change = solve(&matrix, &compliance, &right);
        for i in 0..3 {
            let left: f32 = (0..3).map(|j| matrix[i.max(j)][i.min(j)] * change[j]).sum();
            let error = left + compliance[i] * change[i] - right[i];
            assert!(error.abs() < 1e-5, "row {i}: {error}");
        }
    }

    #[test]
    fn rows_that_cannot_move_anything_are_left_alone() {
        let some = row([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]);
        let none = row([[0.0; 3]; 2]);
        let one = |row: Row<f32, 2>, w: f32, compliance: f32| {
            solve(&mobility(&[row], &[w; 2]), &[compliance], &[3.0])
        };
        assert_eq!(one(none, 1.0, 0.0), [0.0]);
        assert_eq!(one(none, 1.0, 0.5), [0.0]);
        assert_eq!(one(some, 0.0, 0.5), [0.0]);
        assert_eq!(one(some, 1.0, 0.0), [1.5]);
        let twice = mobility(&[some, some], &[1.0; 2]);
        assert_eq!(solve(&twice, &[0.0; 2], &[3.0; 2]), [1.5, 0.0]);
    }
}
