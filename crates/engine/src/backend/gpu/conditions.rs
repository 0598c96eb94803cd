//! The conditions of a step, as kernels read them: a `Substep` (`solver/substep.wgsl`) and a list of
//! `Shape`s (`collide/shape.wgsl`) for each substep.

use super::arrays::ALIGNMENT;
use crate::collide::{Form, Pose};
use crate::mesh::SparseSdf;
use crate::model::Model;
use crate::solver::{Placed, Substep};

/// Words of a shape.
const SHAPE_WORDS: usize = 40;

/// What changes from step to step.
#[derive(Default)]
pub(super) struct Conditions {
    /// A `Substep` each, [`ALIGNMENT`] bytes apart.
    pub(super) substeps: Vec<u32>,
    /// All shapes of the first substep, then those of the next.
    pub(super) shapes: Vec<u32>,
    /// Four numbers for each body.
    pub(super) bodies: Vec<f32>,
}

impl Conditions {
    /// Writes down the conditions of a step, in place of those of another.
    pub(super) fn set(&mut self, model: &Model, substeps: &[Substep], fields: &[u32]) {
        self.substeps.clear();
        self.shapes.clear();
        for (index, substep) in substeps.iter().enumerate() {
            let start = self.substeps.len();
            let is_last = index + 1 == substeps.len();
            self.substeps.extend(substep_words(model, substep, index, is_last));
            self.substeps.resize(start + ALIGNMENT / 4, 0);
            for ((shape, placed), &field) in model.shapes.iter().zip(&substep.placed).zip(fields) {
                self.shapes.extend(shape_words(&shape.form, shape.friction, placed, field));
            }
        }
        self.bodies.clear();
        let damping = substeps.first().map_or(&[][..], |substep| &substep.damping);
        for (body, &kept) in model.bodies.iter().zip(damping) {
            self.bodies.extend([kept, body.thickness, body.drag, 0.0]);
        }
    }
}

fn substep_words(model: &Model, substep: &Substep, index: usize, is_last: bool) -> [u32; 15] {
    let [gx, gy, gz] = substep.gravity.map(f32::to_bits);
    let [wx, wy, wz] = substep.wind.map(f32::to_bits);
    let inverse_step_squared = 1.0 / (substep.step * substep.step);
    let density = model.wind.as_ref().map_or(0.0, |wind| wind.density);
    [
        gx,
        gy,
        gz,
        substep.step.to_bits(),
        wx,
        wy,
        wz,
        inverse_step_squared.to_bits(),
        substep.longest_way.to_bits(),
        (index * model.shapes.len()) as u32,
        model.body_of.len() as u32,
        model.targets.len() as u32,
        u32::from(model.wind.is_some()),
        density.to_bits(),
        u32::from(is_last),
    ]
}

fn shape_words(form: &Form, friction: f32, placed: &Placed, field: u32) -> [u32; SHAPE_WORDS] {
    let size = match *form {
        Form::Plane | Form::Field(_) => [0.0; 3],
        Form::Sphere(radius) => [radius, 0.0, 0.0],
        Form::Box(half) => half,
        Form::Capsule { radius, half_length } | Form::Tube { radius, half_length } => {
            [radius, half_length, 0.0]
        }
        Form::Torus { radius, tube_radius } => [radius, tube_radius, 0.0],
    };
    let mut words = [0; SHAPE_WORDS];
    words[..4].copy_from_slice(&[
        form_number(form),
        friction.to_bits(),
        u32::from(placed.before.is_some()),
        field,
    ]);
    words[4..7].copy_from_slice(&size.map(f32::to_bits));
    words[8..24].copy_from_slice(&pose_words(&placed.pose));
    words[24..].copy_from_slice(&pose_words(&placed.before.unwrap_or(placed.pose)));
    words
}

/// The number of a form in `collide/distance.wgsl`.
pub(super) fn form_number(form: &Form) -> u32 {
    match form {
        Form::Plane => 0,
        Form::Sphere(_) => 1,
        Form::Box(_) => 2,
        Form::Capsule { .. } => 3,
        Form::Tube { .. } => 4,
        Form::Torus { .. } => 5,
        Form::Field(_) => 6,
    }
}

fn pose_words(pose: &Pose) -> [u32; 16] {
    let mut words = [0; 16];
    for (row, column) in pose.columns().iter().enumerate() {
        words[4 * row..4 * row + 3].copy_from_slice(&column.map(f32::to_bits));
    }
    words
}

/// The fields of all mesh shapes in one list, and where that of each shape starts; see
/// `collide/distance.wgsl`.
pub(super) fn fields(model: &Model) -> (Vec<u32>, Vec<u32>) {
    let (mut words, mut starts) = (Vec::new(), Vec::new());
    for shape in &model.shapes {
        starts.push(words.len() as u32);
        if let Form::Field(field) = &shape.form {
            add_field(field, &mut words);
        }
    }
    (words, starts)
}

fn add_field(field: &SparseSdf, words: &mut Vec<u32>) {
    const HEADER: usize = 16;
    let bounds = field.bounds();
    let coarse = words.len() + HEADER;
    let numbers = coarse + field.coarse().len();
    let samples = numbers + field.block_numbers().len();
    words.extend(field.origin().to_array().map(f32::to_bits));
    words.push(field.cell().to_bits());
    words.extend(field.block_counts());
    words.extend(bounds.min.to_array().map(f32::to_bits));
    words.extend(bounds.max.to_array().map(f32::to_bits));
    words.extend([coarse, numbers, samples].map(|start| start as u32));
    words.extend(field.coarse().iter().map(|distance| distance.to_bits()));
    words.extend(field.block_numbers());
    words.extend(field.samples().iter().map(|distance| distance.to_bits()));
}
