//! Contract: every order colors any problem without conflict; phases are colors, blocks are
//! chunks of the chosen size; the parallel order gives the same colors on any number of threads;
//! smallest-last keeps the bound of Matula & Beck.

mod common;

use common::{Problem, any_problem, check, cloth_edges, noise, tetrahedra};
use proptest::prelude::*;
use taut_partition::coloring::{self, Options, Order};

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
