//! The constraints of the bodies, gathered by kind and response before they are scheduled.

use std::collections::BTreeMap;

use glam::Vec3;
use taut_partition::bundles::Bundles;

use super::geodesic::{Reachable, nearest_pins};
use super::{ModelError, Numbering};
use crate::constraint::{Kind, MISSING, Matter, NeoHookean, Response};
use crate::mesh::{Mesh, Topology};
use crate::scene::file::{ElasticMaterial, Elements, Material, Reach, StrainMaterial};

/// Constraints of one kind and one response, in the order in which the scene gives them.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    /// Particles, constraint after constraint.
    pub(super) particles: Vec<u32>,
    /// Constants: a list for each of the kind's constants.
    pub(super) constants: Vec<Vec<f32>>,
    /// Stiffness, compliance or spring constant: a list for each of the kind's rows.
    pub(super) softness: Vec<Vec<f32>>,
    /// Damping of springs; empty for other responses.
    pub(super) damping: Vec<f32>,
}

impl Pool {
    /// Some of the elements, of `arity` particles each.
    pub(super) fn select(&self, arity: usize, elements: &[usize]) -> Self {
        let of = |lists: &[Vec<f32>]| -> Vec<Vec<f32>> {
            lists
                .iter()
                .map(|list| elements.iter().map(|&element| list[element]).collect())
                .collect()
        };
        let ids = |&element: &usize| &self.particles[element * arity..(element + 1) * arity];
        Self {
            particles: elements.iter().flat_map(ids).copied().collect(),
            constants: of(&self.constants),
            softness: of(&self.softness),
            // Forces are never cut in two: only constraints have a solver to choose.
            damping: Vec::new(),
        }
    }

    /// Elements of one row and one constant in bundles, each with so many of them.
    pub(super) fn bundled(&self, members: usize, bundles: &Bundles) -> Self {
        let of = |list: &[f32], missing: f32| -> Vec<Vec<f32>> {
            let value = |&element: &u32| list.get(element as usize).copied().unwrap_or(missing);
            let row = |row| bundles.members.iter().skip(row).step_by(members).map(value).collect();
            (0..members).map(row).collect()
        };
        Self {
            particles: bundles.bodies.clone(),
            constants: of(&self.constants[0], MISSING),
            // Somebody's, so that what all share can be kept once; one that is missing has no error.
            softness: of(&self.softness[0], self.softness[0][0]),
            damping: Vec::new(),
        }
    }

    /// Adds an element.
    pub(super) fn push(&mut self, particles: &[u32], constants: &[f64], softness: &[f32]) {
        self.particles.extend_from_slice(particles);
        self.constants.resize_with(constants.len(), Vec::new);
        self.softness.resize_with(softness.len(), Vec::new);
        for (list, &constant) in self.constants.iter_mut().zip(constants) {
            list.push(constant as f32);
        }
        for (list, &softness) in self.softness.iter_mut().zip(softness) {
            list.push(softness);
        }
    }
}

/// All constraints of a scene. A sorted map: its order is the order of the groups in a sweep.
pub(super) type Pools = BTreeMap<(Kind, Response), Pool>;

/// The pool that constraints of this kind and response go to.
pub(super) fn pool(pools: &mut Pools, kind: Kind, response: Response) -> &mut Pool {
    pools.entry((kind, response)).or_default()
}

/// What a material means; a rigid connection where nothing is given.
pub(super) fn softness(stiffness: Option<f32>, compliance: Option<f32>) -> (Response, f32) {
    match (stiffness, compliance) {
        (Some(stiffness), _) => (Response::Stiffness, stiffness),
        (None, compliance) => (Response::Compliance, compliance.unwrap_or(0.0)),
    }
}

/// How the rows of an element answer, whatever its size.
#[derive(Clone, Copy)]
struct Answer {
    response: Response,
    /// Stiffness, compliance or spring constant of every row; rows beyond the last are not used.
    rows: [f64; 3],
    /// Damping of a spring.
    damping: f64,
    /// Whether `rows` and `damping` are moduli instead, which count for every m² or m³ of the
    /// element.
    per_size: bool,
}

impl Answer {
    fn of_material(material: &Material) -> Self {
        let (response, softness) = match material.spring {
            Some(spring) => (Response::Force, spring),
            None => softness(material.stiffness, material.compliance),
        };
        let damping = material.damping.into();
        Self { response, rows: [softness.into(); 3], damping, per_size: false }
    }

    fn of_strain(material: &StrainMaterial) -> Self {
        // A valid scene gives `stiffness` or all three of these.
        let moduli = [material.warp, material.weft, material.shear];
        let moduli = moduli.map(|modulus| modulus.unwrap_or(0.0).into());
        let (response, rows, per_size) = match material.stiffness {
            Some(stiffness) => (Response::Stiffness, [stiffness.into(); 3], false),
            None if material.forces => (Response::Force, moduli, true),
            None => (Response::Compliance, moduli, true),
        };
        Self { response, rows, damping: material.damping.into(), per_size }
    }

    fn of_solid(material: &ElasticMaterial) -> Self {
        let [shear, volume] = NeoHookean::moduli(material.young.into(), material.poisson.into());
        let rows = [shear, volume, 0.0];
        Self { response: Response::Compliance, rows, damping: 0.0, per_size: true }
    }

    /// Stiffness, compliance or spring constant of the first rows of an element of this size.
    fn softness(&self, rows: usize, size: f64) -> Vec<f32> {
        let of_row = |&row: &f64| match (self.per_size, self.response) {
            (true, Response::Force) => row * size,
            (true, _) => 1.0 / (row * size),
            (false, _) => row,
        };
        self.rows[..rows].iter().map(|row| of_row(row) as f32).collect()
    }

    /// Damping of an element of this size, if it is a spring.
    fn damping(&self, size: f64) -> Option<f32> {
        let damping = if self.per_size { self.damping * size } else { self.damping };
        (self.response == Response::Force).then_some(damping as f32)
    }
}

/// One copy of a body, as far as its constraints go.
pub(super) struct Piece<'a> {
    pub(super) body: &'a str,
    pub(super) first_particle: usize,
    /// Rest shape in the world.
    pub(super) rest: &'a [Vec3],
    pub(super) numbering: &'a Numbering,
    /// 0 for pinned particles.
    pub(super) inverse_masses: &'a [f32],
    /// Direction of the warp in the world.
    pub(super) warp: Vec3,
}

/// What the topology of a mesh offers to constraints.
pub(super) struct Sites {
    edges: Vec<[u32; 2]>,
    triangles: Vec<[u32; 3]>,
    hinges: Vec<[u32; 4]>,
    far_corners: Vec<[u32; 2]>,
    tetrahedra: Vec<[u32; 4]>,
}

impl Sites {
    pub(super) fn new(mesh: &Mesh, topology: Topology) -> Self {
        let far_corners = topology.hinges.iter().map(|&[_, _, c, d]| [c, d]).collect();
        Self {
            edges: topology.edges,
            triangles: mesh.triangles.clone(),
            hinges: topology.hinges,
            far_corners,
            tetrahedra: mesh.tetrahedra.clone(),
        }
    }

    /// Adds the constraints that `elements` asks for to the pools.
    pub(super) fn gather(
        &self,
        elements: &Elements,
        piece: &Piece<'_>,
        pools: &mut Pools,
    ) -> Result<(), ModelError> {
        let material = |material: &Option<Material>| material.as_ref().map(Answer::of_material);
        let strain = elements.strain.as_ref().map(Answer::of_strain);
        let solid = elements.neo_hookean.as_ref().map(Answer::of_solid);
        let cloth = piece.matter(0.0);
        let poisson = elements.neo_hookean.as_ref().map_or(0.0, |solid| solid.poisson);
        let elastic = piece.matter(1.0 - 2.0 * f64::from(poisson));
        let mut add = Adder { piece, pools };
        add.all(Kind::Stretch, material(&elements.stretch), &self.edges, &cloth)?;
        add.all(Kind::Bend, material(&elements.bend), &self.hinges, &cloth)?;
        let far_corners = &self.far_corners;
        add.all(Kind::BendDistance, material(&elements.bend_distance), far_corners, &cloth)?;
        add.all(Kind::Strain, strain, &self.triangles, &cloth)?;
        add.all(Kind::Volume, material(&elements.volume), &self.tetrahedra, &cloth)?;
        add.all(Kind::NeoHookean, solid, &self.tetrahedra, &elastic)?;
        if let Some(reach) = &elements.long_range {
            add.long_range(reach, &self.edges);
        }
        Ok(())
    }
}

impl Piece<'_> {
    fn matter(&self, swelling: f64) -> Matter {
        let [x, y, z] = self.warp.to_array().map(f64::from);
        Matter { warp: crate::math::Vec3::new(x, y, z), swelling }
    }

    /// Lengths, areas and volumes must be positive and large enough to divide by.
    fn check(
        &self,
        kind: Kind,
        site: &[u32],
        size: f64,
        constants: &[f64],
    ) -> Result<(), ModelError> {
        let usable = constants.iter().all(|&constant| (constant as f32).is_finite());
        if usable && (kind == Kind::Bend || size > f64::from(f32::MIN_POSITIVE)) {
            return Ok(());
        }
        Err(ModelError::DegenerateElement {
            body: self.body.to_owned(),
            kind: kind.name(),
            particles: site.iter().map(|&particle| self.numbering.vertex(particle)).collect(),
            value: size,
        })
    }
}

/// Adds the constraints of one copy of a body to the pools.
struct Adder<'a> {
    piece: &'a Piece<'a>,
    pools: &'a mut Pools,
}

impl Adder<'_> {
    /// A constraint on every site, if there is an answer to its error.
    fn all<const N: usize>(
        &mut self,
        kind: Kind,
        answer: Option<Answer>,
        sites: &[[u32; N]],
        matter: &Matter,
    ) -> Result<(), ModelError> {
        let Some(answer) = answer else { return Ok(()) };
        let pool = pool(self.pools, kind, answer.response);
        for site in sites {
            let rest = site.map(|particle| self.piece.rest[particle as usize]);
            let (size, constants) = (kind.size(&rest), kind.constants(&rest, matter));
            self.piece.check(kind, site, size, &constants)?;
            let moved = site.map(|particle| particle + self.piece.first_particle as u32);
            pool.push(&moved, &constants, &answer.softness(kind.rows(), size));
            pool.damping.extend(answer.damping(size));
        }
        Ok(())
    }

    /// Ties every particle to its nearest pins.
    fn long_range(&mut self, reach: &Reach, edges: &[[u32; 2]]) {
        let Piece { rest, inverse_masses, first_particle, .. } = *self.piece;
        let (response, softness) = softness(reach.stiffness, reach.compliance);
        let pool = pool(self.pools, Kind::LongRange, response);
        let is_pin = |particle: usize| inverse_masses[particle] == 0.0;
        for way in nearest_pins(rest, edges, is_pin, reach.anchors as usize) {
            let Reachable { particle, pin, distance } = way;
            let particles = [particle, pin].map(|id| id + first_particle as u32);
            pool.push(&particles, &[distance * f64::from(reach.slack)], &[softness]);
        }
    }
}
