// The twin of `angle.rs`: the built-in atan2 is only good to 4096 units in the last place, and
// undefined where x is 0.

/// The angle of (x, y) against the x axis in (−π, π]; 0 for (0, 0).
fn angle_of(y: f32, x: f32) -> f32 {
    let ax = abs(x);
    let ay = abs(y);
    let large = max(ax, ay);
    let tangent = min(ax, ay) / select(1.0, large, 0.0 < large);
    let square = tangent * tangent;
    var series = -0.0040545756;
    series = series * square + 0.021862988;
    series = series * square - 0.05591237;
    series = series * square + 0.096422;
    series = series * square - 0.1390863;
    series = series * square + 0.19946566;
    series = series * square - 0.3332986;
    series = series * square + 0.99999934;
    let first_octant = tangent * series;
    let quadrant = select(first_octant, 1.57079637 - first_octant, ax < ay);
    let half = select(quadrant, 3.14159274 - quadrant, x < 0.0);
    return select(half, -half, y < 0.0);
}
