// The twin of `block.rs`: the rows of one element solved together.

/// J W Jᵀ, lower half. (Distances know better: `distance.wgsl`.)
fn mobility_of_gradients(rows: ptr<function, Rows>, w: ptr<function, array<f32, N>>) -> Matrix {
    var matrix: Matrix;
    for (var row = 0u; row < M; row++) {
        for (var column = 0u; column <= row; column++) {
            var sum = 0.0;
            for (var corner = 0u; corner < N; corner++) {
                let a = (*rows)[row].gradients[corner];
                let b = (*rows)[column].gradients[corner];
                sum = sum + (*w)[corner] * dot(a, b);
            }
            matrix[row][column] = sum;
        }
    }
    return matrix;
}

/// Δλ. A row that cannot move anything, or nothing that the rows before it do not move, gets 0.
fn solve_block(
    mobility: ptr<function, Matrix>,
    compliance: ptr<function, array<f32, M>>,
    right: ptr<function, array<f32, M>>,
) -> array<f32, M> {
    var lower: Matrix;
    var pivots: array<f32, M>;
    var inverses: array<f32, M>;
    var solution = *right;
    for (var row = 0u; row < M; row++) {
        for (var column = 0u; column < row; column++) {
            var entry = (*mobility)[row][column];
            for (var before = 0u; before < column; before++) {
                entry = entry - lower[row][before] * lower[column][before] * pivots[before];
            }
            lower[row][column] = entry * inverses[column];
            solution[row] = solution[row] - lower[row][column] * solution[column];
        }
        let movable = (*mobility)[row][row];
        var pivot = movable + (*compliance)[row];
        for (var before = 0u; before < row; before++) {
            pivot = pivot - lower[row][before] * lower[row][before] * pivots[before];
        }
        var usable = 0.0 < movable;
        if (row > 0u) {
            pivot = max(pivot, (*compliance)[row]);
            let least = select(movable * 1e-6, 0.0, 0.0 < (*compliance)[row]);
            usable = usable && least < pivot;
        }
        pivots[row] = pivot;
        inverses[row] = select(0.0, 1.0 / pivot, usable);
    }
    for (var from_last = 0u; from_last < M; from_last++) {
        let row = M - 1u - from_last;
        solution[row] = solution[row] * inverses[row];
        for (var later = row + 1u; later < M; later++) {
            solution[row] = solution[row] - lower[later][row] * solution[later];
        }
    }
    return solution;
}
