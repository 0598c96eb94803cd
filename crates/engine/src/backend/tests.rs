//! Contract: between two waits, no worker touches what another writes. The stages run on a recorder
//! in place of the shared slices, worker after worker, and every access is held against those of
//! the other workers since the last wait. What passes here may run without locks.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::ops::Range;
use std::path::Path;

use taut_partition::{Elements, Parts, Schedule};

use super::{Backend, Multicore, Serial};
use crate::constraint::{Copies, Group};
use crate::math::{F32x8, Work};
use crate::model::Model;
use crate::scene::Scene;
use crate::solver::{CopyPass, Job, Placed, Program, Share, Stage, Substep, Team, run};
use crate::state::{Access, ByIndex, Open, Storage};

/// Who read and who wrote a slot since the last wait.
#[derive(Clone, Copy, Default)]
struct Touched {
    round: usize,
    reader: Option<usize>,
    many_readers: bool,
    writer: Option<usize>,
}

/// What all recorders share: the present round and worker, and the clashes so far.
#[derive(Default)]
struct Log {
    now: Cell<(usize, usize)>,
    conflicts: Cell<usize>,
}

/// A slice that records who touches what.
struct Recorder<'a, T> {
    values: RefCell<&'a mut [T]>,
    touched: RefCell<Vec<Touched>>,
    log: &'a Log,
}

impl<T> Recorder<'_, T> {
    /// Notes an access of the present worker in the present round.
    fn touch(&self, index: usize, writes: bool) {
        let (round, worker) = self.log.now.get();
        let touched = &mut self.touched.borrow_mut()[index];
        if touched.round != round {
            *touched = Touched { round, ..Touched::default() };
        }
        let other = |who: Option<usize>| who.is_some_and(|who| who != worker);
        let clash =
            other(touched.writer) || (writes && (other(touched.reader) || touched.many_readers));
        self.log.conflicts.set(self.log.conflicts.get() + usize::from(clash));
        if writes {
            touched.writer = Some(worker);
        } else {
            touched.many_readers |= other(touched.reader);
            touched.reader = Some(worker);
        }
    }
}

/// Numbers that are recorded.
struct OnRecord<'a>(PhantomData<&'a ()>);

impl<'a> Storage for OnRecord<'a> {
    type Of<T: Copy + 'static> = &'a Recorder<'a, T>;
}

impl<'a> Open<'a, OnRecord<'a>> for &'a Log {
    fn open<T: Copy + 'static>(&self, array: &'a mut [T]) -> &'a Recorder<'a, T> {
        // A test may forget its memory: a recorder must live as long as the view of it.
        Box::leak(Box::new(Recorder {
            touched: RefCell::new(vec![Touched::default(); array.len()]),
            values: RefCell::new(array),
            log: self,
        }))
    }
}

impl<T: Copy> Access<T> for &Recorder<'_, T> {
    type Bodies<'s, const N: usize> = ByIndex<'s, Self, N>;

    fn bodies<'s, const N: usize>(&self, schedule: &'s Schedule) -> ByIndex<'s, Self, N> {
        ByIndex::new(self, schedule)
    }
    fn get(&self, index: usize) -> T {
        self.touch(index, false);
        self.values.borrow()[index]
    }
    fn set(&self, index: usize, value: T) {
        self.touch(index, true);
        self.values.borrow_mut()[index] = value;
    }
}

/// A worker that counts its waits, so that workers who run one after another can be compared as if
/// they had run at the same time.
struct Witness<'a> {
    share: Share,
    log: &'a Log,
    round: Cell<usize>,
    first_round: usize,
    /// `false`: as if there were no barrier between the phases of a sweep.
    waits: bool,
}

impl Team for Witness<'_> {
    fn compute<W: Work>(&self, work: W) -> W::Output {
        work.run::<F32x8>()
    }
    fn share(&self) -> Share {
        self.share
    }
    fn deal(&self, count: usize, mut work: impl FnMut(Range<usize>)) {
        // By turns: who does what must not matter.
        let Share { worker, workers } = self.share;
        (worker..count).step_by(workers).for_each(|thing| work(thing..thing + 1));
    }
    fn wait(&self) {
        if self.waits {
            self.round.set(self.round.get() + 1);
            self.log.now.set((self.first_round + self.round.get(), self.share.worker));
        }
    }
    fn finished(&mut self, _: usize) {}
}

/// Runs every stage of a scene's program with several workers, one after another, and returns the
/// number of clashes.
fn clashes(text: &str, workers: usize, waits: bool) -> usize {
    let scene = Scene::parse("test", text, Path::new("."), &[]).unwrap();
    let (model, mut state) = Model::build(&scene).unwrap();
    let program = Program::new(&model, 2, true);
    let log = Log::default();
    let view = state.view::<OnRecord<'_>>(&&log);
    let substep = conditions(&model);
    let mut first_round = 1;
    // Stage by stage: a phase of a sweep depends on the phase before, which all must have finished.
    // Workers that run a whole sweep one after another see other values than they would in
    // parallel, but touch the same particles, and that is what counts here.
    for stage in &program.stages {
        let one = Program { stages: vec![*stage] };
        let job = Job { model: &model, program: &one, substeps: std::slice::from_ref(&substep) };
        let mut rounds = 0;
        for worker in 0..workers {
            log.now.set((first_round, worker));
            let mut witness = Witness {
                share: Share { worker, workers },
                log: &log,
                round: Cell::new(0),
                first_round,
                waits,
            };
            run(job, &view, &mut witness);
            rounds = rounds.max(witness.round.get());
        }
        first_round += rounds + 1;
    }
    log.conflicts.get()
}

/// A windy hundredth of a second.
pub(super) fn conditions(model: &Model) -> Substep {
    Substep {
        step: 0.01,
        longest_way: f32::MAX,
        gravity: [0.0, -9.81, 0.0],
        wind: [3.0, 0.0, 1.0],
        damping: vec![0.99; model.bodies.len()],
        placed: model
            .shapes
            .iter()
            .map(|shape| Placed { pose: shape.motion.at(0.01), before: Some(shape.motion.at(0.0)) })
            .collect(),
    }
}

/// A scene with every stage there is.
pub(super) const SCENE: &str = r#"
    wind.velocity = [5, 0, 0]
    particle-contacts.radius = 0.02
    [[bodies]]
    name = "cloth"
    mesh.grid = { particles = [40, 40], size = [1, 1], diagonals = "random" }
    pins = [{ group = "left" }]
    elements.stretch = { compliance = 1e-6 }
    elements.bend = { stiffness = 0.2 }
    [[bodies]]
    name = "block"
    kind = "soft"
    mesh.block = { size = [1, 1, 1], cells = [6, 6, 6] }
    transform.position = [0, -0.52, 0]
    elements.stretch = { stiffness = 0.5 }
    elements.volume = { stiffness = 0.5 }
    [[bodies]]
    name = "balloon"
    mesh.sphere = { radius = 0.3, subdivisions = 10 }
    transform.position = [0, 0.8, 0]
    elements.strain = { warp = 100, weft = 50, shear = 20 }
    elements.bend = { spring = 1e-4, damping = 1e-6 }
    elements.bend-distance = { spring = 10 }
    elements.balloon = { compliance = 1e-3, pressure = 1.5 }
    [[bodies]]
    name = "rubber"
    kind = "soft"
    mesh.block = { size = [1, 1, 1], cells = [5, 5, 5] }
    transform.position = [0, 2, 0]
    pins = [{ group = "top" }]
    elements.neo-hookean = { young = 1e4, poisson = 0.3 }
    elements.long-range = { compliance = 0, anchors = 3 }
    [[bodies]]
    name = "springs"
    mesh.grid = { particles = [20, 20], size = [1, 1] }
    pins = [{ group = "left" }]
    elements.stretch = { spring = 10, damping = 0.01 }
    elements.strain = { warp = 100, weft = 50, shear = 20, forces = true }
    [[shapes]]
    name = "ball"
    geometry.sphere = { radius = 0.3 }
    [[attachments]]
    body = "cloth"
    particles.group = "right"
    to.shape = { name = "ball" }
    compliance = 0
"#;

/// One kind of constraints and nothing else: sweeps follow each other.
const CLOTH: &str = r#"
    [[bodies]]
    name = "cloth"
    mesh.grid = { particles = [30, 30], size = [1, 1], diagonals = "random" }
    deform = [1.1, 1, 0.9]
    elements.stretch = { stiffness = 0.9 }
"#;

#[test]
fn renewing_is_merging_and_splitting() {
    for settings in ["solver = \"phantom\"", "solver = \"jacobi\"", "partition.colors = 2"] {
        let text = format!("{settings}\npartition.method = \"phantom\"\n{CLOTH}");
        let scene = Scene::parse("test", &text, Path::new("."), &[]).unwrap();
        let (model, start) = Model::build(&scene).unwrap();
        let renewed = Program::new(&model, 4, true);
        let one_by_one = |&stage: &Stage| match stage {
            Stage::Copies { group, pass: CopyPass::Renew } => [CopyPass::Merge, CopyPass::Split]
                .map(|pass| Stage::Copies { group, pass })
                .to_vec(),
            stage => vec![stage],
        };
        let merged = Program { stages: renewed.stages.iter().flat_map(one_by_one).collect() };
        assert_eq!(merged.stages.len(), renewed.stages.len() + 3, "{settings}");
        let substeps = [conditions(&model)];
        let after = |program: &Program, backend: &mut dyn Backend| {
            let mut state = start.clone();
            let job = Job { model: &model, program, substeps: &substeps };
            backend.step(job, &mut state, &mut vec![0.0; program.stages.len()]).unwrap();
            state.positions[..model.body_of.len()].to_vec()
        };
        let expected = after(&merged, &mut Serial);
        assert_ne!(expected, start.positions[..model.body_of.len()]);
        assert_eq!(after(&renewed, &mut Serial), expected, "{settings}");
        let mut lanes = Multicore::new(2).unwrap();
        assert_eq!(after(&renewed, &mut lanes), expected, "{settings}");
    }
}

#[test]
fn tiles_give_what_phases_give() {
    let text = format!("solver = \"phantom\"\npartition.subset-size = 300\n{CLOTH}");
    let scene = Scene::parse("test", &text, Path::new("."), &[]).unwrap();
    let (mut model, start) = Model::build(&scene).unwrap();
    assert!(model.groups[0].schedule.has_columns() && model.groups[0].schedule.blocks(0).len() > 4);
    let shared = model.groups[0].copies.shared().len();
    assert!(0 < shared && shared < model.groups[0].copies.len() / 2);
    let substeps = [conditions(&model)];
    let after = |model: &Model, backend: &mut dyn Backend| {
        let program = Program::new(model, 4, true);
        let mut state = start.clone();
        let job = Job { model, program: &program, substeps: &substeps };
        backend.step(job, &mut state, &mut vec![0.0; program.stages.len()]).unwrap();
        (program.dispatches(model), state.positions[..model.body_of.len()].to_vec())
    };
    let (few, on_one) = after(&model, &mut Serial);
    let (_, on_two) = after(&model, &mut Multicore::new(2).unwrap());
    forget_tiles(&mut model.groups[0], &start.positions[..model.body_of.len()]);
    let (many, expected) = after(&model, &mut Serial);
    assert_eq!(few + 4 * (model.groups[0].schedule.phase_count() - 1), many);
    assert_ne!(expected, start.positions[..model.body_of.len()]);
    assert_eq!(on_one, expected);
    assert_eq!(on_two, expected);
}

/// The same schedule and copies, phase after phase.
fn forget_tiles(group: &mut Group, particles: &[[f32; 4]]) {
    let schedule = &group.schedule;
    let ids = schedule.bodies::<2>().unwrap().as_flattened();
    let order = (0..schedule.len() as u32).collect();
    let parts = Parts { order, ..schedule.parts().clone() };
    let elements = Elements::flat(2, ids, schedule.body_count()).unwrap();
    let mut owners = Vec::new();
    for &(particle, end) in &group.copies.ends {
        owners.resize((end - group.copies.first) as usize, particle);
    }
    group.schedule = Schedule::new(&elements, parts).unwrap();
    group.copies = Copies::new(&owners, Vec::new(), particles, |count| count as f32);
}

/// Two blocks far from each other, which are the clusters of both kinds. One falls on a floor, the other is
/// pushed by a ball, and both hang by some particles.
pub(super) const PIECES: &str = r#"
    partition = { method = "cluster", subsets = 2 }
    [[bodies]]
    name = "block"
    kind = "soft"
    mesh.block = { size = [1, 1, 1], cells = [3, 3, 3] }
    repeat = { count = [2, 1, 1], spacing = [9, 0, 0] }
    transform.position = [0, 0.45, 0]
    velocity = [0.3, -1, 0.2]
    thickness = 0.01
    deform = [1.1, 1, 0.9]
    pins = [{ region.box = { min = [-1, 0.9, 0.4], max = [1e4, 1, 1] } }]
    elements.stretch = { compliance = 1e-6 }
    elements.volume = { stiffness = 0.9 }
    [[shapes]]
    name = "floor"
    geometry.plane = {}
    friction = 0.4
    [[shapes]]
    name = "ball"
    geometry.sphere = { radius = 0.5 }
    friction = 0.7
    keyframes = [{ time = 0, position = [8.4, 0.5, 0] }, { time = 1, position = [11, 0.5, 0.5] }]
"#;

/// Both ways to write a program down: pieces one after another, or sweep after sweep over all of them.
#[test]
fn pieces_go_through_all_sweeps_at_once() {
    let scene = Scene::parse("test", PIECES, Path::new("."), &[]).unwrap();
    let (mut model, start) = Model::build(&scene).unwrap();
    assert!(start.positions.iter().any(|particle| particle[3] == 0.0));
    let after = |model: &Model, backend: &mut dyn Backend| {
        let program = Program::new(model, 4, true);
        let substeps = [conditions(model), conditions(model)];
        let mut state = start.clone();
        let job = Job { model, program: &program, substeps: &substeps };
        let found = backend.step(job, &mut state, &mut vec![0.0; program.stages.len()]).unwrap();
        (program.dispatches(model), state.positions.to_vec(), state.velocities, found)
    };
    let mut backends: Vec<Box<dyn Backend>> = vec![Box::new(Serial)];
    backends.extend([1, 2, 3].map(|threads| Box::new(Multicore::new(threads).unwrap()) as _));
    let mut at_once: Vec<_> =
        backends.iter_mut().map(|backend| after(&model, backend.as_mut())).collect();

    model.pieces = None;
    let (many, places, velocities, found) = after(&model, &mut Serial);
    model.groups[1].goes_along = false;
    let (most, ..) = after(&model, &mut Serial);
    let expected = (3, places, velocities, found);
    assert_eq!([many, most], [2 + 4 * 2, 2 + 4 * 3], "with contacts in every iteration");
    assert!(at_once.iter().all(|one| *one == expected));
    let (_, places, _, found) = at_once.swap_remove(0);
    assert!(found.contacts > 10, "{found:?}");
    assert_ne!(places, start.positions[..]);
    for workers in [2, 3, 8] {
        assert_eq!(clashes(PIECES, workers, true), 0, "{workers} workers");
    }
}

#[test]
fn no_stage_touches_what_another_worker_writes() {
    for workers in [2, 3, 8] {
        let scene = format!("solver = \"phantom\"\n{CLOTH}");
        assert_eq!(clashes(&scene, workers, true), 0, "cloth, {workers} workers");
        for of_all in [CLOTH, SCENE] {
            let scene = format!("solver = \"phantom\"\npartition.subset-size = 200\n{of_all}");
            assert_eq!(clashes(&scene, workers, true), 0, "tiles, {workers} workers");
        }
    }
    for method in ["coloring", "phantom", "cluster", "grid"] {
        for workers in [2, 3, 8] {
            let scene = format!("partition.method = \"{method}\"\n{SCENE}");
            assert_eq!(clashes(&scene, workers, true), 0, "{method}, {workers} workers");
        }
    }
    for solver in ["jacobi", "hybrid", "phantom"] {
        for workers in [2, 3, 8] {
            let scene = format!("solver = \"{solver}\"\nchebyshev = 0.9\n{SCENE}");
            assert_eq!(clashes(&scene, workers, true), 0, "{solver}, {workers} workers");
        }
    }
}

#[test]
fn the_recorder_notices_a_missing_barrier() {
    assert!(clashes(SCENE, 2, false) > 0);
}
