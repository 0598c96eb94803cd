//! Contract: a schedule can be made of a proposal if and only if the proposal has every element
//! once and no conflict; on any number of threads, and with the same error.

mod common;

use common::{Problem, any_problem, noise};
use proptest::prelude::*;
use taut_partition::{Parts, Schedule, ScheduleError};

/// Elements dealt out at random: with few parts there are conflicts, with many there are few.
fn any_parts(elements: usize) -> impl Strategy<Value = Parts> {
    let order = Just((0..elements as u32).collect::<Vec<_>>()).prop_shuffle();
    let ends = proptest::collection::vec(0_u8..8, elements);
    (order, ends).prop_map(|(order, ends)| {
        let mut parts = Parts::default();
        parts.clear();
        for (element, end) in order.into_iter().zip(ends) {
            parts.order.push(element);
            if end < 6 {
                parts.end_batch();
            }
            if end < 4 {
                parts.end_block();
            }
            if end < 2 {
                parts.end_phase();
            }
        }
        parts.end_batch();
        parts.end_block();
        parts.end_phase();
        parts
    })
}

/// Block, phase and batch of each place, and then all pairs.
fn has_conflict(problem: &Problem, parts: &Parts) -> bool {
    let part_of = |offsets: &[u32], place: usize| {
        offsets.windows(2).position(|pair| (pair[0]..pair[1]).contains(&(place as u32)))
    };
    let parts_of = |place: usize| {
        let batch = part_of(&parts.batches, place).unwrap_or_default();
        let block = part_of(&parts.blocks, batch).unwrap_or_default();
        (part_of(&parts.phases, block).unwrap_or_default(), block, batch)
    };
    let places: Vec<_> = (0..parts.order.len()).map(parts_of).collect();
    (0..places.len()).any(|a| {
        (0..a).any(|b| {
            let same_phase = places[a].0 == places[b].0;
            let at_once = same_phase && places[a].1 != places[b].1 || places[a].2 == places[b].2;
            at_once && problem.conflict(parts.order[a] as usize, parts.order[b] as usize)
        })
    })
}

proptest! {
    #[test]
    fn a_proposal_becomes_a_schedule_iff_it_has_no_conflict(
        (problem, parts) in any_problem().prop_flat_map(|problem| {
            let parts = any_parts(problem.len());
            (Just(problem), parts)
        }),
    ) {
        let made = Schedule::new(&problem.elements(), parts.clone());
        prop_assert_eq!(made.is_err(), has_conflict(&problem, &parts));
        if let Err(ScheduleError::Conflict { first, second, body, .. }) = made {
            for element in [first, second] {
                prop_assert!(problem.of(element as usize).contains(&body));
            }
            prop_assert!(first != second && !problem.fixed[body as usize]);
        }
    }

    #[test]
    fn a_missing_or_repeated_element_is_refused(
        problem in any_problem(),
        (from, to) in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
    ) {
        prop_assume!(problem.len() > 1);
        let (from, to) = (from.index(problem.len()), to.index(problem.len()));
        let mut parts = Parts::default();
        parts.clear();
        for element in 0..problem.len() as u32 {
            parts.order.push(element);
            parts.end_batch();
        }
        parts.end_block();
        parts.end_phase();
        parts.order[to] = from as u32;
        prop_assert_eq!(Schedule::new(&problem.elements(), parts).is_err(), from != to);
    }
}

/// Large enough for several tasks; the last phase has the conflict.
#[test]
fn large_schedules_are_checked_on_all_threads_with_the_same_error() {
    let edges: Vec<[u32; 2]> = (0..100_000).map(|edge| [2 * edge, 2 * edge + 1]).collect();
    let mut problem = Problem::uniform(&edges, 200_000);
    problem.bodies[2 * 99_999] = 2 * 99_990;
    for threads in [1, 2, 3, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut parts = Parts::default();
        parts.clear();
        for element in 0..100_000 {
            parts.order.push(element);
            if element % 10 == 9 {
                parts.end_batch();
                parts.end_block();
            }
            if noise(u64::from(element)).is_multiple_of(5000) || element == 99_999 {
                parts.end_batch();
                parts.end_block();
                parts.end_phase();
            }
        }
        let error = pool.install(|| Schedule::new(&problem.elements(), parts)).unwrap_err();
        let ScheduleError::Conflict { first, second, body, .. } = error else {
            panic!("{error}");
        };
        assert_eq!((first, second, body), (99_990, 99_999, 2 * 99_990));
    }
}
