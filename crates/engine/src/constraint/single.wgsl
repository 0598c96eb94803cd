// A member that is an element by itself.

fn evaluate(x: ptr<function, Corners>, constants: ptr<function, Constants>) -> Rows {
    let member = member_at(*x, (*constants)[0]);
    let inverse = 1.0 / max(member.scale, TINY);
    var gradients = member.gradients;
    for (var corner = 0u; corner < A; corner++) {
        gradients[corner] = gradients[corner] * inverse;
    }
    return Rows(Row(member.value, gradients));
}

fn mobility(rows: ptr<function, Rows>, w: ptr<function, array<f32, N>>) -> Matrix {
    let row = (*rows)[0];
    return Matrix(array<f32, M>(member_mobility(Member(1.0, row.value, row.gradients), *w)));
}
