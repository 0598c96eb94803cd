//! Contract: every order colors any problem without conflict; phases are colors, blocks are
//! chunks of the chosen size; the parallel order gives the same colors on any number of threads;
//! smallest-last keeps the bound of Matula & Beck and meets the lower bound on triangle meshes.

mod common;

use common::{Problem, any_problem, check, cloth_edges, noise, tetrahedra};
use proptest::prelude::*;
use taut_partition::coloring::{self, Options, Order};
use taut_partition::stats::Stats;

const ORDERS: [Order; 5] =
    [Order::SmallestLast, Order::Natural, Order::LargestFirst, Order::Balanced, Order::Parallel];

fn options(order: Order) -> Options {
    Options { order, ..Options::default() }
}

proptest! {
    #[test]
    fn every_order_is_valid(problem in any_problem(), block_size in 0_usize..20) {
        let elements = problem.elements();
        for order in ORDERS {
            let options = Options { order, block_size, threads: 2, ..Options::default() };
            let coloring = coloring::color(&elements, &options);
            let schedule = coloring::schedule(&elements, &options);
            check(&problem, &schedule)?;
            prop_assert_eq!(schedule.phase_count(), coloring.color_count);
            prop_assert!(coloring.lower_bound <= coloring.color_count);
            prop_assert_eq!(
                coloring.lower_bound,
                problem.max_valence().max(usize::from(problem.len() > 0))
            );
            for block in 0..schedule.block_count() {
                let length = schedule.block(block).len();
                prop_assert!(length > 0 && length <= block_size.max(1));
            }
        }
    }

    #[test]
    fn smallest_last_keeps_the_degeneracy_bound(problem in any_problem()) {
        let coloring = coloring::color(&problem.elements(), &options(Order::SmallestLast));
        prop_assert!(coloring.color_count <= degeneracy(&problem) + 1);
    }
}

/// The largest smallest degree met when elements of smallest degree are removed one by one, by
/// comparing all pairs.
fn degeneracy(problem: &Problem) -> usize {
    let mut left: Vec<usize> = (0..problem.len()).collect();
    let mut largest = 0;
    while !left.is_empty() {
        let degree = |&element: &usize| {
            let met = |other: &&usize| **other != element && problem.conflict(element, **other);
            left.iter().filter(met).count()
        };
        let degrees = left.iter().map(degree).enumerate();
        let (place, smallest) =
            degrees.min_by_key(|&(_, degree)| degree).expect("an element is left");
        largest = largest.max(smallest);
        left.swap_remove(place);
    }
    largest
}

/// Meshes large enough for several chunks of the parallel order, one of them shuffled.
fn large_problems() -> Vec<Problem> {
    let mut shuffled = cloth_edges(90, 90, |column, row| (column + row) % 2 == 0);
    let mut edges: Vec<[u32; 2]> = shuffled.bodies.as_chunks().0.to_vec();
    edges.sort_by_key(|&[a, b]| noise(u64::from(a) << 32 | u64::from(b)));
    shuffled.bodies = edges.into_flattened();
    let mut pinned = tetrahedra(12);
    pinned.fixed = (0..pinned.body_count).map(|body| body % 7 == 0).collect();
    let regular = cloth_edges(100, 70, |_, _| true);
    let star: Vec<[u32; 3]> = (0..3000).map(|leaf| [0, 2 * leaf + 1, 2 * leaf + 2]).collect();
    vec![shuffled, pinned, regular, Problem::uniform(&star, 6001)]
}

#[test]
fn the_parallel_order_gives_the_same_on_any_number_of_threads() {
    for problem in large_problems() {
        let elements = problem.elements();
        let on = |threads| {
            let options = Options { threads, ..options(Order::Parallel) };
            coloring::color(&elements, &options)
        };
        let one = on(1);
        for threads in [0, 2, 3, 8] {
            assert_eq!(one, on(threads), "{threads} threads");
        }
    }
}

#[test]
fn meshes_are_colored_without_conflict() {
    for problem in large_problems() {
        for order in ORDERS {
            let schedule = coloring::schedule(&problem.elements(), &options(order));
            check(&problem, &schedule).unwrap();
        }
    }
}

/// The elements in an order that has nothing to do with the mesh.
fn shuffled<const N: usize>(problem: &Problem) -> Problem {
    let mut list: Vec<[u32; N]> = problem.bodies.as_chunks().0.to_vec();
    let key = |bodies: &[u32; N]| bodies.iter().fold(1, |key, &body| noise(key ^ u64::from(body)));
    list.sort_by_key(key);
    Problem::uniform(&list, problem.body_count)
}

#[test]
fn smallest_last_meets_the_bound_on_the_edges_of_triangle_meshes() {
    let random = |column, row| noise(u64::from(column) << 32 | u64::from(row)).is_multiple_of(2);
    for cloth in [
        cloth_edges(80, 60, |_, _| true),
        cloth_edges(80, 60, |column, row| (column + row) % 2 == 0),
        cloth_edges(80, 60, random),
    ] {
        for problem in [shuffled::<2>(&cloth), cloth] {
            let coloring = coloring::color(&problem.elements(), &options(Order::SmallestLast));
            assert_eq!(coloring.color_count, coloring.lower_bound);
        }
    }
}

#[test]
fn tetrahedral_grids_take_fewer_than_thirty_colors() {
    let block = tetrahedra(16);
    for problem in [shuffled::<4>(&block), block] {
        for order in [Order::SmallestLast, Order::Balanced] {
            let coloring = coloring::color(&problem.elements(), &options(order));
            assert_eq!(coloring.lower_bound, 24);
            assert!(coloring.color_count <= 28, "{}", coloring.color_count);
        }
    }
}

#[test]
fn effort_saves_colors_and_none_saves_none() {
    let problem = tetrahedra(12);
    let with = |effort| {
        let options = Options { effort, ..options(Order::SmallestLast) };
        coloring::color(&problem.elements(), &options).color_count
    };
    assert!(with(1) < with(0) && with(4) <= with(1));
}

#[test]
fn balanced_colors_have_similar_sizes() {
    let cloth = cloth_edges(80, 60, |column, row| (column + row) % 2 == 0);
    for (problem, most) in [(cloth, 1.001), (tetrahedra(14), 1.05)] {
        let coloring = coloring::color(&problem.elements(), &options(Order::Balanced));
        let schedule = coloring.schedule(&problem.elements(), 512).unwrap();
        let imbalance = Stats::new(&schedule).imbalance;
        assert!(imbalance <= most, "{imbalance}");
    }
}

/// Blocks are the same however many threads there are, since nobody asks how many there are.
#[test]
fn block_sizes_are_those_asked_for() {
    let problem = cloth_edges(40, 40, |_, _| true);
    let schedule = coloring::schedule(&problem.elements(), &Options::default());
    for phase in 0..schedule.phase_count() {
        let sizes: Vec<usize> =
            schedule.blocks(phase).map(|block| schedule.block(block).len()).collect();
        let (last, full) = sizes.split_last().unwrap();
        assert!(full.iter().all(|&size| size == coloring::DEFAULT_BLOCK_SIZE));
        assert!(*last <= coloring::DEFAULT_BLOCK_SIZE);
    }
}

/// Ten million elements, in the time of a test; the benchmark has the other orders.
#[test]
fn ten_million_elements_are_no_exception() {
    let problem = cloth_edges(1825, 1825, |_, _| true);
    assert!(problem.len() > 9_990_000);
    let elements = problem.elements();
    let coloring = coloring::color(&elements, &options(Order::Natural));
    assert_eq!((coloring.color_count, coloring.lower_bound), (6, 6));
    let schedule = coloring.schedule(&elements, 512).unwrap();
    // Each body once per color, found without the crate's check.
    let mut last = vec![u32::MAX; problem.body_count];
    for phase in 0..schedule.phase_count() {
        for &element in &schedule.order()[schedule.phase(phase)] {
            for &body in problem.of(element as usize) {
                assert_ne!(std::mem::replace(&mut last[body as usize], phase as u32), phase as u32);
            }
        }
    }
}

#[test]
fn a_star_of_thousands_takes_thousands_of_colors() {
    let star: Vec<[u32; 2]> = (1..5000).map(|leaf| [0, leaf]).collect();
    let problem = Problem::uniform(&star, 5000);
    for order in ORDERS {
        let coloring = coloring::color(&problem.elements(), &options(order));
        assert_eq!((coloring.color_count, coloring.lower_bound), (4999, 4999));
        check(&problem, &coloring.schedule(&problem.elements(), 512).unwrap()).unwrap();
    }
}

#[test]
fn nothing_and_one_element_are_problems_too() {
    for order in ORDERS {
        let nothing = Problem::uniform::<2>(&[], 0);
        let schedule = coloring::schedule(&nothing.elements(), &options(order));
        assert_eq!((schedule.phase_count(), schedule.block_count()), (0, 0));
        let one = Problem::uniform(&[[0, 1]], 2);
        let schedule = coloring::schedule(&one.elements(), &options(order));
        assert_eq!((schedule.phase_count(), schedule.block_count()), (1, 1));
    }
}

#[test]
fn fixed_bodies_cost_no_color() {
    let mut star = Problem::uniform(&[[0, 1], [0, 2], [0, 3]], 4);
    star.fixed[0] = true;
    for order in ORDERS {
        let coloring = coloring::color(&star.elements(), &options(order));
        assert_eq!((coloring.color_count, coloring.lower_bound), (1, 1));
    }
}
