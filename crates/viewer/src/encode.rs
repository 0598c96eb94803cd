//! Binary messages: little-endian arrays behind a fixed header, each at a multiple of 4 bytes.

use axum::body::Bytes;
use taut::output::{Drawing, KindElements, ShapePose};

use crate::protocol::VERSION;
use crate::shared::FieldValues;

const TOPOLOGY: u8 = 1;
const ELEMENTS: u8 = 2;
const FRAME: u8 = 3;

/// Bytes before the places of a frame.
pub(crate) const FRAME_HEADER: usize = 56;

/// How places are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    F32,
    U16,
}

/// A message that grows.
struct Writer(Vec<u8>);

impl Writer {
    fn new(which: u8, generation: u32, capacity: usize) -> Self {
        let mut bytes = Vec::with_capacity(capacity);
        bytes.extend([which, VERSION, 0, 0]);
        bytes.extend(generation.to_le_bytes());
        Self(bytes)
    }

    fn u32(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    fn f32(&mut self, value: f32) {
        self.0.extend(value.to_le_bytes());
    }

    fn u32s(&mut self, values: &[u32]) {
        self.0.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }

    fn f32s(&mut self, values: &[f32]) {
        // Many at once: a frame has 300,000 of them.
        let start = self.0.len();
        self.0.resize(start + 4 * values.len(), 0);
        for (bytes, value) in self.0[start..].as_chunks_mut::<4>().0.iter_mut().zip(values) {
            *bytes = value.to_le_bytes();
        }
    }

    fn pad(&mut self) {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    fn finish(self) -> Bytes {
        self.0.into()
    }
}

/// The parts of a drawing that do not move.
pub(crate) fn topology(generation: u32, drawing: &Drawing) -> Bytes {
    let shape_vertices: usize = drawing.shapes.iter().map(|shape| shape.mesh.positions.len()).sum();
    let shape_triangles: usize =
        drawing.shapes.iter().map(|shape| shape.mesh.triangles.len()).sum();
    let mut writer = Writer::new(TOPOLOGY, generation, 24 + 12 * drawing.triangles.len());
    for count in [drawing.points, drawing.triangles.len(), shape_vertices, shape_triangles] {
        writer.u32(count as u32);
    }
    writer.u32s(drawing.triangles.as_flattened());
    for shape in &drawing.shapes {
        for position in &shape.mesh.positions {
            writer.f32s(&position.to_array());
        }
    }
    let mut first = 0;
    for shape in &drawing.shapes {
        for corners in &shape.mesh.triangles {
            writer.u32s(&corners.map(|corner| corner + first));
        }
        first += shape.mesh.positions.len() as u32;
    }
    writer.finish()
}

/// The elements of a kind and when they are solved.
pub(crate) fn elements(generation: u32, index: usize, kind: &KindElements) -> Bytes {
    let arity = kind.kind.arity();
    let mut writer = Writer::new(ELEMENTS, generation, 20 + 4 * (arity + 3) * kind.len());
    writer.u32(index as u32);
    writer.u32(kind.len() as u32);
    writer.u32(arity as u32);
    writer.u32s(&kind.particles);
    writer.u32s(&kind.phases);
    writer.u32s(&kind.blocks);
    writer.u32s(&kind.batches);
    writer.finish()
}

/// What is in a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameParts<'a> {
    pub(crate) generation: u32,
    pub(crate) number: u32,
    pub(crate) step: u64,
    pub(crate) time: f64,
    pub(crate) low: [f32; 3],
    pub(crate) high: [f32; 3],
    pub(crate) places: &'a [[f32; 3]],
    /// Which field, and its values.
    pub(crate) field: Option<(u8, &'a FieldValues)>,
    pub(crate) poses: &'a [ShapePose],
}

/// Where everything is.
pub(crate) fn frame(parts: &FrameParts<'_>, precision: Precision) -> Bytes {
    let points = parts.places.len();
    let mut writer = Writer::new(
        FRAME,
        parts.generation,
        FRAME_HEADER + 13 * points + 28 * parts.poses.len() + 8,
    );
    writer.u32(parts.number);
    writer.u32(parts.step as u32);
    writer.0.extend(parts.time.to_le_bytes());
    let number = parts.field.map_or(0, |(number, _)| number);
    writer.0.extend([u8::from(precision == Precision::U16), number]);
    writer.0.extend((parts.poses.len() as u16).to_le_bytes());
    writer.f32(parts.field.map_or(1.0, |(_, field)| field.scale));
    writer.f32s(&parts.low);
    writer.f32s(&parts.high);
    match precision {
        Precision::F32 => writer.f32s(parts.places.as_flattened()),
        Precision::U16 => quantize(&mut writer, parts),
    }
    if let Some((_, field)) = parts.field {
        // A cast to an integer stays in its range: larger values have the last color.
        let share = 255.0 / field.scale;
        writer.0.extend(field.values.iter().map(|value| (value * share + 0.5) as u8));
        writer.pad();
    }
    for pose in parts.poses {
        writer.f32s(&pose.place);
        writer.f32s(&pose.rotation);
    }
    writer.finish()
}

/// Places as shares of the box around them, in steps of 1/65535.
fn quantize(writer: &mut Writer, parts: &FrameParts<'_>) {
    let scale: [f32; 3] = std::array::from_fn(|axis| {
        let size = parts.high[axis] - parts.low[axis];
        if size > 0.0 { 65535.0 / size } else { 0.0 }
    });
    let start = writer.0.len();
    writer.0.resize(start + 6 * parts.places.len(), 0);
    let room = writer.0[start..].as_chunks_mut::<6>().0;
    for (bytes, place) in room.iter_mut().zip(parts.places) {
        for axis in 0..3 {
            // A cast to an integer stays in its range, whatever the number is. `round` would be a
            // call for each, and take most of the time of a frame; none of them is below 0.
            let step = ((place[axis] - parts.low[axis]) * scale[axis] + 0.5) as u16;
            [bytes[2 * axis], bytes[2 * axis + 1]] = step.to_le_bytes();
        }
    }
    writer.pad();
}

#[cfg(test)]
mod tests {
    //! Contract: messages have the documented layout, to the byte.

    use super::*;

    const PLACES: [[f32; 3]; 3] = [[0.0, 1.0, 2.0], [4.0, 1.0, -2.0], [1.0, 1.0, 0.0]];

    fn parts<'a>(field: Option<(u8, &'a FieldValues)>, poses: &'a [ShapePose]) -> FrameParts<'a> {
        FrameParts {
            generation: 7,
            number: 9,
            step: 11,
            time: 0.25,
            low: [0.0, 1.0, -2.0],
            high: [4.0, 1.0, 2.0],
            places: &PLACES,
            field,
            poses,
        }
    }

    fn f32_at(bytes: &[u8], at: usize) -> f32 {
        f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
    }

    #[test]
    fn frames_have_the_documented_layout() {
        let pose = ShapePose { place: [1.0, 2.0, 3.0], rotation: [0.0, 0.0, 0.0, 1.0] };
        let field = FieldValues { values: vec![0.0, 2.5, 0.75], scale: 2.0 };
        let bytes = frame(&parts(Some((2, &field)), &[pose]), Precision::F32);
        assert_eq!(bytes[..4], [3, 1, 0, 0]);
        assert_eq!(bytes[4..16], [7, 0, 0, 0, 9, 0, 0, 0, 11, 0, 0, 0]);
        assert_eq!(f64::from_le_bytes(bytes[16..24].try_into().unwrap()), 0.25);
        assert_eq!(bytes[24..28], [0, 2, 1, 0]);
        assert_eq!(f32_at(&bytes, 28), 2.0);
        assert_eq!(f32_at(&bytes, 40), -2.0 + 0.0 * f32_at(&bytes, 32));
        assert_eq!(f32_at(&bytes, FRAME_HEADER + 12), 4.0);
        let after = FRAME_HEADER + 36;
        assert_eq!(bytes[after..after + 4], [0, 255, 96, 0]);
        assert_eq!(f32_at(&bytes, after + 8), 2.0);
        assert_eq!(bytes.len(), after + 4 + 28);
    }

    #[test]
    fn sixteen_bits_reach_the_corners() {
        let bytes = frame(&parts(None, &[]), Precision::U16);
        assert_eq!(bytes[24..26], [1, 0]);
        let step = |index: usize| {
            let at = FRAME_HEADER + 2 * index;
            u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap())
        };
        assert_eq!([step(0), step(3), step(6)], [0, 65535, 16384]);
        // A box without height has everything at its low corner.
        assert_eq!([step(1), step(2), step(5)], [0, 65535, 0]);
        assert_eq!(bytes.len(), FRAME_HEADER + 20);
    }
}
