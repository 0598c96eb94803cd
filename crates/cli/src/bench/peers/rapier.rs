//! rapier3d, whose soft bodies are colored constraints solved by a team of threads.
//!
//! Release build, `parallel`, a pool of its own with as many threads as taut has. SIMD is always on
//! in this version, but its soft constraints are solved one at a time. No surface colliders, no
//! sleeping, no tearing, no second sweep over strained constraints: a step is its solver and little
//! else. Bends are springs of the frequency that taut's compliance has too; edges and volumes are as
//! hard as its springs get. That gave the least residual of what was tried, except for cloth with
//! one substep, where springs of 120 Hz and damping ratio 5 leave a sixth less than rigid ones.

use rapier3d::prelude::*;

use super::{BEND_FREQUENCY, Case, Engine, Problem, SWEEPS};
use crate::failure::Failure;

/// Hz: far above the rate of steps, where rapier's springs are rigid.
const RIGID: f32 = 1e6;

pub(super) struct Rapier {
    world: PhysicsWorld,
    bodies: Vec<SoftBodyHandle>,
}

impl Rapier {
    pub(super) fn new(case: &Case, problem: &Problem, threads: usize) -> Result<Self, Failure> {
        let mut world = PhysicsWorld::new();
        world
            .configure_thread_pool(threads)
            .map_err(|error| Failure::Work(format!("rapier3d: {error}")))?;
        let parameters = &mut world.integration_parameters;
        parameters.dt = problem.dt;
        parameters.num_solver_iterations = case.substeps;
        parameters.num_internal_pgs_iterations = SWEEPS / case.substeps;
        parameters.soft_bodies.resweep_strain = f32::MAX;
        parameters.soft_bodies.max_extra_substeps = 0;
        world.gravity = Vector::from(problem.gravity);
        let rigid = SpringCoefficients::new(RIGID, 1.0);
        let material = SoftBodyMaterial {
            bend_softness: SpringCoefficients::new(BEND_FREQUENCY, 1.0),
            ..SoftBodyMaterial::uniform(rigid)
        };
        let bodies = problem.bodies.iter().map(|body| {
            let builder = SoftBodyBuilder::new(body.places.iter().map(|&x| x.into()).collect())
                .masses(body.masses.clone())
                .pinned_particles(body.pinned.iter().copied())
                .edges(body.edges.clone())
                .dihedrals(body.bends.clone())
                .cells(body.tetrahedra.clone())
                .cell_model(SoftBodyCellModel::Volume)
                .material(material)
                .additional_pgs_iterations(0)
                .no_surface_collider()
                .can_sleep(false);
            world.insert_soft_body(builder)
        });
        let bodies = bodies.collect();
        Ok(Self { world, bodies })
    }
}

impl Engine for Rapier {
    fn name(&self) -> &'static str {
        "rapier3d"
    }

    fn step(&mut self) -> Result<(), Failure> {
        self.world.step();
        Ok(())
    }

    fn places(&self) -> Vec<[f32; 3]> {
        let places = |&body: &SoftBodyHandle| self.world.soft_bodies[body].particle_positions();
        self.bodies.iter().flat_map(places).map(Into::into).collect()
    }
}
