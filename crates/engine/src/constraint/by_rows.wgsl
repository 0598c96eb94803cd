// The twin of `ByRows` in `project.rs`: the way for every kind.

/// Solves the element at a place of the schedule.
fn solve(
    place: u32,
    element: Element,
    x: ptr<function, Corners>,
    w: ptr<function, array<f32, N>>,
) {
    var constants = element.constants;
    var softness = element.softness;
    var rows = evaluate(x, &constants);
    var right: array<f32, M>;
    var compliance: array<f32, M>;
    var total: array<f32, M>;
    for (var row = 0u; row < M; row++) {
        if (IS_COMPLIANT) {
            compliance[row] = softness[row] * substep.inverse_step_squared;
            if (!is_first) {
                total[row] = multipliers[sweep.first_multiplier + row * sweep.elements + place];
            }
            right[row] = rows[row].value - compliance[row] * total[row];
        } else {
            right[row] = softness[row] * rows[row].value;
        }
    }
    var matrix = mobility(&rows, w);
    let change = solve_block(&matrix, &compliance, &right);
    for (var row = 0u; row < M; row++) {
        let relaxed = change[row] * sweep.relaxation;
        if (IS_COMPLIANT) {
            multipliers[sweep.first_multiplier + row * sweep.elements + place] = total[row] + relaxed;
        }
        for (var corner = 0u; corner < N; corner++) {
            (*x)[corner] -= rows[row].gradients[corner] * ((*w)[corner] * relaxed);
        }
    }
}
