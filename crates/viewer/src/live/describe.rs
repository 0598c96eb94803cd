//! A scene in words and numbers, for viewers.

use serde_json::{Value, json};
use taut::output::{Drawing, KindElements};
use taut::scene::Override;
use taut::scene::file::{PartitionMethod, Solver};
use taut::{BackendChoice, Simulation};

use crate::protocol::{BodyInfo, Choices, GrabInfo, KindInfo, SceneInfo, SettingsInfo, ShapeInfo};

/// The names of back-ends.
pub(super) const BACKENDS: &[&str] =
    if cfg!(feature = "gpu") { &["serial", "cpu", "gpu"] } else { &["serial", "cpu"] };

/// The back-end of a name.
pub(super) fn backend(name: &str, threads: usize) -> Option<BackendChoice> {
    match name {
        "serial" => Some(BackendChoice::Serial),
        "cpu" => Some(BackendChoice::Cpu(threads)),
        #[cfg(feature = "gpu")]
        "gpu" => Some(BackendChoice::Gpu(taut::backend::gpu::DeviceChoice::Best)),
        _ => None,
    }
}

/// What is described.
pub(super) struct Subject<'a> {
    pub(super) simulation: &'a Simulation,
    pub(super) drawing: &'a Drawing,
    pub(super) kinds: &'a [KindElements],
    pub(super) overrides: &'a [Override],
    pub(super) backend: BackendChoice,
    pub(super) generation: u32,
}

pub(super) fn scene(subject: &Subject<'_>) -> SceneInfo {
    let Subject { simulation, drawing, .. } = subject;
    let scene = simulation.scene();
    let bounds = drawing.bounds(simulation);
    let grabs = simulation.grabs().iter();
    SceneInfo {
        generation: subject.generation,
        name: scene.name.clone(),
        title: scene.file.title.clone(),
        particles: drawing.particles,
        points: drawing.points,
        bodies: bodies(drawing),
        shapes: shapes(drawing),
        kinds: subject.kinds.iter().map(kind).collect(),
        settings: settings(subject),
        choices: choices(),
        overrides: subject.overrides.iter().map(ToString::to_string).collect(),
        bounds: [bounds.min.to_array(), bounds.max.to_array()],
        camera: scene.file.camera.as_ref().map_or(
            Value::Null,
            |camera| json!({"eye": camera.eye, "target": camera.target, "fov": camera.fov}),
        ),
        grabs: grabs
            .map(|grab| GrabInfo {
                particle: grab.particle,
                target: grab.target,
                pinned: grab.is_firm,
            })
            .collect(),
    }
}

fn bodies(drawing: &Drawing) -> Vec<BodyInfo> {
    let bodies = drawing.bodies.iter().enumerate().map(|(number, body)| BodyInfo {
        name: body.name.clone(),
        first_particle: body.particles.start,
        particles: body.particles.len(),
        first_triangle: body.triangles.start,
        triangles: body.triangles.len(),
        color: number,
    });
    bodies.collect()
}

fn shapes(drawing: &Drawing) -> Vec<ShapeInfo> {
    let (mut first_vertex, mut first_triangle) = (0, 0);
    let shapes = drawing.shapes.iter().map(|shape| {
        let (vertices, triangles) = (shape.mesh.positions.len(), shape.mesh.triangles.len());
        let info = ShapeInfo {
            name: shape.name.clone(),
            first_vertex,
            vertices,
            first_triangle,
            triangles,
            moving: shape.is_moving,
        };
        first_vertex += vertices;
        first_triangle += triangles;
        info
    });
    shapes.collect()
}

fn kind(kind: &KindElements) -> KindInfo {
    KindInfo {
        kind: kind.kind.name(),
        elements: kind.len(),
        arity: kind.kind.arity(),
        phases: kind.phase_sizes.len(),
        blocks: kind.block_count,
        batches: kind.batch_count,
        lower_bound: kind.lower_bound,
        copies: kind.copies,
        sizes: kind.phase_sizes.clone(),
    }
}

fn settings(subject: &Subject<'_>) -> SettingsInfo {
    let file = &subject.simulation.scene().file;
    let (backend, threads) = match subject.backend {
        #[cfg(feature = "gpu")]
        BackendChoice::Gpu(_) | BackendChoice::OpenGpu(_) => ("gpu", 0),
        BackendChoice::Serial => (BACKENDS[0], 1),
        BackendChoice::Cpu(threads) => (BACKENDS[1], threads),
    };
    SettingsInfo {
        solver: json!(file.solver),
        partition: json!(file.partition.method),
        colors: file.partition.colors,
        iterations: file.iterations,
        substeps: file.substeps,
        dt: file.dt,
        gravity: file.gravity,
        wind: file.wind.as_ref().map(|wind| wind.velocity),
        relaxation: file.relaxation,
        threads,
        backend,
    }
}

fn choices() -> Choices {
    Choices {
        solver: json!([Solver::GaussSeidel, Solver::Jacobi, Solver::Hybrid, Solver::Phantom]),
        partition: json!([
            PartitionMethod::Coloring,
            PartitionMethod::Phantom,
            PartitionMethod::Cluster,
            PartitionMethod::Grid,
            PartitionMethod::Auto,
        ]),
        backend: json!(BACKENDS),
    }
}
