// The twin of `Turns` in `in_turn.rs`.

/// Δλ / s of a member, whose total is kept where compliance asks for it.
fn share_of(member: Member, w: array<f32, A>, rest: f32, softness: f32, own: u32) -> f32 {
    let mobility = member_mobility(member, w);
    let error = error_of(member, rest);
    if (!IS_COMPLIANT) {
        return sweep.relaxation * softness * error / max(mobility * member.scale, TINY);
    }
    let compliance = softness * substep.inverse_step_squared;
    var total = 0.0;
    if (!is_first) {
        total = multipliers[own];
    }
    let right = sweep.relaxation * (error - compliance * total);
    let share = right / max((mobility + compliance) * member.scale, TINY);
    multipliers[own] = total + share * member.scale;
    return share;
}
