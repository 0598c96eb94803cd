//! Contract: every kernel alone does to a state what its twin on the processor does, up to rounding.
//! These tests need a driver; the software one of mesa-vulkan-drivers will do.

use std::path::Path;
use std::sync::Arc;

use super::{AdapterInfo, AdapterKind, DeviceChoice, Gpu, Graphics};
use crate::backend::tests::{PIECES, SCENE, conditions};
use crate::backend::{Backend, Serial};
use crate::model::Model;
use crate::scene::Scene;
use crate::solver::{CopyPass, Hand, Hands, Job, Program, Stage, Substep, TouchPass};
use crate::state::State;

/// What a kernel may differ from its twin by, in units of the last place of the largest number in the
/// scene: multiplications may be fused with additions, and a division may be off by 2.5 units. As many
/// times as much for elements of several rows, which are solved as a block.
const UNITS: f32 = 4.0;

/// One of each form, all in the way of something.
const SHAPES: &str = r#"
    [[shapes]]
    name = "plane"
    geometry.plane = {}
    position = [0, -1, 0]
    rotation = [10, 0, 5]
    [[shapes]]
    name = "box"
    geometry.box = { size = [0.4, 0.3, 0.2] }
    position = [0.3, 0.1, 0.2]
    keyframes = [{ time = 0, position = [0.3, 0.1, 0.2] }, { time = 1, position = [1, 0, 0], rotation = [0, 90, 0] }]
    [[shapes]]
    name = "capsule"
    geometry.capsule = { radius = 0.1, length = 0.5 }
    position = [-0.2, 0.0, -0.3]
    [[shapes]]
    name = "tube"
    geometry.tube = { radius = 0.2, length = 0.3 }
    position = [0, 0.7, 0]
    [[shapes]]
    name = "torus"
    geometry.torus = { radius = 0.3, tube-radius = 0.15 }
    position = [0.1, 2.0, 0]
    [[shapes]]
    name = "mesh"
    geometry.mesh.source.sphere = { radius = 0.4, subdivisions = 6 }
    position = [0.2, -0.9, 0.1]
"#;

/// A step that is short enough for springs.
fn gentle(model: &Model) -> Substep {
    Substep { step: 1e-3, ..conditions(model) }
}

/// A model some steps into its motion.
fn in_motion(text: &str) -> (Model, State) {
    let scene = Scene::parse("test", text, Path::new("."), &[]).unwrap();
    let (model, mut state) = Model::build(&scene).unwrap();
    let program = Program::new(&model, 2, true);
    let substeps = [gentle(&model)];
    let job = Job { model: &model, program: &program, substeps: &substeps };
    for _ in 0..3 {
        let mut seconds = vec![0.0; program.stages.len()];
        Serial.step(job, &mut state, &mut seconds).unwrap();
    }
    assert!(state.positions.iter().flat_map(|p| &p[..3]).all(|x| x.abs() < 100.0), "diverged");
    (model, state)
}

/// Stages that make sense only together stay together; all others are alone.
fn parts(program: &Program) -> Vec<Vec<Stage>> {
    let mut parts: Vec<Vec<Stage>> = Vec::new();
    let mut contacts = Vec::new();
    for &stage in &program.stages {
        let before = parts.last().and_then(|part| part.last());
        let follows = match stage {
            Stage::Detect(_) | Stage::Touch(_) => {
                contacts.push(stage);
                continue;
            }
            Stage::Sweep { .. } => {
                let begins = [CopyPass::Split, CopyPass::Renew];
                matches!(before, Some(Stage::Copies { pass, .. }) if begins.contains(pass))
            }
            Stage::Copies { pass, .. } => pass != CopyPass::Split,
            Stage::Inflate { .. } => true,
            _ => false,
        };
        match parts.last_mut() {
            Some(part) if follows => part.push(stage),
            _ => parts.push(vec![stage]),
        }
    }
    if !contacts.is_empty() {
        parts.push(contacts);
    }
    parts
}

/// The largest difference between two arrays, in units of the last place of the largest number. Inverse
/// masses must not differ at all.
fn difference(a: &[[f32; 4]], b: &[[f32; 4]]) -> f32 {
    let (mut largest, mut worst) = (f32::MIN_POSITIVE, 0.0_f32);
    for (a, b) in a.iter().zip(b) {
        assert_eq!(a[3], b[3]);
        for axis in 0..3 {
            let difference = (a[axis] - b[axis]).abs();
            largest = largest.max(a[axis].abs());
            worst = if difference.is_nan() { f32::INFINITY } else { worst.max(difference) };
        }
    }
    worst / (largest * f32::EPSILON)
}

/// The most rows of an element that is solved, for each group that a kernel sweeps over.
fn rows(program: &Program) -> usize {
    let rows = |stage: &Stage| match stage {
        Stage::Sweep { kind, more, .. } => kind.rows() * (1 + more),
        // Two kinds of a row each.
        Stage::Pieces { iterations, .. } => 2 * *iterations as usize,
        Stage::Force { kind, .. } => kind.rows(),
        _ => 1,
    };
    program.stages.iter().map(rows).max().unwrap_or(1)
}

fn check_kernels(gpu: &Gpu, text: &str) {
    let (model, start) = in_motion(text);
    let substeps = [gentle(&model)];
    let whole = Program::new(&model, 2, true);
    for stages in parts(&whole) {
        let program = Program { stages };
        let job = Job { model: &model, program: &program, substeps: &substeps };
        let mut seconds = vec![0.0; program.stages.len()];
        let mut home = start.clone();
        let expected = Serial.step(job, &mut home, &mut seconds).unwrap();
        if program.stages.contains(&Stage::Touch(TouchPass::Correct)) {
            // Lists that are full have other partners on a device.
            assert!(expected.touching > 100 && expected.dropped == 0, "{expected:?}");
        }
        let mut away = start.clone();
        let mut graphics = Graphics::on(gpu.clone());
        graphics.load(job, &away).unwrap();
        graphics.step(job, &mut away, &mut seconds).unwrap();
        graphics.fetch(&mut away).unwrap();
        graphics.wait(&mut seconds).unwrap();
        let own = model.body_of.len() + model.targets.len();
        let differences = [
            difference(&home.positions[..own], &away.positions[..own]),
            difference(&home.previous, &away.previous),
            difference(&home.velocities, &away.velocities),
        ];
        let worst = differences.iter().fold(0.0_f32, |a, b| a.max(*b));
        let bound = UNITS * rows(&program) as f32;
        assert!(worst <= bound, "{text}\n{:?}: {differences:?}", program.stages);
        assert_eq!(graphics.findings(), expected, "{:?}", program.stages);
    }
}

#[test]
fn every_kernel_does_what_its_twin_does() {
    let gpu = Gpu::open(&DeviceChoice::Best).unwrap_or_else(|error| panic!("{error}"));
    for settings in [
        "chebyshev = 0.9",
        "partition.method = \"cluster\"\npartition.subset-size = 300",
        "partition.method = \"cluster\"\npartition.subset-size = 20000",
        "partition.method = \"grid\"",
        "solver = \"phantom\"",
        "solver = \"jacobi\"",
        "solver = \"hybrid\"",
    ] {
        check_kernels(&gpu, &format!("{settings}\n{SCENE}{SHAPES}"));
    }
}

#[test]
fn pieces_go_through_two_groups_in_one_dispatch() {
    let gpu = Gpu::open(&DeviceChoice::Best).unwrap_or_else(|error| panic!("{error}"));
    let text = r#"
        partition = { method = "cluster", subsets = 2 }
        [[bodies]]
        name = "block"
        kind = "soft"
        mesh.block = { size = [1, 1, 1], cells = [3, 3, 3] }
        repeat = { count = [2, 1, 1], spacing = [2, 0, 0] }
        deform = [1.1, 1, 0.9]
        elements.volume = { stiffness = 0.9 }
        elements.neo-hookean = { young = 1e5, poisson = 0.3 }
        elements.stretch = { compliance = 1e-6 }
    "#;
    check_kernels(&gpu, text);
    let (model, start) = in_motion(text);
    let (program, substeps) = (Program::new(&model, 2, true), [gentle(&model)]);
    assert_eq!(program.stages.len(), 3, "predict, pieces, velocity");
    let mut graphics = Graphics::on(gpu);
    graphics.load(Job { model: &model, program: &program, substeps: &substeps }, &start).unwrap();
    // More than a kernel has room for: two for three groups, and the look at the bounds.
    assert_eq!(graphics.dispatches(), Some(2 + 2 * 2 + 1));
}

/// Dispatches of a step with three iterations.
fn dispatches(gpu: &Gpu, text: &str) -> Option<usize> {
    let (model, start) = in_motion(text);
    let (program, substeps) = (Program::new(&model, 3, true), [gentle(&model)]);
    let mut graphics = Graphics::on(gpu.clone());
    graphics.load(Job { model: &model, program: &program, substeps: &substeps }, &start).unwrap();
    graphics.dispatches()
}

#[test]
fn pieces_go_through_all_sweeps_in_one_dispatch() {
    let gpu = Gpu::open(&DeviceChoice::Best).unwrap_or_else(|error| panic!("{error}"));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = cores.next_power_of_two().min(32);
    // As many pieces as are lanes of a register for each core, on drivers that compute there.
    let many = PIECES
        .replace("subsets = 2", &format!("subsets = {}", 8 * cores))
        .replace("count = [2, 1, 1]", &format!("count = [8, 1, {cores}]"))
        .replace("spacing = [9, 0, 0]", "spacing = [2, 0, 2]");
    let thick = "[[bodies]]\nname = \"thick\"\nkind = \"soft\"\n\
                 mesh.block = { size = [1, 1, 1], cells = [3, 3, 3] }\n\
                 transform.position = [0, 0.45, 40]\nthickness = 0.2\n\
                 repeat = { count = [2, 1, 1], spacing = [9, 0, 0] }\n\
                 elements.stretch = { compliance = 1e-6 }\nelements.volume = { stiffness = 0.9 }\n";
    let two_bodies = PIECES.replace("subsets = 2", "subsets = 4") + thick;
    let without_shapes = PIECES.split("[[shapes]]").next().unwrap_or_default();
    // Other devices have wider workgroups, one for each piece.
    let mut wide = gpu.clone();
    wide.info = Arc::new(AdapterInfo { kind: AdapterKind::Discrete, ..(*gpu.info).clone() });
    for text in [PIECES, &many, &two_bodies, without_shapes] {
        for gpu in [&gpu, &wide] {
            check_kernels(gpu, text);
            assert_eq!(dispatches(gpu, text), Some(3 + 1));
        }
    }
    // A device that gives kernels few arrays goes sweep by sweep.
    let mut small = gpu.clone();
    small.info = Arc::new(AdapterInfo { storage_bindings: 8, ..(*gpu.info).clone() });
    check_kernels(&small, PIECES);
    assert_eq!(dispatches(&small, PIECES), Some(2 + 3 * 2 + 1));
    assert_eq!(dispatches(&small, without_shapes), Some(3 + 1));
}

#[test]
fn hands_pull_as_they_do_at_home() {
    let gpu = Gpu::open(&DeviceChoice::Best).unwrap_or_else(|error| panic!("{error}"));
    let (model, start) = in_motion(SCENE);
    let (program, substeps) = (Program { stages: vec![Stage::Predict] }, [gentle(&model)]);
    let job = Job { model: &model, program: &program, substeps: &substeps };
    let (mut seconds, far) = (vec![0.0], [1e4, -2e4, 0.0]);
    let mut movable = (0..model.body_of.len()).filter(|&own| start.positions[own][3] != 0.0);
    let hands = [([0.1, 0.2, 0.3], false), ([0.3, 0.2, 0.1], true), (far, false), (far, true)];
    let all: Vec<Hand> = hands
        .iter()
        .map(|&(target, is_firm)| {
            let particle = movable.next().unwrap();
            let inverse_mass = start.positions[particle][3];
            Hand { particle, target, is_firm, inverse_mass }
        })
        .collect();
    for gravity in [Some([0.0, -9.81, 0.1]), None] {
        let hands = Hands { all: all.clone(), ..Hands::none(0.01, 3, model.size, gravity) };
        let mut home = start.clone();
        for hand in &hands.all {
            let (position, velocity) =
                (&mut home.positions[hand.particle], &mut home.velocities[hand.particle]);
            hands.grab(hand, position, velocity);
            assert_ne!(*position, start.positions[hand.particle], "it is heavier at least");
        }
        Serial.step(job, &mut home, &mut seconds).unwrap();
        for hand in &hands.all {
            assert_eq!(home.previous[hand.particle][3], hand.heavy(), "as long as the step lasts");
            home.positions[hand.particle][3] = hand.inverse_mass;
        }
        let (mut graphics, mut away) = (Graphics::on(gpu.clone()), start.clone());
        graphics.load(job, &away).unwrap();
        assert!(graphics.grab(hands).is_none(), "the device pulls");
        graphics.step(job, &mut away, &mut seconds).unwrap();
        graphics.fetch(&mut away).unwrap();
        let own = model.body_of.len() + model.targets.len();
        let differences = [
            difference(&home.positions[..own], &away.positions[..own]),
            difference(&home.previous, &away.previous),
            difference(&home.velocities, &away.velocities),
        ];
        assert!(differences.iter().all(|&worst| worst <= UNITS), "{differences:?}");
        assert!(difference(&start.positions[..own], &away.positions[..own]) > 1e3);
    }
}

/// A frame arrives when the host hears of it, which it does after it has submitted the next step.
#[test]
fn the_next_step_is_submitted_before_a_frame_has_arrived() {
    let gpu = Gpu::open(&DeviceChoice::Best).unwrap_or_else(|error| panic!("{error}"));
    let (model, start) = in_motion(SCENE);
    let (program, substeps) = (Program::new(&model, 2, true), [gentle(&model)]);
    let job = Job { model: &model, program: &program, substeps: &substeps };
    let mut seconds = vec![0.0; program.stages.len()];
    let (mut graphics, mut frame) = (Graphics::on(gpu.clone()), start.clone());
    graphics.load(job, &start).unwrap();
    graphics.step(job, &mut frame, &mut seconds).unwrap();
    assert!(graphics.request(&frame).unwrap());
    assert_eq!(graphics.progress(), Some((1, false)));
    graphics.step(job, &mut frame, &mut seconds).unwrap();
    assert_eq!(graphics.progress().map(|(steps, _)| steps), Some(2), "nobody waited");
    assert_eq!(frame.positions, start.positions);
    assert!(graphics.wait(&mut seconds).unwrap().is_some());
    assert!(graphics.receive(&mut frame).unwrap(), "whoever waits for a step has its frame");

    // It is the state after the first step.
    let (mut other, mut expected) = (Graphics::on(gpu), start.clone());
    other.load(job, &start).unwrap();
    other.step(job, &mut expected, &mut seconds).unwrap();
    other.fetch(&mut expected).unwrap();
    assert_eq!(frame.positions, expected.positions);
    assert_eq!(frame.velocities, expected.velocities);
    assert_ne!(frame.positions, start.positions);
    graphics.fetch(&mut frame).unwrap();
    assert_ne!(frame.positions, expected.positions, "the state after the second step");
}
