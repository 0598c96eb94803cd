// The twin of `volume.rs`.

fn member_at(x: array<vec3f, A>, rest: f32) -> Member {
    let p2 = x[1] - x[0];
    let p3 = x[2] - x[0];
    let p4 = x[3] - x[0];
    let g2 = cross(p3, p4) * (1.0 / 6.0);
    let g3 = cross(p4, p2) * (1.0 / 6.0);
    let g4 = cross(p2, p3) * (1.0 / 6.0);
    return Member(1.0, dot(g4, p4) - rest, array<vec3f, A>(-(g2 + g3 + g4), g2, g3, g4));
}

fn member_mobility(member: Member, w: array<f32, A>) -> f32 {
    let g = member.gradients;
    return w[0] * dot(g[0], g[0]) + w[1] * dot(g[1], g[1]) + w[2] * dot(g[2], g[2])
        + w[3] * dot(g[3], g[3]);
}
