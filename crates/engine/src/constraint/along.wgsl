// The twin of `Along` in `distance.rs`: the shorter way of distances.

/// Solves the element at a place of the schedule.
fn solve(
    place: u32,
    element: Element,
    x: ptr<function, Corners>,
    w: ptr<function, array<f32, N>>,
) {
    let difference = (*x)[0] - (*x)[1];
    let mobility = (*w)[0] + (*w)[1];
    let length = sqrt(dot(difference, difference));
    let error = length - element.constants[0];
    let softness = element.softness[0];
    var share: f32;
    if (IS_COMPLIANT) {
        let compliance = softness * substep.inverse_step_squared;
        let own = sweep.first_multiplier + place;
        var total = 0.0;
        if (!is_first) {
            total = multipliers[own];
        }
        let right = sweep.relaxation * (error - compliance * total);
        share = right / max((mobility + compliance) * length, TINY);
        multipliers[own] = total + share * length;
    } else {
        share = sweep.relaxation * softness * error / max(mobility * length, TINY);
    }
    let way = difference * share;
    (*x)[0] -= way * (*w)[0];
    (*x)[1] += way * (*w)[1];
}
