// The twin of `strain.rs`.

fn evaluate(x: ptr<function, Corners>, constants: ptr<function, Constants>) -> Rows {
    let a = (*constants)[0];
    let b = (*constants)[1];
    let c = (*constants)[2];
    let d = (*constants)[3];
    let d1 = (*x)[1] - (*x)[0];
    let d2 = (*x)[2] - (*x)[0];
    let warp = d1 * a + d2 * c;
    let weft = d1 * b + d2 * d;
    let second = weft * a + warp * b;
    let third = weft * c + warp * d;
    let shear = Row(dot(warp, weft), Corners(-(second + third), second, third));
    return Rows(along(warp, a, c), along(weft, b, d), shear);
}

/// |w| − 1, where w moves with the second and third particle by these factors.
fn along(w: vec3f, by_second: f32, by_third: f32) -> Row {
    let length = sqrt(dot(w, w));
    let normal = w * (1.0 / max(length, TINY));
    let second = normal * by_second;
    let third = normal * by_third;
    return Row(length - 1.0, Corners(-(second + third), second, third));
}

fn mobility(rows: ptr<function, Rows>, w: ptr<function, array<f32, N>>) -> Matrix {
    return mobility_of_gradients(rows, w);
}

fn value_at_rest(row: u32, constants: ptr<function, Constants>) -> f32 {
    return 0.0;
}
