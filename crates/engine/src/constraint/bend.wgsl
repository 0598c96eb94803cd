// The twin of `bend.rs`.

fn evaluate(x: ptr<function, Corners>, constants: ptr<function, Constants>) -> Rows {
    let x1 = (*x)[0];
    let x2 = (*x)[1];
    let x3 = (*x)[2];
    let x4 = (*x)[3];
    let edge = x2 - x1;
    let length = max(sqrt(dot(edge, edge)), TINY);
    let n1 = cross(x1 - x3, x2 - x3);
    let n2 = cross(x2 - x4, x1 - x4);
    let angle = angle_of(dot(edge, cross(n1, n2)) / length, dot(n1, n2));

    let far1 = -n1 * (length / max(dot(n1, n1), TINY));
    let far2 = -n2 * (length / max(dot(n2, n2), TINY));
    // Where the far corners stand along the edge: 0 at x₁, 1 at x₂.
    let scale = 1.0 / (length * length);
    let along1 = dot(x3 - x1, edge) * scale;
    let along2 = dot(x4 - x1, edge) * scale;
    let near1 = -(far1 * (1.0 - along1)) - far2 * (1.0 - along2);
    let near2 = -(far1 * along1) - far2 * along2;
    let error = wrap(angle - (*constants)[0]);
    return Rows(Row(error, Corners(near1, near2, far1, far2)));
}

/// Brings the difference of two angles into [−π, π].
fn wrap(difference: f32) -> f32 {
    let pi = 3.14159274;
    var angle = difference;
    if (pi < angle) {
        angle = angle - 2.0 * pi;
    }
    if (angle < -pi) {
        angle = angle + 2.0 * pi;
    }
    return angle;
}

fn mobility(rows: ptr<function, Rows>, w: ptr<function, array<f32, N>>) -> Matrix {
    return mobility_of_gradients(rows, w);
}

fn value_at_rest(row: u32, constants: ptr<function, Constants>) -> f32 {
    return 0.0;
}
