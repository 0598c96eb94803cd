// The twin of `volume.rs`.

fn evaluate(x: ptr<function, Corners>, constants: ptr<function, Constants>) -> Rows {
    let p2 = (*x)[1] - (*x)[0];
    let p3 = (*x)[2] - (*x)[0];
    let p4 = (*x)[3] - (*x)[0];
    let g2 = cross(p3, p4) * (1.0 / 6.0);
    let g3 = cross(p4, p2) * (1.0 / 6.0);
    let g4 = cross(p2, p3) * (1.0 / 6.0);
    let error = dot(g4, p4) - (*constants)[0];
    return Rows(Row(error, Corners(-(g2 + g3 + g4), g2, g3, g4)));
}

fn mobility(rows: ptr<function, Rows>, w: ptr<function, array<f32, N>>) -> Matrix {
    return mobility_of_gradients(rows, w);
}

fn value_at_rest(row: u32, constants: ptr<function, Constants>) -> f32 {
    return 0.0;
}
