//! Contract: if the extents are true, a grid split has no conflict whatever the points, the cells
//! and the options are; if they are not, it is refused or right all the same. Nothing depends on
//! the number of threads.

mod common;
#[path = "common/pile.rs"]
mod pile;

use common::{Problem, any_problem, check};
use pile::pile;
use proptest::prelude::*;
use taut_partition::grid::{Batching, CellSize, GridAxes, GridOptions, GridSplit};
use taut_partition::{Elements, InputError, PartitionError};

fn any_options() -> impl Strategy<Value = GridOptions> {
    let axes = prop_oneof![
        Just(GridAxes::Xy),
        Just(GridAxes::Xz),
        Just(GridAxes::Yz),
        Just(GridAxes::Xyz)
    ];
    let cell = prop_oneof![
        (1.0_f32..3.0).prop_map(CellSize::Extents),
        (0.01_f32..20.0).prop_map(CellSize::Fixed),
    ];
    let batching = prop_oneof![Just(Batching::Exhaustive), (1_usize..6).prop_map(Batching::Rounds)];
    (axes, cell, batching).prop_map(|(axes, cell, batching)| GridOptions { axes, cell, batching })
}

fn any_points(count: usize) -> impl Strategy<Value = Vec<[f32; 3]>> {
    let coordinate = prop_oneof![
        4 => (-3_i8..4).prop_map(f32::from),
        8 => -10.0_f32..10.0,
        1 => -1e6_f32..1e6,
        1 => Just(f32::MAX),
    ];
    proptest::collection::vec([coordinate.clone(), coordinate.clone(), coordinate], count)
}

fn problem_with_points() -> impl Strategy<Value = (Problem, Vec<[f32; 3]>)> {
    any_problem().prop_flat_map(|problem| {
        let points = any_points(problem.len());
        (Just(problem), points)
    })
}

/// The largest distance between two points of a body, along an axis: the least that is sound.
fn true_extents(problem: &Problem, points: &[[f32; 3]]) -> Vec<f32> {
    let mut extents = vec![0.0_f32; problem.body_count];
    for (body, extent) in extents.iter_mut().enumerate() {
        let own = || (0..problem.len()).filter(|&e| problem.of(e).contains(&(body as u32)));
        for first in own() {
            for second in own() {
                for (&a, &b) in points[first].iter().zip(&points[second]) {
                    let distance = (f64::from(a) - f64::from(b)).abs() as f32;
                    *extent = extent.max(distance.next_up().min(f32::MAX));
                }
            }
        }
    }
    extents
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn true_extents_give_a_valid_schedule(
        (problem, points) in problem_with_points(),
        options in any_options(),
    ) {
        let mut extents = true_extents(&problem, &points);
        for (extent, &fixed) in extents.iter_mut().zip(&problem.fixed) {
            if fixed {
                *extent = f32::NAN;
            }
        }
        let mut split = GridSplit::new(options);
        let schedule = split.split(&problem.elements(), &points, &extents).unwrap();
        check(&problem, schedule)?;
    }

    #[test]
    fn false_extents_are_found_out(
        (problem, points) in problem_with_points(),
        options in any_options(),
    ) {
        let mut split = GridSplit::new(options);
        let extents = vec![0.0; problem.body_count];
        match split.split(&problem.elements(), &points, &extents) {
            Ok(schedule) => check(&problem, schedule)?,
            Err(error) => prop_assert!(matches!(error, PartitionError::Schedule(_))),
        }
        // The split has not been spoilt for the next step.
        let extents = true_extents(&problem, &points);
        check(&problem, split.split(&problem.elements(), &points, &extents).unwrap())?;
    }

    #[test]
    fn locking_without_end_is_exhaustive_batching(
        (problem, points) in problem_with_points(),
        options in any_options(),
    ) {
        let extents = true_extents(&problem, &points);
        let parts = |batching| {
            let mut split = GridSplit::new(GridOptions { batching, ..options });
            let elements = problem.elements();
            split.split(&elements, &points, &extents).unwrap().parts().clone()
        };
        prop_assert_eq!(parts(Batching::Exhaustive), parts(Batching::Rounds(usize::MAX)));
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let pile = pile(12, 0);
    let elements = Elements::uniform(&pile.contacts, pile.fixed.len()).unwrap();
    let elements = elements.with_fixed(&pile.fixed).unwrap();
    let parts = |threads: usize, batching| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let cell = CellSize::Extents(1.0);
        let mut split = GridSplit::new(GridOptions { cell, batching, ..Default::default() });
        pool.install(|| split.split(&elements, &pile.points, &pile.extents)).unwrap();
        split.schedule().parts().clone()
    };
    for batching in [Batching::Exhaustive, Batching::Rounds(4)] {
        let one = parts(1, batching);
        for threads in [2, 3, 8] {
            assert!(parts(threads, batching) == one, "{threads} threads differ from one");
        }
    }
}

/// Fewer rounds make more batches; the paper found four enough.
#[test]
fn four_rounds_come_close_to_exhaustive_batching() {
    let pile = pile(12, 0);
    let elements = Elements::uniform(&pile.contacts, pile.fixed.len()).unwrap();
    let elements = elements.with_fixed(&pile.fixed).unwrap();
    let batches = |batching| {
        let mut split = GridSplit::new(GridOptions { batching, ..Default::default() });
        split.split(&elements, &pile.points, &pile.extents).unwrap().batch_count() as f64
    };
    let exhaustive = batches(Batching::Exhaustive);
    assert!(batches(Batching::Rounds(1)) > 1.5 * exhaustive);
    assert!(batches(Batching::Rounds(4)) < 1.2 * exhaustive);
}

#[test]
fn the_pile_has_eight_phases_and_in_columns_four() {
    let pile = pile(12, 0);
    let elements = Elements::uniform(&pile.contacts, pile.fixed.len()).unwrap();
    let elements = elements.with_fixed(&pile.fixed).unwrap();
    for (axes, phases) in [(GridAxes::Xyz, 8), (GridAxes::Xz, 4)] {
        let mut split = GridSplit::new(GridOptions { axes, ..Default::default() });
        let schedule = split.split(&elements, &pile.points, &pile.extents).unwrap();
        assert_eq!(schedule.phase_count(), phases);
    }
}

/// Contacts of a huge plate with small bodies, which also touch each other.
#[test]
fn a_body_too_large_for_a_cell_overflows() {
    let plate = 3000;
    let on_plate = (0..plate).map(|body| [plate, body]);
    let between = (0..plate - 1).filter(|body| body % 10 != 9).map(|body| [body, body + 1]);
    let contacts: Vec<[u32; 2]> = on_plate.chain(between).collect();
    let points: Vec<[f32; 3]> = contacts.iter().map(|pair| [pair[1] as f32, 0.0, 0.0]).collect();
    let mut extents = vec![2.0; 3000];
    extents.push(3000.0);
    let problem = Problem::uniform(&contacts, 3001);
    let mut split = GridSplit::default();
    let schedule = split.split(&problem.elements(), &points, &extents).unwrap();
    check(&problem, schedule).unwrap();
    // Two phases of cells; all that touches the plate in the last phase, one by one.
    assert_eq!(schedule.phase_count(), 3);
    let last = schedule.blocks(2);
    assert_eq!((last.len(), schedule.batches(last.start).len()), (1, 3000));
}

/// Large bodies that do not touch each other: their colors are worth phases of several blocks.
#[test]
fn overflow_that_can_be_shared_out_is() {
    let contacts: Vec<[u32; 2]> = (0..2000).map(|pair| [2 * pair, 2 * pair + 1]).collect();
    let points = vec![[0.0; 3]; 2000];
    let problem = Problem::uniform(&contacts, 4000);
    let cell = CellSize::Fixed(1.0);
    let mut split = GridSplit::new(GridOptions { cell, ..Default::default() });
    let schedule = split.split(&problem.elements(), &points, &[2.0; 4000]).unwrap();
    check(&problem, schedule).unwrap();
    assert_eq!((schedule.phase_count(), schedule.block_count()), (1, 8));
}

#[test]
fn bodies_flung_far_away_cost_nothing() {
    let contacts = [[0, 1], [1, 2], [3, 4], [4, 5]];
    let points = [[0.0; 3], [1.0; 3], [3.0e38; 3], [-3.0e38, 1e20, 1e-30]];
    let mut extents = [1.0; 6];
    extents[4] = f32::MAX;
    let problem = Problem::uniform(&contacts, 6);
    for cell in [CellSize::Extents(1.0), CellSize::Fixed(1e-3), CellSize::Fixed(1.5)] {
        let mut split = GridSplit::new(GridOptions { cell, ..Default::default() });
        let schedule = split.split(&problem.elements(), &points, &extents).unwrap();
        check(&problem, schedule).unwrap();
    }
}

#[test]
fn nothing_one_element_and_equal_points() {
    let mut split = GridSplit::default();
    let none = Elements::uniform::<2>(&[], 3).unwrap();
    assert!(split.split(&none, &[], &[1.0; 3]).unwrap().is_empty());
    let one = Elements::uniform(&[[0, 2]], 3).unwrap();
    assert_eq!(split.split(&one, &[[5.0; 3]], &[0.0; 3]).unwrap().len(), 1);
    let star: Vec<[u32; 2]> = (1..4001).map(|leaf| [0, leaf]).collect();
    let star = Elements::uniform(&star, 4001).unwrap();
    let schedule = split.split(&star, &[[1.0; 3]; 4000], &[0.0; 4001]).unwrap();
    assert_eq!((schedule.block_count(), schedule.batch_count()), (1, 4000));
    let mut ground = vec![false; 4001];
    ground[0] = true;
    let star = star.with_fixed(&ground).unwrap();
    let schedule = split.split(&star, &[[1.0; 3]; 4000], &[0.0; 4001]).unwrap();
    assert_eq!((schedule.block_count(), schedule.batch_count()), (1, 1));
}

#[test]
fn bad_input_is_an_error() {
    let edges = Elements::uniform(&[[0, 1]], 2).unwrap();
    let error =
        |options: GridOptions, points: &[[f32; 3]], extents: &[f32]| match GridSplit::new(options)
            .split(&edges, points, extents)
        {
            Err(PartitionError::Input(error)) => error,
            other => panic!("{other:?}"),
        };
    let options = GridOptions::default();
    assert_eq!(
        error(options, &[[0.0, f32::NAN, 0.0]], &[1.0; 2]),
        InputError::NotFinite { what: "point", index: 0 }
    );
    for extent in [f32::NAN, f32::INFINITY, -1.0] {
        assert_eq!(
            error(options, &[[0.0; 3]], &[1.0, extent]),
            InputError::NotFinite { what: "extent", index: 1 }
        );
    }
    assert!(matches!(error(options, &[], &[1.0; 2]), InputError::WrongCount { .. }));
    assert!(matches!(error(options, &[[0.0; 3]], &[1.0]), InputError::WrongCount { .. }));
    for cell in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        for cell in [CellSize::Fixed(cell), CellSize::Extents(cell)] {
            let options = GridOptions { cell, ..options };
            assert!(matches!(error(options, &[[0.0; 3]], &[1.0; 2]), InputError::BadOption { .. }));
        }
    }
    let options = GridOptions { batching: Batching::Rounds(0), ..options };
    assert!(matches!(error(options, &[[0.0; 3]], &[1.0; 2]), InputError::BadOption { .. }));
}
