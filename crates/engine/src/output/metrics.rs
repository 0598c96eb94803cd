//! Figures of a state: residuals, energies, momentum, penetration, and the hash that pins it.
//!
//! Sums run over particles in their order and in double precision: the same on every back-end.

use crate::collide::Obstacle;
use crate::constraint::{BALLOON, Residual};
use crate::math::Vec3;
use crate::simulation::Simulation;

/// Energies of all particles, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Σ ½ m v².
    pub kinetic: f64,
    /// −Σ m g·x: zero at the origin.
    pub potential: f64,
}

/// How deep particles are in shapes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Penetration {
    /// Largest depth below a surface, m; 0 where no particle is inside a shape.
    pub depth: f64,
}

impl Simulation {
    /// By name, how far each kind of constraint is from being satisfied, in the order of a sweep.
    pub fn residuals(&self) -> Vec<(&'static str, Residual)> {
        // Before anybody looks at the state, which would bring it home.
        let measured = self.residuals_of_groups();
        let balloons = self.model().balloons.iter();
        let balloons = balloons.map(|balloon| (BALLOON, balloon.residual(&self.state())));
        let groups = self.model().groups.iter().zip(measured);
        let groups = groups.map(|(group, residual)| (group.kind.name(), residual));
        let mut residuals: Vec<(&'static str, Residual)> = Vec::new();
        for (kind, residual) in balloons.chain(groups) {
            match residuals.last_mut() {
                Some((last, total)) if *last == kind => *total = total.merge(residual),
                _ => residuals.push((kind, residual)),
            }
        }
        residuals
    }

    /// Kinetic and potential energy. Pinned particles have none.
    pub fn energy(&self) -> Energy {
        let [gx, gy, gz] = self.settings().gravity.map(f64::from);
        let mut energy = Energy::default();
        for ([x, y, z, w], [vx, vy, vz, _]) in self.positions().into_iter().zip(self.velocities()) {
            if w != 0.0 {
                let mass = 1.0 / f64::from(w);
                let [x, y, z, vx, vy, vz] = [x, y, z, vx, vy, vz].map(f64::from);
                energy.kinetic += 0.5 * mass * (vx * vx + vy * vy + vz * vz);
                energy.potential -= mass * (gx * x + gy * y + gz * z);
            }
        }
        energy
    }

    /// Σ m v, kg·m/s.
    pub fn momentum(&self) -> [f64; 3] {
        let mut total = [0.0; 3];
        for ([_, _, _, w], velocity) in self.positions().into_iter().zip(self.velocities()) {
            if w != 0.0 {
                for (sum, v) in total.iter_mut().zip(velocity) {
                    *sum += f64::from(v) / f64::from(w);
                }
            }
        }
        total
    }

    /// How deep movable particles are inside shapes now (thickness not counted).
    pub fn penetration(&self) -> Penetration {
        let obstacles = self.obstacles();
        let mut depth = 0.0_f32;
        for [x, y, z, w] in self.positions() {
            if w != 0.0 {
                for obstacle in &obstacles {
                    depth = depth.max(-obstacle.distance(Vec3::new(x, y, z)));
                }
            }
        }
        Penetration { depth: depth.into() }
    }

    /// The shapes where they stand now.
    pub(super) fn obstacles(&self) -> Vec<Obstacle<'_>> {
        let shapes = self.model().shapes.iter();
        let obstacles = shapes.map(|shape| Obstacle {
            form: &shape.form,
            friction: shape.friction,
            pose: shape.motion.at(self.time()),
            before: None,
        });
        obstacles.collect()
    }

    /// Smallest and largest coordinates of all particles, m.
    pub fn extent(&self) -> [[f32; 3]; 2] {
        let mut extent = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
        for particle in self.positions() {
            for axis in 0..3 {
                extent[0][axis] = extent[0][axis].min(particle[axis]);
                extent[1][axis] = extent[1][axis].max(particle[axis]);
            }
        }
        extent
    }

    /// A number that changes with any bit of any particle's place: FNV-1a over the coordinates in
    /// the scene's order, as little-endian bytes.
    pub fn state_hash(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for particle in self.positions() {
            for byte in particle[..3].iter().flat_map(|x| x.to_le_bytes()) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
        hash
    }
}
