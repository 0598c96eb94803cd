// The twin of `distance.rs`.

fn member_at(x: array<vec3f, A>, rest: f32) -> Member {
    let difference = x[0] - x[1];
    let length = sqrt(dot(difference, difference));
    return Member(length, length - rest, array<vec3f, A>(difference, -difference));
}

/// The gradients are unit vectors.
fn member_mobility(member: Member, w: array<f32, A>) -> f32 {
    return w[0] + w[1];
}
