//! Colors: of bodies, of the parts of a schedule, and of values. The page has the same
//! (`web/src/color`); `tests/colors.json` holds both to that.
//!
//! Scales are made in Oklch [Ottosson 2020], where equal steps look equal: lightness, chroma (distance
//! from gray) and hue (degrees).

use std::collections::BTreeSet;

use taut::output::Field;

use crate::style::{Lch, style};

/// The color of the body with this number; they repeat after the last.
#[must_use]
pub fn body_color(number: usize) -> [u8; 3] {
    let bodies = &style().bodies;
    oklch(bodies[number % bodies.len()])
}

/// As many different colors. A few go once around the circle of hues; more also differ in lightness
/// from their neighbors. Consecutive numbers are far apart in hue, because consecutive phases lie
/// beside each other on a mesh.
#[must_use]
pub fn partition_colors(count: usize) -> Vec<[u8; 3]> {
    let rule = &style().partition;
    let stride = stride(count);
    let mut used = BTreeSet::new();
    let color = |number: usize| {
        let place = number * stride % count;
        let lightness = if count > rule.few { rule.lightness[place % 3] } else { rule.plain[0] };
        let chroma = if count > rule.calm { rule.chroma[place / 3 % 2] } else { rule.plain[1] };
        let hue = rule.hue + 360.0 * place as f64 / count as f64;
        unused(oklch([lightness, chroma, hue]), &mut used)
    };
    (0..count).map(color).collect()
}

/// The colors of blocks and batches, of which there can be thousands: these many tell neighbors apart.
#[must_use]
pub fn repeating_colors() -> Vec<[u8; 3]> {
    partition_colors(style().partition.repeating)
}

/// A step near the golden section of the circle that visits every place once.
fn stride(count: usize) -> usize {
    let mut stride = ((count as f64 * 0.382).round() as usize).max(1);
    while common(stride, count) > 1 {
        stride += 1;
    }
    stride
}

fn common(a: usize, b: usize) -> usize {
    if b == 0 { a } else { common(b, a % b) }
}

/// The color itself, or the nearest free one: a thousand phases are still a thousand colors.
fn unused([r, g, b]: [u8; 3], used: &mut BTreeSet<[u8; 3]>) -> [u8; 3] {
    let near = |nudge: u32| {
        let [more_r, more_g, more_b] = [nudge, nudge >> 3, nudge >> 6].map(|more| more as u8);
        [r.wrapping_add(more_r), g.wrapping_add(more_g), b.wrapping_add(more_b)]
    };
    (0..).map(near).find(|&color| used.insert(color)).unwrap_or([r, g, b])
}

/// The colors of values from 0 to 1: what happens little is quiet, what happens much is bright.
pub(crate) struct Scale(Vec<[u8; 3]>);

impl Scale {
    pub(crate) fn new(field: Field) -> Self {
        Self((0..=u8::MAX).map(|byte| scale_color(field, f64::from(byte) / 255.0)).collect())
    }

    pub(crate) fn color(&self, value: f32) -> [u8; 3] {
        let value = if value.is_finite() { value.clamp(0.0, 1.0) } else { 1.0 };
        self.0[(value * 255.0).round() as usize]
    }
}

fn scale_color(field: Field, value: f64) -> [u8; 3] {
    let scales = &style().scales;
    let stops = match field {
        Field::Strain => &scales.strain,
        Field::Speed => &scales.speed,
        Field::Contact => &scales.contact,
    };
    let place = value * (stops.len() - 1) as f64;
    let from = (place as usize).min(stops.len() - 2);
    let along = place - from as f64;
    let mix = |k: usize| stops[from][k] + along * (stops[from + 1][k] - stops[from][k]);
    oklch([mix(0), mix(1), mix(2)])
}

/// sRGB of an Oklch color; chroma is lowered until a screen can show it.
fn oklch([lightness, chroma, hue]: Lch) -> [u8; 3] {
    let (sin, cos) = hue.to_radians().sin_cos();
    let mut wanted = chroma;
    loop {
        let chroma = wanted.max(0.0);
        let light = oklab(lightness, chroma * cos, chroma * sin);
        let is_shown = light.iter().all(|light| (-1e-4..=1.0001).contains(light));
        if is_shown || chroma <= 0.0 {
            return light.map(|light| (encode(light.clamp(0.0, 1.0)) * 255.0).round() as u8);
        }
        wanted -= 0.005;
    }
}

/// Amounts of light of an Oklab color, possibly outside of what there is.
fn oklab(lightness: f64, a: f64, b: f64) -> [f64; 3] {
    let l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let s = (lightness - 0.089_484_177_5 * a - 1.291_485_548 * b).powi(3);
    [
        4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
        -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
        -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701 * s,
    ]
}

/// From an amount of light to the encoding of pictures.
fn encode(light: f64) -> f64 {
    if light <= 0.003_130_8 { 12.92 * light } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 }
}

/// From the encoding of pictures to an amount of light.
pub(crate) fn decode(byte: u8) -> f32 {
    let value = f32::from(byte) / 255.0;
    if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

#[cfg(test)]
mod tests {
    //! Contract: colors are the very ones of the page; there are as many as there are phases.

    use serde_json::{Value, json};

    use super::*;

    fn hex([r, g, b]: [u8; 3]) -> String {
        format!("#{r:02x}{g:02x}{b:02x}")
    }

    #[test]
    fn colors_are_those_of_the_page() {
        let text = include_str!("../tests/colors.json");
        let known: Value = serde_json::from_str(text).unwrap();
        let of = |colors: Vec<[u8; 3]>| colors.into_iter().map(hex).collect::<Vec<_>>();
        let counts = known["partition"].as_object().unwrap().keys();
        let parts = counts.map(|n| (n.clone(), json!(of(partition_colors(n.parse().unwrap())))));
        let scale = |field| of((0..=16).map(|i| scale_color(field, f64::from(i) / 16.0)).collect());
        let own = json!({
            "bodies": of((0..style().bodies.len() + 1).map(body_color).collect()),
            "partition": parts.collect::<serde_json::Map<_, _>>(),
            "scales": {
                "strain": scale(Field::Strain),
                "speed": scale(Field::Speed),
                "contact": scale(Field::Contact),
            },
        });
        assert_eq!(own, known, "the page and pictures have different colors");
    }

    #[test]
    fn there_are_as_many_colors_as_phases() {
        for count in [0, 1, 2, 7, 24, 100, 4096] {
            let colors: BTreeSet<_> = partition_colors(count).into_iter().collect();
            assert_eq!(colors.len(), count);
        }
    }

    #[test]
    fn gray_has_no_hue_and_white_is_white() {
        let [r, g, b] = oklch([0.6, 0.0, 77.0]);
        assert!(r.abs_diff(g) <= 1 && g.abs_diff(b) <= 1 && r > 100 && r < 150);
        assert_eq!(oklch([1.0, 0.0, 0.0]), [255; 3]);
    }

    #[test]
    fn values_beyond_the_scale_have_its_ends() {
        let scale = Scale::new(Field::Strain);
        assert_eq!(scale.color(f32::NAN), scale.color(7.0));
        assert_eq!(scale.color(-1.0), scale.color(0.0));
        assert_ne!(scale.color(0.0), scale.color(1.0));
    }

    #[test]
    fn light_goes_there_and_back() {
        for byte in [0, 3, 90, 200, 255] {
            let back = encode(f64::from(decode(byte))) * 255.0;
            assert!((back - f64::from(byte)).abs() < 0.01, "{byte} {back}");
        }
    }
}
