//! Who is solved when: the elements of each kind with their phases, blocks and batches.

use taut_partition::{Elements, Incidence};

use crate::constraint::{Group, Kind};
use crate::model::Model;

/// In place of a corner that is no particle of a body, but what an attachment is tied to.
pub const NO_PARTICLE: u32 = u32::MAX;

/// The elements of one kind, one after another in the order of the scene. A kind that is solved in
/// several goes (stiff elements and compliant ones, colors and the rest of a hybrid) has these one
/// after another, and phases, blocks and batches are counted through them.
#[derive(Clone, Debug)]
pub struct KindElements {
    /// The kind.
    pub kind: Kind,
    /// The particles of the elements in the scene's order, as many for each as the kind has, or
    /// [`NO_PARTICLE`]. Copies of particles are named by their originals.
    pub particles: Vec<u32>,
    /// The phase of each element.
    pub phases: Vec<u32>,
    /// The block of each element.
    pub blocks: Vec<u32>,
    /// The batch of each element, counted within its block.
    pub batches: Vec<u32>,
    /// How many elements each phase has.
    pub phase_sizes: Vec<usize>,
    /// How many blocks there are.
    pub block_count: usize,
    /// How many batches there are.
    pub batch_count: usize,
    /// The most elements that one particle has: no coloring without copies has fewer colors.
    pub lower_bound: usize,
    /// Copies of particles that phantoms make.
    pub copies: usize,
}

impl KindElements {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.phases.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.phases.is_empty()
    }

    fn new(kind: Kind) -> Self {
        Self {
            kind,
            particles: Vec::new(),
            phases: Vec::new(),
            blocks: Vec::new(),
            batches: Vec::new(),
            phase_sizes: Vec::new(),
            block_count: 0,
            batch_count: 0,
            lower_bound: 0,
            copies: 0,
        }
    }

    /// Schedules list elements in the order of execution: back to that of the scene.
    fn add(&mut self, group: &Group, scene_ids: &[u32]) {
        let schedule = &group.schedule;
        let (first_phase, first_block) = (self.phase_sizes.len(), self.block_count as u32);
        let (start, arity) = (self.len(), self.kind.arity());
        self.phases.resize(start + group.count, 0);
        self.blocks.resize(start + group.count, 0);
        self.batches.resize(start + group.count, 0);
        self.particles.resize((start + group.count) * arity, NO_PARTICLE);
        self.phase_sizes.resize(first_phase + schedule.phase_count(), 0);
        let placements = schedule.placements();
        let owners = owners(group);
        let copies = group.copies.first as usize;
        for placed in group.constraints() {
            let placement = placements[schedule.order()[placed.place] as usize];
            let element = start + placed.constraint;
            let phase = first_phase + placement.phase as usize;
            let first_batch = schedule.batches(placement.block as usize).start as u32;
            self.phases[element] = phase as u32;
            self.phase_sizes[phase] += 1;
            self.blocks[element] = first_block + placement.block;
            self.batches[element] = placement.batch - first_batch;
            for (corner, id) in group.ids(placed).enumerate() {
                let copy = (id as usize).checked_sub(copies).and_then(|copy| owners.get(copy));
                let particle = copy.copied().unwrap_or(id);
                let named = scene_ids.get(particle as usize).copied().unwrap_or(NO_PARTICLE);
                self.particles[element * arity + corner] = named;
            }
        }
        self.block_count += schedule.block_count();
        self.batch_count += schedule.batch_count();
        self.copies += group.copies.count();
    }

    /// The highest valence of a particle that can move.
    fn bound(&mut self, fixed: &[bool]) {
        let arity = self.kind.arity();
        let known = |id: u32| if id == NO_PARTICLE { fixed.len() as u32 - 1 } else { id };
        let bodies: Vec<u32> = self.particles.iter().map(|&id| known(id)).collect();
        let elements = Elements::flat(arity, &bodies, fixed.len())
            .and_then(|elements| elements.with_fixed(fixed));
        self.lower_bound = elements.map_or(0, |elements| Incidence::new(&elements).max_valence());
    }
}

/// The particle of each copy that a group makes.
fn owners(group: &Group) -> Vec<u32> {
    let mut owners = Vec::with_capacity(group.copies.count());
    for &(particle, end) in &group.copies.ends {
        owners.resize((end - group.copies.first) as usize, particle);
    }
    owners
}

/// The elements of every kind, in the order of a sweep. Balloons are in no schedule and not listed.
#[must_use]
pub fn elements_by_kind(model: &Model) -> Vec<KindElements> {
    let scene_ids: Vec<u32> = (0..model.body_of.len())
        .map(|particle| {
            let body = &model.bodies[model.body_of[particle] as usize];
            (body.particles.start + model.vertex(particle)) as u32
        })
        .collect();
    let mut kinds: Vec<KindElements> = Vec::new();
    for group in &model.groups {
        if kinds.last().is_none_or(|last| last.kind != group.kind) {
            kinds.push(KindElements::new(group.kind));
        }
        if let Some(kind) = kinds.last_mut() {
            kind.add(group, &scene_ids);
        }
    }
    // One more, which stands for everything that is no particle of a body.
    let mut fixed = vec![false; scene_ids.len() + 1];
    fixed[scene_ids.len()] = true;
    for &id in &model.fixed {
        if let Some(&particle) = scene_ids.get(id as usize) {
            fixed[particle as usize] = true;
        }
    }
    for kind in &mut kinds {
        kind.bound(&fixed);
    }
    kinds
}

#[cfg(test)]
mod tests {
    //! Contract: every element is listed once, with the particles that the scene gives it, whatever
    //! the solver splits and reorders.

    use std::collections::BTreeSet;

    use super::*;
    use crate::model::ConstraintLists;
    use crate::scene::Scene;

    fn listed(sets: &[&str]) -> (Vec<KindElements>, ConstraintLists) {
        let mut overrides = vec!["bodies.0.mesh.grid.particles=[9, 7]".parse().unwrap()];
        overrides.extend(sets.iter().map(|set| set.parse().unwrap()));
        let scene = Scene::find("hanging-cloth", &overrides).unwrap();
        let (model, _) = Model::build(&scene).unwrap();
        (elements_by_kind(&model), ConstraintLists::of(&scene).unwrap())
    }

    #[test]
    fn every_element_is_listed_with_its_particles() {
        for sets in [
            &[][..],
            &["solver=phantom"],
            &["solver=jacobi"],
            &["solver=hybrid"],
            &["partition.method=cluster", "partition.subset-size=20"],
        ] {
            let (kinds, lists) = listed(sets);
            for (kind, ids) in &lists.lists {
                let own = kinds.iter().find(|own| own.kind == *kind).unwrap();
                let scene_id = |&id: &u32| {
                    let is_body = (id as usize) < lists.particles;
                    if is_body { lists.scene_ids[id as usize] } else { NO_PARTICLE }
                };
                let expected: Vec<u32> = ids.iter().map(scene_id).collect();
                // Members of bundles may have their particles in another order.
                let sorted = |ids: &[u32]| -> BTreeSet<Vec<u32>> {
                    let own = ids.chunks(kind.arity()).map(|ids| BTreeSet::from_iter(ids.to_vec()));
                    own.map(Vec::from_iter).collect()
                };
                assert_eq!(sorted(&own.particles), sorted(&expected), "{sets:?} {kind:?}");
                assert_eq!(own.len() * kind.arity(), expected.len());
                assert_eq!(own.phase_sizes.iter().sum::<usize>(), own.len());
            }
        }
    }

    #[test]
    fn bundles_need_fewer_batches() {
        let batches = |bundles: &str| {
            let (kinds, _) = listed(&["partition.method=cluster", bundles]);
            kinds.iter().find(|own| own.kind == Kind::Stretch).unwrap().batch_count
        };
        let (with, without) =
            (batches("partition.bundles=true"), batches("partition.bundles=false"));
        assert!(with < without, "{with} and {without}");
    }

    #[test]
    fn no_two_elements_of_a_batch_share_a_particle() {
        let clusters = &["partition.method=cluster", "partition.subset-size=20"];
        for sets in [&[][..], &[clusters[0], clusters[1], "partition.bundles=false"]] {
            let (kinds, lists) = listed(sets);
            let mut pinned = BTreeSet::from([NO_PARTICLE]);
            let fixed = lists.scene_ids.iter().zip(&lists.fixed);
            pinned.extend(fixed.filter(|(_, fixed)| **fixed).map(|(&id, _)| id));
            for kind in kinds {
                let mut seen = BTreeSet::new();
                for element in 0..kind.len() {
                    let turn = (kind.blocks[element], kind.batches[element]);
                    let arity = kind.kind.arity();
                    for &id in &kind.particles[element * arity..(element + 1) * arity] {
                        assert!(pinned.contains(&id) || seen.insert((turn, id)), "{turn:?} {id}");
                    }
                }
                assert!(kind.phase_sizes.len() >= kind.lower_bound.min(2));
            }
        }
    }
}
