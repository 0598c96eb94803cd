// The twin of `neo_hookean.rs`.

fn evaluate(x: ptr<function, Corners>, constants: ptr<function, Constants>) -> Rows {
    let d1 = (*x)[1] - (*x)[0];
    let d2 = (*x)[2] - (*x)[0];
    let d3 = (*x)[3] - (*x)[0];
    let f1 = d1 * (*constants)[0] + d2 * (*constants)[3] + d3 * (*constants)[6];
    let f2 = d1 * (*constants)[1] + d2 * (*constants)[4] + d3 * (*constants)[7];
    let f3 = d1 * (*constants)[2] + d2 * (*constants)[5] + d3 * (*constants)[8];

    let norm = sqrt(dot(f1, f1) + dot(f2, f2) + dot(f3, f3));
    let inverse = 1.0 / max(norm, TINY);
    let by_norm = gradients(f1 * inverse, f2 * inverse, f3 * inverse, constants);
    let cofactor = cross(f2, f3);
    let by_volume = gradients(cofactor, cross(f3, f1), cross(f1, f2), constants);
    return Rows(Row(norm, by_norm), Row(dot(f1, cofactor) - (*constants)[9], by_volume));
}

/// ∇ᵢC from the columns of ∂C/∂F.
fn gradients(p1: vec3f, p2: vec3f, p3: vec3f, constants: ptr<function, Constants>) -> Corners {
    let g2 = p1 * (*constants)[0] + p2 * (*constants)[1] + p3 * (*constants)[2];
    let g3 = p1 * (*constants)[3] + p2 * (*constants)[4] + p3 * (*constants)[5];
    let g4 = p1 * (*constants)[6] + p2 * (*constants)[7] + p3 * (*constants)[8];
    return Corners(-(g2 + g3 + g4), g2, g3, g4);
}

fn mobility(rows: ptr<function, Rows>, w: ptr<function, array<f32, N>>) -> Matrix {
    return mobility_of_gradients(rows, w);
}

/// Neither row is 0 at rest.
fn value_at_rest(row: u32, constants: ptr<function, Constants>) -> f32 {
    return select(1.0 - (*constants)[9], sqrt(3.0), row == 0u);
}
