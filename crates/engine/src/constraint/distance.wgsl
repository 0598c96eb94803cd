// The twin of `distance.rs`.

fn evaluate(x: ptr<function, Corners>, constants: ptr<function, Constants>) -> Rows {
    let difference = (*x)[0] - (*x)[1];
    let length = sqrt(dot(difference, difference));
    let normal = difference * (1.0 / max(length, TINY));
    return Rows(Row(length - (*constants)[0], Corners(normal, -normal)));
}

/// The gradients are unit vectors.
fn mobility(rows: ptr<function, Rows>, w: ptr<function, array<f32, N>>) -> Matrix {
    return Matrix(array<f32, M>((*w)[0] + (*w)[1]));
}

fn value_at_rest(row: u32, constants: ptr<function, Constants>) -> f32 {
    return 0.0;
}
