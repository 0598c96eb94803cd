//! The constraints of the bodies, gathered by kind and response before they are scheduled.

use std::collections::BTreeMap;

use glam::Vec3;

use super::{ModelError, Numbering};
use crate::constraint::{Kind, Response};
use crate::mesh::{Mesh, Topology};
use crate::scene::file::{Elements, Material};

/// Constraints of one kind and one response, in the order in which the scene gives them.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    /// Particles, constraint after constraint.
    pub(super) particles: Vec<u32>,
    /// Constants: a list for each of the kind's constants.
    pub(super) constants: Vec<Vec<f32>>,
    /// Stiffness or compliance: a list for each of the kind's rows.
    pub(super) softness: Vec<Vec<f32>>,
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
pub(super) type Pools = BTreeMap<(Kind, bool), Pool>;

/// The pool that constraints of this kind and response go to.
pub(super) fn pool(pools: &mut Pools, kind: Kind, response: Response) -> &mut Pool {
    pools.entry((kind, response == Response::Compliance)).or_default()
}

/// What a material means; a rigid connection where nothing is given.
pub(super) fn softness(stiffness: Option<f32>, compliance: Option<f32>) -> (Response, f32) {
    match (stiffness, compliance) {
        (Some(stiffness), _) => (Response::Stiffness, stiffness),
        (None, compliance) => (Response::Compliance, compliance.unwrap_or(0.0)),
    }
}

/// One copy of a body, as far as its constraints go.
pub(super) struct Piece<'a> {
    pub(super) body: &'a str,
    pub(super) first_particle: usize,
    /// Rest shape in the world.
    pub(super) rest: &'a [Vec3],
    pub(super) numbering: &'a Numbering,
}

/// What the topology of a mesh offers to constraints.
pub(super) struct Sites {
    edges: Vec<[u32; 2]>,
    hinges: Vec<[u32; 4]>,
    far_corners: Vec<[u32; 2]>,
    tetrahedra: Vec<[u32; 4]>,
}

impl Sites {
    pub(super) fn new(mesh: &Mesh, topology: Topology) -> Self {
        let far_corners = topology.hinges.iter().map(|&[_, _, c, d]| [c, d]).collect();
        Self {
            edges: topology.edges,
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
        piece.add(pools, Kind::Stretch, elements.stretch.as_ref(), &self.edges)?;
        piece.add(pools, Kind::Bend, elements.bend.as_ref(), &self.hinges)?;
        piece.add(pools, Kind::BendDistance, elements.bend_distance.as_ref(), &self.far_corners)?;
        piece.add(pools, Kind::Volume, elements.volume.as_ref(), &self.tetrahedra)
    }
}

impl Piece<'_> {
    fn add<const N: usize>(
        &self,
        pools: &mut Pools,
        kind: Kind,
        material: Option<&Material>,
        sites: &[[u32; N]],
    ) -> Result<(), ModelError> {
        let Some(material) = material else { return Ok(()) };
        let (response, softness) = softness(material.stiffness, material.compliance);
        let pool = pool(pools, kind, response);
        for site in sites {
            let constants = kind.constants(&site.map(|particle| self.rest[particle as usize]));
            self.check(kind, site, &constants)?;
            let moved = site.map(|particle| particle + self.first_particle as u32);
            pool.push(&moved, &constants, &vec![softness; kind.rows()]);
        }
        Ok(())
    }

    /// Lengths and volumes must be positive and large enough to divide by.
    fn check(&self, kind: Kind, site: &[u32], constants: &[f64]) -> Result<(), ModelError> {
        let rest = constants[0];
        let usable =
            rest.is_finite() && (kind == Kind::Bend || rest > f64::from(f32::MIN_POSITIVE));
        if usable {
            return Ok(());
        }
        Err(ModelError::DegenerateElement {
            body: self.body.to_owned(),
            kind: kind.name(),
            particles: site.iter().map(|&particle| self.numbering.vertex(particle)).collect(),
            value: rest,
        })
    }
}
