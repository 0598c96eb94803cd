//! Contract: whatever is added, removed, fixed and let go, in whatever order, the coloring stays
//! valid and complete, its lower bound true, its numbering that of a list with `swap_remove`;
//! the same changes give the same colors; drifted quality asks for a rebuild, and gets it back.

mod common;

use common::{Problem, any_problem, check, cloth_edges, noise, tetrahedra};
use proptest::prelude::*;
use taut_partition::change::DynamicColoring;
use taut_partition::coloring::{self, Options, Order};
use taut_partition::{Elements, InputError};

#[derive(Clone, Debug)]
enum Change {
    Add(Vec<u32>),
    Remove(usize),
    Fix(u32, bool),
    AddBodies(usize),
    Rebuild,
}

fn any_change() -> impl Strategy<Value = Change> {
    prop_oneof![
        8 => proptest::collection::vec(0_u32..64, 0..5).prop_map(Change::Add),
        6 => any::<usize>().prop_map(Change::Remove),
        2 => (0_u32..64, any::<bool>()).prop_map(|(body, fixed)| Change::Fix(body, fixed)),
        1 => (0_usize..4).prop_map(Change::AddBodies),
        1 => Just(Change::Rebuild),
    ]
}

/// Elements as a plain list, changed the plain way.
struct Model {
    elements: Vec<Vec<u32>>,
    fixed: Vec<bool>,
}

impl Model {
    fn new(problem: &Problem) -> Self {
        let elements = (0..problem.len()).map(|element| problem.of(element).to_vec()).collect();
        Self { elements, fixed: problem.fixed.clone() }
    }

    fn problem(&self) -> Problem {
        let mut offsets = vec![0];
        let mut bodies = Vec::new();
        for element in &self.elements {
            bodies.extend_from_slice(element);
            offsets.push(bodies.len() as u32);
        }
        let body_count = self.fixed.len();
        Problem { offsets, bodies, body_count, fixed: self.fixed.clone(), arity: None }
    }

    /// Applies a change to both; ids are brought into range where the change leaves it open.
    fn apply(&mut self, coloring: &mut DynamicColoring, change: &Change) {
        match change {
            Change::Add(bodies) => {
                let mut bodies: Vec<u32> =
                    bodies.iter().map(|&body| body % self.fixed.len() as u32).collect();
                bodies.sort_unstable();
                bodies.dedup();
                let number = coloring.add(&bodies).expect("sound bodies");
                assert_eq!(number as usize, self.elements.len());
                self.elements.push(bodies);
            }
            Change::Remove(_) if self.elements.is_empty() => {}
            Change::Remove(element) => {
                let element = element % self.elements.len();
                coloring.swap_remove(element as u32).expect("an element of this number");
                self.elements.swap_remove(element);
            }
            Change::Fix(body, fixed) => {
                let body = body % self.fixed.len() as u32;
                coloring.set_fixed(body, *fixed).expect("a body of this number");
                self.fixed[body as usize] = *fixed;
            }
            Change::AddBodies(count) => {
                assert_eq!(coloring.add_bodies(*count) as usize, self.fixed.len());
                self.fixed.resize(self.fixed.len() + count, false);
            }
            Change::Rebuild => coloring.rebuild(&Options::default()),
        }
    }
}

/// The coloring is valid for the model, read through its queries and through its schedule.
fn agree(model: &Model, coloring: &DynamicColoring) -> Result<(), TestCaseError> {
    let problem = model.problem();
    prop_assert_eq!(coloring.len(), problem.len());
    for element in 0..problem.len() {
        prop_assert_eq!(coloring.bodies_of(element as u32), Some(problem.of(element)));
        for other in 0..element {
            let same = coloring.color_of(element as u32) == coloring.color_of(other as u32);
            prop_assert!(!same || !problem.conflict(element, other));
        }
    }
    let schedule = coloring.schedule(7);
    check(&problem, &schedule)?;
    prop_assert_eq!(schedule.phase_count(), coloring.color_count());
    let bound = problem.max_valence().max(usize::from(problem.len() > 0));
    prop_assert_eq!(coloring.quality().lower_bound, bound);
    prop_assert!(bound <= coloring.color_count());
    Ok(())
}

proptest! {
    #[test]
    fn any_sequence_of_changes_keeps_the_coloring_valid(
        problem in any_problem(),
        changes in proptest::collection::vec(any_change(), 0..80),
    ) {
        let fresh = DynamicColoring::new(&problem.elements(), &Options::default());
        let mut coloring = fresh.clone();
        let mut model = Model::new(&problem);
        agree(&model, &coloring)?;
        for (number, change) in changes.iter().enumerate() {
            model.apply(&mut coloring, change);
            if number % 8 == 0 {
                agree(&model, &coloring)?;
            }
        }
        agree(&model, &coloring)?;
        // The same changes give the same schedule.
        let mut again = fresh;
        let mut same = Model::new(&problem);
        changes.iter().for_each(|change| same.apply(&mut again, change));
        let (first, second) = (coloring.schedule(7), again.schedule(7));
        prop_assert_eq!(first.parts(), second.parts());
    }

    #[test]
    fn removing_everything_leaves_nothing(problem in any_problem(), seed in any::<u64>()) {
        let mut coloring = DynamicColoring::new(&problem.elements(), &Options::default());
        for left in (1..=problem.len() as u64).rev() {
            coloring.swap_remove((noise(seed ^ left) % left) as u32).unwrap();
        }
        prop_assert_eq!((coloring.color_count(), coloring.quality().lower_bound), (0, 0));
        prop_assert!(coloring.schedule(8).is_empty());
        // No color is left behind at any body.
        let movable = (0..problem.body_count).filter(|&body| !problem.fixed[body]);
        for body in movable {
            let element = coloring.add(&[body as u32]).unwrap();
            prop_assert_eq!(coloring.color_of(element), Some(0));
        }
    }
}

/// Replaces elements at random by themselves, as contacts that break and are found again.
fn churn(coloring: &mut DynamicColoring, times: u64) {
    for time in 0..times {
        let element = (noise(time) % coloring.len() as u64) as u32;
        let bodies = coloring.bodies_of(element).expect("an element").to_vec();
        coloring.swap_remove(element).expect("an element");
        coloring.add(&bodies).expect("sound bodies");
    }
}

#[test]
fn replacing_every_element_costs_few_colors() {
    for problem in [cloth_edges(50, 50, |_, _| true), tetrahedra(10)] {
        let mut coloring = DynamicColoring::new(&problem.elements(), &Options::default());
        let fresh = coloring.color_count();
        churn(&mut coloring, 2 * problem.len() as u64);
        assert!(coloring.color_count() * 4 <= fresh * 5, "{} of {fresh}", coloring.color_count());
        coloring.rebuild(&Options::default());
        assert!(coloring.color_count() <= fresh + 1);
    }
}

#[test]
fn a_rebuild_is_proposed_when_colors_or_balance_are_lost() {
    // A star whose elements go, all but the one of the last color, which drags the others along.
    let star: Vec<[u32; 2]> = (1..=40).map(|leaf| [0, leaf]).collect();
    let elements = Elements::uniform(&star, 200).unwrap();
    let mut coloring = DynamicColoring::new(&elements, &Options::default());
    assert!(!coloring.wants_rebuild());
    // Thirty more elements of one color outweigh the forty colors of one each.
    for body in 50..80 {
        coloring.add(&[body]).unwrap();
    }
    assert!(coloring.quality().imbalance > 10.0 && coloring.wants_rebuild());
    coloring.rebuild(&Options { order: Order::Balanced, ..Options::default() });
    assert!(!coloring.wants_rebuild());

    let mut coloring = DynamicColoring::new(&elements, &Options::default());
    // Elements away from the hub, one in each color: they keep forty colors alive.
    coloring.set_fixed(0, true).unwrap();
    assert_eq!((coloring.quality().lower_bound, coloring.color_count()), (1, 40));
    assert!(coloring.wants_rebuild());
    coloring.rebuild(&Options::default());
    assert_eq!(coloring.color_count(), 1);
    // And letting the hub go again recolors what now conflicts.
    coloring.set_fixed(0, false).unwrap();
    assert_eq!(coloring.color_count(), 40);
}

#[test]
fn the_first_coloring_is_the_fresh_one() {
    let problem = tetrahedra(6);
    let options = Options { order: Order::Parallel, ..Options::default() };
    let coloring = DynamicColoring::new(&problem.elements(), &options);
    let fresh = coloring::color(&problem.elements(), &options);
    let colors: Vec<_> = (0..problem.len() as u32).map(|e| coloring.color_of(e)).collect();
    assert!(colors.into_iter().eq(fresh.colors.into_iter().map(Some)));
}

#[test]
fn bad_changes_are_refused_and_change_nothing() {
    let elements = Elements::uniform(&[[0, 1], [1, 2]], 3).unwrap();
    let mut coloring = DynamicColoring::new(&elements, &Options::default());
    let before = coloring.schedule(8);
    let out_of_range = InputError::OutOfRange { element: 2, body: 3, bodies: 3 };
    assert_eq!(coloring.add(&[0, 3]).unwrap_err(), out_of_range);
    let repeated = InputError::RepeatedBody { element: 2, body: 1 };
    assert_eq!(coloring.add(&[1, 1]).unwrap_err(), repeated);
    let no_element = InputError::NoSuchElement { element: 2, elements: 2 };
    assert_eq!(coloring.swap_remove(2).unwrap_err(), no_element);
    let no_body = InputError::NoSuchBody { body: 3, bodies: 3 };
    assert_eq!(coloring.set_fixed(3, true).unwrap_err(), no_body);
    assert_eq!(coloring.schedule(8).parts(), before.parts());
    assert_eq!((coloring.bodies_of(2), coloring.color_of(2)), (None, None));
}
