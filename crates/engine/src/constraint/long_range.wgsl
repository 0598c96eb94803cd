// The twin of `long_range.rs`.

fn evaluate(x: ptr<function, Corners>, constants: ptr<function, Constants>) -> Rows {
    let difference = (*x)[0] - (*x)[1];
    let length = sqrt(dot(difference, difference));
    let reach = (*constants)[0];
    if (reach < length) {
        let normal = difference * (1.0 / max(length, TINY));
        return Rows(Row(length - reach, Corners(normal, -normal)));
    }
    return Rows(Row(0.0, Corners(vec3f(), vec3f())));
}

fn mobility(rows: ptr<function, Rows>, w: ptr<function, array<f32, N>>) -> Matrix {
    return mobility_of_gradients(rows, w);
}

fn value_at_rest(row: u32, constants: ptr<function, Constants>) -> f32 {
    return 0.0;
}
