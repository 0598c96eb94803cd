//! What the tests of all partitioners share: problems to partition, and a checker of schedules
//! that owes nothing to the crate's own.

#![allow(dead_code, reason = "each test binary uses a part of this")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use taut_partition::{Elements, Schedule};

/// A problem in the caller's own memory.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) offsets: Vec<u32>,
    pub(crate) bodies: Vec<u32>,
    pub(crate) body_count: usize,
    pub(crate) fixed: Vec<bool>,
    /// Bodies per element where all have as many.
    pub(crate) arity: Option<usize>,
}

impl Problem {
    pub(crate) fn uniform<const N: usize>(elements: &[[u32; N]], body_count: usize) -> Self {
        Self {
            offsets: (0..=elements.len()).map(|element| (element * N) as u32).collect(),
            bodies: elements.as_flattened().to_vec(),
            body_count,
            fixed: vec![false; body_count],
            arity: Some(N),
        }
    }

    pub(crate) fn elements(&self) -> Elements<'_> {
        let elements = match self.arity {
            Some(arity) => Elements::flat(arity, &self.bodies, self.body_count),
            None => Elements::ragged(&self.offsets, &self.bodies, self.body_count),
        };
        let fixed = elements.and_then(|elements| elements.with_fixed(&self.fixed));
        fixed.expect("a sound problem")
    }

    /// The bodies of an element, read from this problem and not through the crate.
    pub(crate) fn of(&self, element: usize) -> &[u32] {
        &self.bodies[self.offsets[element] as usize..self.offsets[element + 1] as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The first elements only.
    pub(crate) fn cut(mut self, elements: usize) -> Self {
        self.offsets.truncate(elements + 1);
        self.bodies.truncate(self.offsets.last().map_or(0, |&end| end as usize));
        self
    }

    pub(crate) fn max_valence(&self) -> usize {
        let mut valence = vec![0; self.body_count];
        for &body in &self.bodies {
            valence[body as usize] += usize::from(!self.fixed[body as usize]);
        }
        valence.into_iter().max().unwrap_or(0)
    }

    /// Whether two elements share a body that is not fixed, by comparing all pairs.
    pub(crate) fn conflict(&self, first: usize, second: usize) -> bool {
        let shared = |body: &&u32| !self.fixed[**body as usize] && self.of(second).contains(body);
        self.of(first).iter().find(shared).is_some()
    }
}

/// Any hypergraph: ragged or uniform, some bodies fixed, elements of up to six bodies.
pub(crate) fn any_problem() -> impl Strategy<Value = Problem> {
    let arity = prop_oneof![Just(None), (1_usize..=4).prop_map(Some)];
    (2_usize..40, 0_usize..120, arity, 0.0..0.4).prop_flat_map(
        |(body_count, count, arity, fixed_share)| {
            let arities = match arity {
                Some(arity) => arity.min(body_count)..=arity.min(body_count),
                None => 0..=body_count.min(6),
            };
            let element = arities.prop_flat_map(move |arity| {
                proptest::sample::subsequence((0..body_count as u32).collect::<Vec<_>>(), arity)
                    .prop_shuffle()
            });
            let fixed =
                proptest::collection::vec(proptest::bool::weighted(fixed_share), body_count);
            let arity = arity.map(|arity| arity.min(body_count));
            (proptest::collection::vec(element, count), fixed).prop_map(move |(lists, fixed)| {
                let mut offsets = vec![0];
                let mut bodies = Vec::new();
                for list in lists {
                    bodies.extend(list);
                    offsets.push(bodies.len() as u32);
                }
                Problem { offsets, bodies, body_count, fixed, arity }
            })
        },
    )
}

/// The edges of a grid of `columns` × `rows` cells, each cut by one diagonal; which one is up to
/// `diagonal` (column, row).
pub(crate) fn cloth_edges(columns: u32, rows: u32, diagonal: impl Fn(u32, u32) -> bool) -> Problem {
    let id = |column: u32, row: u32| row * (columns + 1) + column;
    let mut edges = Vec::new();
    for row in 0..=rows {
        for column in 0..=columns {
            if column < columns {
                edges.push([id(column, row), id(column + 1, row)]);
            }
            if row < rows {
                edges.push([id(column, row), id(column, row + 1)]);
            }
            if column < columns && row < rows {
                edges.push(if diagonal(column, row) {
                    [id(column, row), id(column + 1, row + 1)]
                } else {
                    [id(column + 1, row), id(column, row + 1)]
                });
            }
        }
    }
    Problem::uniform(&edges, ((columns + 1) * (rows + 1)) as usize)
}

/// A box of `size`³ cells, each cut into the six tetrahedra around its long diagonal (Kuhn):
/// inner bodies have valence 24.
pub(crate) fn tetrahedra(size: u32) -> Problem {
    let id = |x: u32, y: u32, z: u32| (z * (size + 1) + y) * (size + 1) + x;
    let steps = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let mut list = Vec::new();
    for cell in 0..size * size * size {
        let corner = [cell % size, cell / size % size, cell / size / size];
        for axes in steps {
            let mut at = corner;
            let mut tetrahedron = [id(at[0], at[1], at[2]); 4];
            for (place, axis) in axes.into_iter().enumerate() {
                at[axis] += 1;
                tetrahedron[place + 1] = id(at[0], at[1], at[2]);
            }
            list.push(tetrahedron);
        }
    }
    Problem::uniform(&list, ((size + 1) * (size + 1) * (size + 1)) as usize)
}

/// Cheap reproducible noise.
pub(crate) fn noise(number: u64) -> u64 {
    let mut hash = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def0;
    hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 32)
}

/// Every element once; no body in two blocks of a phase or twice in a batch, unless fixed; the
/// bodies handed out are those of the element.
pub(crate) fn check(problem: &Problem, schedule: &Schedule) -> Result<(), TestCaseError> {
    let mut times = vec![0; problem.len()];
    for phase in 0..schedule.phase_count() {
        let mut block_of_body = BTreeMap::new();
        for block in schedule.blocks(phase) {
            for batch in schedule.batches(block) {
                let mut in_batch = BTreeMap::new();
                for place in schedule.batch(batch) {
                    let element = schedule.order()[place];
                    times[element as usize] += 1;
                    let bodies = problem.of(element as usize);
                    prop_assert_eq!(schedule.bodies_at(place), bodies);
                    for &body in bodies.iter().filter(|&&body| !problem.fixed[body as usize]) {
                        let other = in_batch.insert(body, element);
                        prop_assert!(
                            other.is_none(),
                            "{:?} and {} meet at {}",
                            other,
                            element,
                            body
                        );
                        let owner = *block_of_body.entry(body).or_insert(block);
                        prop_assert_eq!(owner, block, "body {} in two blocks", body);
                    }
                }
            }
        }
    }
    prop_assert!(times.iter().all(|&times| times == 1), "not every element once: {:?}", times);
    Ok(())
}
