//! Colors: of bodies, of the phases of a schedule, and of values.
//!
//! Scales are made in Oklch [Ottosson 2020], where equal steps look equal: lightness, chroma (distance
//! from gray) and hue (degrees).

/// Bodies, one after another: muted, and far enough apart to be told from each other.
const BODIES: [[u8; 3]; 8] = [
    [62, 108, 170],
    [196, 92, 70],
    [84, 146, 104],
    [216, 164, 76],
    [132, 98, 160],
    [70, 150, 166],
    [200, 118, 142],
    [142, 150, 72],
];

/// Shapes: pale, so that bodies stand out.
pub(crate) const SHAPE: [u8; 3] = [205, 201, 194];

/// Bodies under lines of their elements.
pub(crate) const PLAIN: [u8; 3] = [222, 221, 219];

/// The color of the body with this number.
#[must_use]
pub fn body_color(number: usize) -> [u8; 3] {
    BODIES[number % BODIES.len()]
}

/// The color of a phase or block: neighbors in number are far apart in hue.
#[must_use]
pub fn phase_color(number: usize) -> [u8; 3] {
    // The golden angle never comes back to a hue that was used.
    let hue = 25.0 + 137.507_76 * number as f32;
    oklch([0.62, 0.70, 0.54][number % 3], 0.16, hue)
}

/// The color of a value between 0 and 1: dark blue, green, bright yellow, ever lighter.
#[must_use]
pub fn map(value: f32) -> [u8; 3] {
    let value = if value.is_finite() { value.clamp(0.0, 1.0) } else { 1.0 };
    oklch(0.34 + 0.56 * value, 0.10 + 0.06 * value, 280.0 - 180.0 * value)
}

/// sRGB of an Oklch color, cut off where the screen has no such color.
fn oklch(lightness: f32, chroma: f32, hue: f32) -> [u8; 3] {
    let (sin, cos) = hue.to_radians().sin_cos();
    let (a, b) = (chroma * cos, chroma * sin);
    let l = (lightness + 0.396_337_78 * a + 0.215_803_76 * b).powi(3);
    let m = (lightness - 0.105_561_346 * a - 0.063_854_17 * b).powi(3);
    let s = (lightness - 0.089_484_18 * a - 1.291_485_5 * b).powi(3);
    let linear = [
        4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s,
        -1.268_438 * l + 2.609_757_4 * m - 0.341_319_4 * s,
        -0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s,
    ];
    linear.map(|light| (encode(light.clamp(0.0, 1.0)) * 255.0).round() as u8)
}

/// From an amount of light to the encoding of pictures.
fn encode(light: f32) -> f32 {
    if light <= 0.003_130_8 { 12.92 * light } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 }
}

#[cfg(test)]
mod tests {
    //! Contract: scales rise evenly in lightness, and phases can be told apart.

    use super::*;

    fn luminance([r, g, b]: [u8; 3]) -> f32 {
        let linear = |byte: u8| (f32::from(byte) / 255.0).powf(2.2);
        0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
    }

    #[test]
    fn gray_has_no_hue() {
        let [r, g, b] = oklch(0.6, 0.0, 77.0);
        assert!(r.abs_diff(g) <= 1 && g.abs_diff(b) <= 1 && r > 100 && r < 150);
        assert_eq!(oklch(1.0, 0.0, 0.0), [255; 3]);
    }

    #[test]
    fn the_map_of_values_gets_lighter_all_the_way() {
        let steps: Vec<f32> = (0..=20).map(|i| luminance(map(i as f32 / 20.0)).cbrt()).collect();
        for pair in steps.windows(2) {
            let rise = pair[1] - pair[0];
            assert!(rise > 0.01 && rise < 0.06, "{rise}");
        }
        assert_eq!(map(f32::NAN), map(7.0));
        assert_eq!(map(-1.0), map(0.0));
    }

    #[test]
    fn neighboring_phases_differ() {
        for number in 0..64 {
            for other in number + 1..(number + 8) {
                let (a, b) = (phase_color(number), phase_color(other));
                let apart: u32 = a.iter().zip(b).map(|(x, y)| u32::from(x.abs_diff(y))).sum();
                assert!(apart > 40, "{number} {a:?}, {other} {b:?}");
            }
        }
    }
}
