//! The look that pictures share with the page: `look.json`, which both are built from.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use glam::Vec3;
use serde::Deserialize;

/// What stands behind things, and how bright it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Pale.
    #[default]
    Light,
    /// Dark.
    Dark,
}

/// Lightness, chroma and hue.
pub(crate) type Lch = [f64; 3];

/// `look.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Style {
    pub(crate) bodies: Vec<Lch>,
    pub(crate) partition: Partition,
    pub(crate) scales: Scales,
    pub(crate) view: View,
    shading: BTreeMap<String, Constant>,
    themes: Themes,
}

/// How the colors of a partition are chosen.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Partition {
    /// The first hue.
    pub(crate) hue: f64,
    /// Up to so many colors differ in hue only,
    pub(crate) few: usize,
    /// and up to so many also in lightness.
    pub(crate) calm: usize,
    pub(crate) lightness: [f64; 3],
    pub(crate) chroma: [f64; 2],
    /// Lightness and chroma where these do not differ.
    pub(crate) plain: [f64; 2],
    /// How many colors blocks and batches have.
    pub(crate) repeating: usize,
}

/// Stops of color scales, evenly spaced.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scales {
    pub(crate) strain: Vec<Lch>,
    pub(crate) speed: Vec<Lch>,
    pub(crate) contact: Vec<Lch>,
}

/// From where a scene is seen that has no camera of its own, degrees.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct View {
    pub(crate) azimuth: f32,
    pub(crate) elevation: f32,
    pub(crate) fov: f32,
}

/// A number or a vector that shaders know by name.
#[derive(Deserialize)]
#[serde(untagged)]
enum Constant {
    Number(f32),
    Vector([f32; 3]),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Themes {
    light: Tones,
    dark: Tones,
}

/// Colors of all that is no body.
#[derive(Deserialize)]
pub(crate) struct Tones {
    /// The backdrop, from the upper to the lower edge.
    pub(crate) high: Color,
    pub(crate) low: Color,
    pub(crate) shape: Color,
    /// Bodies under lines of their elements.
    pub(crate) plain: Color,
    pub(crate) wire: Color,
}

/// sRGB, written `#rrggbb`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
pub(crate) struct Color(pub(crate) [u8; 3]);

impl TryFrom<String> for Color {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6);
        let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let [_, r, g, b] = number.ok_or_else(|| format!("{text:?} is no color"))?.to_be_bytes();
        Ok(Self([r, g, b]))
    }
}

/// What `look.json` says.
pub(crate) fn style() -> &'static Style {
    static STYLE: LazyLock<Style> = LazyLock::new(|| {
        serde_json::from_str(include_str!("../look.json")).expect("look.json is part of the crate")
    });
    &STYLE
}

impl Style {
    pub(crate) fn tones(&self, theme: Theme) -> &Tones {
        match theme {
            Theme::Light => &self.themes.light,
            Theme::Dark => &self.themes.dark,
        }
    }

    /// Toward the key light.
    pub(crate) fn key_direction(&self) -> Vec3 {
        match self.shading.get("KEY_DIRECTION") {
            Some(Constant::Vector(vector)) => Vec3::from(*vector).normalize_or(Vec3::Y),
            _ => Vec3::Y,
        }
    }

    /// The constants of shaders, in WGSL.
    pub(crate) fn constants(&self) -> String {
        let mut text = String::new();
        for (name, constant) in &self.shading {
            let _ = match constant {
                Constant::Number(number) => writeln!(text, "const {name}: f32 = {number:?};"),
                Constant::Vector([x, y, z]) => {
                    writeln!(text, "const {name} = vec3<f32>({x:?}, {y:?}, {z:?});")
                }
            };
        }
        text
    }
}

#[cfg(test)]
mod tests {
    //! Contract: the file can be read, and shaders get what it says.

    use super::*;

    #[test]
    fn the_file_says_all_there_is_to_know() {
        let style = style();
        assert!(style.key_direction().y > 0.3);
        assert!(style.constants().contains("const KEY_COLOR = vec3<f32>("));
        assert_ne!(style.tones(Theme::Light).high, style.tones(Theme::Dark).high);
        for stops in [&style.scales.strain, &style.scales.speed, &style.scales.contact] {
            assert!(stops.len() > 1);
        }
    }

    #[test]
    fn colors_are_read_or_refused() {
        assert_eq!(Color::try_from("#0a0Bff".to_owned()), Ok(Color([10, 11, 255])));
        for bad in ["0a0bff", "#0a0bf", "#0a0bfg", ""] {
            assert!(Color::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }
}
