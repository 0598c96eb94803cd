//! Text messages, both ways: docs/viewer-protocol.md.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version of the protocol.
pub(crate) const VERSION: u8 = 1;

/// Most bytes of a message that is no `load`.
pub(crate) const MOST_BYTES: usize = 64 << 10;
/// Most bytes of a `load`.
pub(crate) const MOST_LOAD_BYTES: usize = 32 << 20;
/// Most values that one `set` changes.
const MOST_OVERRIDES: usize = 64;

/// What a page asks for.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Request {
    Ack { frame: u32 },
    Want { field: WantedField, precision: WantedPrecision },
    Elements { generation: u32, kind: usize },
    Pause {},
    Resume {},
    Reset {},
    Step {},
    Speed { speed: f64 },
    Scene { name: String },
    Load(Load),
    Set { overrides: Vec<String> },
    Backend { backend: String, threads: usize },
    Grab { particle: usize, target: [f32; 3] },
    Pin { particle: usize, target: [f32; 3] },
    Release { particle: usize },
}

/// Files that were dropped on a page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Load {
    pub(crate) name: String,
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
}

/// What points are colored by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WantedField {
    #[default]
    None,
    Strain,
    Speed,
    Contact,
}

/// How exact places are to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WantedPrecision {
    #[default]
    Auto,
    F32,
    U16,
}

impl Request {
    /// Reads a message. The error says what is wrong with it, for people.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.len() > MOST_LOAD_BYTES {
            return Err(format!("a message has at most {MOST_LOAD_BYTES} bytes"));
        }
        let request: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if text.len() > MOST_BYTES && !matches!(request, Self::Load(_)) {
            return Err(format!("a message that loads nothing has at most {MOST_BYTES} bytes"));
        }
        request.check()?;
        Ok(request)
    }

    fn check(&self) -> Result<(), String> {
        match self {
            Self::Speed { speed } if !(0.0..=1000.0).contains(speed) => {
                Err("speed must be from 0 to 1000".to_owned())
            }
            Self::Grab { target, .. } | Self::Pin { target, .. }
                if target.iter().any(|x| !x.is_finite()) =>
            {
                Err("target must be three finite numbers".to_owned())
            }
            Self::Set { overrides } if overrides.len() > MOST_OVERRIDES => {
                Err(format!("set changes at most {MOST_OVERRIDES} values"))
            }
            _ => Ok(()),
        }
    }

    /// The `type` of the message.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Ack { .. } => "ack",
            Self::Want { .. } => "want",
            Self::Elements { .. } => "elements",
            Self::Pause {} => "pause",
            Self::Resume {} => "resume",
            Self::Reset {} => "reset",
            Self::Step {} => "step",
            Self::Speed { .. } => "speed",
            Self::Scene { .. } => "scene",
            Self::Load(_) => "load",
            Self::Set { .. } => "set",
            Self::Backend { .. } => "backend",
            Self::Grab { .. } => "grab",
            Self::Pin { .. } => "pin",
            Self::Release { .. } => "release",
        }
    }

    /// The particle that the message is about.
    pub(crate) fn particle(&self) -> Option<usize> {
        match self {
            Self::Grab { particle, .. }
            | Self::Pin { particle, .. }
            | Self::Release { particle } => Some(*particle),
            _ => None,
        }
    }
}

/// What a page hears.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Message<'a> {
    Hello { version: u8, taut: &'a str, scenes: Vec<SceneEntry<'a>>, cores: usize },
    Scene(Box<SceneInfo>),
    Stats(Box<Stats>),
    Error { message: String, about: &'a str },
}

impl Message<'_> {
    /// The message as JSON.
    pub(crate) fn text(&self) -> String {
        // Keys are strings and numbers that are not finite become null: nothing can fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct SceneEntry<'a> {
    pub(crate) name: &'a str,
    pub(crate) title: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct SceneInfo {
    pub(crate) generation: u32,
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) particles: usize,
    pub(crate) points: usize,
    pub(crate) bodies: Vec<BodyInfo>,
    pub(crate) shapes: Vec<ShapeInfo>,
    pub(crate) kinds: Vec<KindInfo>,
    pub(crate) settings: SettingsInfo,
    pub(crate) choices: Choices,
    pub(crate) overrides: Vec<String>,
    pub(crate) bounds: [[f32; 3]; 2],
    pub(crate) camera: Value,
    pub(crate) grabs: Vec<GrabInfo>,
}

#[derive(Debug, Serialize)]
pub(crate) struct BodyInfo {
    pub(crate) name: String,
    pub(crate) first_particle: usize,
    pub(crate) particles: usize,
    pub(crate) first_triangle: usize,
    pub(crate) triangles: usize,
    pub(crate) color: usize,
}

#[derive(Debug, Serialize)]
pub(crate) struct ShapeInfo {
    pub(crate) name: String,
    pub(crate) first_vertex: usize,
    pub(crate) vertices: usize,
    pub(crate) first_triangle: usize,
    pub(crate) triangles: usize,
    pub(crate) moving: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct KindInfo {
    pub(crate) kind: &'static str,
    pub(crate) elements: usize,
    pub(crate) arity: usize,
    pub(crate) phases: usize,
    pub(crate) blocks: usize,
    pub(crate) batches: usize,
    pub(crate) lower_bound: usize,
    pub(crate) copies: usize,
    pub(crate) sizes: Vec<usize>,
}

#[derive(Debug, Serialize)]
pub(crate) struct SettingsInfo {
    pub(crate) solver: Value,
    pub(crate) partition: Value,
    pub(crate) colors: Option<u32>,
    pub(crate) iterations: u32,
    pub(crate) substeps: u32,
    pub(crate) dt: f32,
    pub(crate) gravity: [f32; 3],
    pub(crate) wind: Option<[f32; 3]>,
    pub(crate) relaxation: f32,
    pub(crate) threads: usize,
    pub(crate) backend: &'static str,
}

#[derive(Debug, Serialize)]
pub(crate) struct Choices {
    pub(crate) solver: Value,
    pub(crate) partition: Value,
    pub(crate) backend: Value,
}

#[derive(Debug, Serialize)]
pub(crate) struct GrabInfo {
    pub(crate) particle: usize,
    pub(crate) target: [f32; 3],
    pub(crate) pinned: bool,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Stats {
    pub(crate) generation: u32,
    pub(crate) step: u64,
    pub(crate) time: f64,
    pub(crate) running: bool,
    pub(crate) speed: f64,
    pub(crate) rate: f64,
    pub(crate) ms_per_step: f64,
    pub(crate) stage_ms: Map<String, Value>,
    pub(crate) residual: Map<String, Value>,
    pub(crate) contacts: usize,
    pub(crate) dropped_contacts: usize,
    pub(crate) energy: EnergyInfo,
    pub(crate) projections_per_second: f64,
    pub(crate) particles_per_second: f64,
    pub(crate) viewers: usize,
    pub(crate) threads: usize,
    pub(crate) frame_bytes: u64,
    pub(crate) frame_ms: f64,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct EnergyInfo {
    pub(crate) kinetic: f64,
    pub(crate) potential: f64,
}

#[cfg(test)]
mod tests {
    //! Contract: messages of the documented form are read, and nothing else.

    use super::*;

    #[test]
    fn documented_messages_are_read() {
        for text in [
            r#"{"type":"ack","frame":3}"#,
            r#"{"type":"want","field":"strain","precision":"auto"}"#,
            r#"{"type":"elements","generation":1,"kind":0}"#,
            r#"{"type":"pause"}"#,
            r#"{"type":"step"}"#,
            r#"{"type":"speed","speed":0.5}"#,
            r#"{"type":"load","name":"a.toml","text":""}"#,
            r#"{"type":"load","name":"a.toml","text":"","files":{"b.obj":"v 0 0 0"}}"#,
            r#"{"type":"set","overrides":["dt=0.01"]}"#,
            r#"{"type":"backend","backend":"cpu","threads":2}"#,
            r#"{"type":"grab","particle":7,"target":[0,1,2.5]}"#,
            r#"{"type":"release","particle":7}"#,
        ] {
            let request = Request::parse(text).unwrap();
            assert!(text.contains(&format!(r#""type":"{}""#, request.name())), "{text}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "[]",
            "{}",
            r#"{"type":"fly"}"#,
            r#"{"type":"ack"}"#,
            r#"{"type":"ack","frame":-1}"#,
            r#"{"type":"ack","frame":1,"more":2}"#,
            r#"{"type":"pause","now":true}"#,
            r#"{"type":"speed","speed":-1}"#,
            r#"{"type":"speed","speed":1e999}"#,
            r#"{"type":"grab","particle":1,"target":[0,1]}"#,
            r#"{"type":"grab","particle":1,"target":[0,1,1e39]}"#,
            r#"{"type":"grab","particle":1.5,"target":[0,1,2]}"#,
            r#"{"type":"want","field":"taste","precision":"auto"}"#,
        ] {
            assert!(Request::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_files_may_be_long() {
        let long = "x".repeat(MOST_BYTES);
        let scene = format!(r#"{{"type":"scene","name":"{long}"}}"#);
        assert!(Request::parse(&scene).unwrap_err().contains("at most 65536 bytes"));
        let load = format!(r#"{{"type":"load","name":"a.toml","text":"{long}"}}"#);
        assert!(Request::parse(&load).is_ok());
        let many = vec!["dt=1"; 65];
        let set = serde_json::json!({"type": "set", "overrides": many}).to_string();
        assert!(Request::parse(&set).is_err());
    }
}
