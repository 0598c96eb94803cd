//! Contract: every division covers all bodies and is even; halos hold every element where it
//! belongs, everything that it needs, and lists that match on both sides.

mod common;
#[path = "common/disc.rs"]
mod disc;

use common::{Problem, any_problem, cloth_edges, tetrahedra};
use proptest::prelude::*;
use taut_partition::ranks::{Curve, Exchange, Halo, Ranks, Sharing};
use taut_partition::{Elements, InputError};

fn points(problem: &Problem) -> Vec<[f32; 3]> {
    (0..problem.body_count)
        .map(|body| {
            let noise = common::noise(body as u64);
            [noise % 7, noise / 7 % 11, noise / 77 % 13].map(|x| x as f32)
        })
        .collect()
}

fn all_divisions(problem: &Problem, count: usize) -> Vec<Ranks> {
    let points = points(problem);
    let divisions = [
        Ranks::by_bisection(&points, count),
        Ranks::by_curve(&points, Curve::Morton, count),
        Ranks::by_curve(&points, Curve::Hilbert, count),
        Ranks::by_graph(&problem.elements(), count, 0.05),
    ];
    divisions.map(|division| division.expect("good input")).to_vec()
}

fn computes(halo: &Halo, element: usize) -> bool {
    halo.inner.contains(&(element as u32)) || halo.border.contains(&(element as u32))
}

fn bodies_of(exchanges: &[Exchange], rank: usize) -> Vec<u32> {
    let lists = exchanges.iter().filter(|exchange| exchange.rank as usize == rank);
    lists.flat_map(|exchange| exchange.bodies.clone()).collect()
}

/// Everything that a halo promises, from the problem and the division alone.
fn check_halos(problem: &Problem, ranks: &Ranks, sharing: Sharing) -> Result<(), TestCaseError> {
    let halos = ranks.halos(&problem.elements(), sharing).expect("good input");
    prop_assert_eq!(halos.len(), ranks.count());
    let owner = |body: u32| ranks.of_bodies()[body as usize] as usize;
    for element in 0..problem.len() {
        let movable = problem.of(element).iter().filter(|&&body| !problem.fixed[body as usize]);
        let mut owners: Vec<usize> = movable.map(|&body| owner(body)).collect();
        owners.sort_unstable();
        owners.dedup();
        let computing: Vec<usize> =
            (0..halos.len()).filter(|&rank| computes(&halos[rank], element)).collect();
        match sharing {
            Sharing::EveryOwner if !owners.is_empty() => prop_assert_eq!(computing, owners),
            _ => {
                prop_assert_eq!(computing.len(), 1);
                prop_assert!(owners.is_empty() || owners.contains(&computing[0]));
            }
        }
    }
    for (rank, halo) in halos.iter().enumerate() {
        let own = (0..problem.body_count as u32).filter(|&body| owner(body) == rank);
        prop_assert_eq!(&halo.owned, &own.collect::<Vec<_>>());
        // All that the elements need is there, and nothing else.
        let mut needed: Vec<u32> = [&halo.inner, &halo.border]
            .into_iter()
            .flatten()
            .flat_map(|&element| problem.of(element as usize).to_vec())
            .filter(|&body| owner(body) != rank)
            .collect();
        needed.sort_unstable();
        needed.dedup();
        let mut there = halo.local_bodies()[halo.owned.len()..].to_vec();
        there.sort_unstable();
        prop_assert_eq!(there, needed);
        prop_assert!(halo.fixed.iter().all(|&body| problem.fixed[body as usize]));
        for &element in &halo.inner {
            let own = |&body: &u32| owner(body) == rank || problem.fixed[body as usize];
            prop_assert!(problem.of(element as usize).iter().all(own));
        }
        for (other, sender) in halos.iter().enumerate() {
            let received = bodies_of(&halo.receives, other);
            prop_assert_eq!(&received, &bodies_of(&sender.sends, rank));
            prop_assert!(received.iter().all(|&body| owner(body) == other));
            prop_assert!(received.iter().all(|&body| !problem.fixed[body as usize]));
            prop_assert!(received.is_sorted());
        }
        prop_assert!(halo.receives.iter().map(|exchange| exchange.rank).is_sorted());
        prop_assert!(halo.sends.iter().map(|exchange| exchange.rank).is_sorted());
    }
    Ok(())
}

proptest! {
    #[test]
    fn halos_are_complete_and_match(problem in any_problem(), count in 1_usize..9) {
        for ranks in all_divisions(&problem, count) {
            for sharing in [Sharing::Once, Sharing::EveryOwner] {
                check_halos(&problem, &ranks, sharing)?;
            }
        }
    }

    /// Each element adds its number to its movable bodies; ranks that know only their part come
    /// to the same sums as one who knows all.
    #[test]
    fn ranks_sum_up_to_the_whole(problem in any_problem(), count in 1_usize..9) {
        let mut whole = vec![0_u64; problem.body_count];
        let add = |element: u32, sums: &mut [u64]| {
            for &body in problem.of(element as usize) {
                if !problem.fixed[body as usize] {
                    sums[body as usize] += u64::from(element) + 1;
                }
            }
        };
        (0..problem.len() as u32).for_each(|element| add(element, &mut whole));
        for ranks in all_divisions(&problem, count) {
            let halos = ranks.halos(&problem.elements(), Sharing::Once).unwrap();
            let mut parts = vec![vec![0; problem.body_count]; count];
            for (halo, sums) in halos.iter().zip(&mut parts) {
                halo.inner.iter().chain(&halo.border).for_each(|&element| add(element, sums));
            }
            // What was received on the way in goes back on the way out, along the same lists.
            for (rank, halo) in halos.iter().enumerate() {
                for message in &halo.receives {
                    for &body in &message.bodies {
                        let sum = parts[rank][body as usize];
                        parts[message.rank as usize][body as usize] += sum;
                    }
                }
            }
            for (halo, sums) in halos.iter().zip(&parts) {
                for &body in &halo.owned {
                    prop_assert_eq!(sums[body as usize], whole[body as usize]);
                }
            }
        }
    }

    #[test]
    fn geometric_divisions_differ_by_one_body_at_most(bodies in 0_usize..300, count in 1_usize..20) {
        let problem = Problem::uniform::<1>(&[], bodies);
        for ranks in &all_divisions(&problem, count)[..3] {
            let mut sizes = vec![0_usize; count];
            ranks.of_bodies().iter().for_each(|&rank| sizes[rank as usize] += 1);
            let (least, most) = (sizes.iter().min(), sizes.iter().max());
            prop_assert!(most.copied().unwrap_or(0) <= least.copied().unwrap_or(0) + 1);
        }
    }
}

/// On meshes the graph partitioner keeps to its tolerance and cuts no more than the others.
#[test]
fn the_graph_partitioner_beats_geometry() {
    let (positions, triangles) = disc::disc(40);
    let disc = Problem::uniform(&triangles, positions.len());
    let side = 24_u32;
    let block = tetrahedra(side);
    let corner = |body: usize| {
        let body = body as u32;
        [body % (side + 1), body / (side + 1) % (side + 1), body / (side + 1) / (side + 1)]
    };
    let corners = (0..block.body_count).map(|body| corner(body).map(|x| x as f32)).collect();
    for (name, problem, positions) in [("disc", disc, positions), ("block", block, corners)] {
        let elements = problem.elements();
        for count in [2, 3, 4, 7, 16] {
            let quality = |ranks: &Ranks| ranks.quality(&elements).unwrap();
            let graph = quality(&Ranks::by_graph(&elements, count, 0.03).unwrap());
            let bisection = quality(&Ranks::by_bisection(&positions, count).unwrap());
            let hilbert = quality(&Ranks::by_curve(&positions, Curve::Hilbert, count).unwrap());
            let morton = quality(&Ranks::by_curve(&positions, Curve::Morton, count).unwrap());
            println!(
                "{name}, {count} ranks: graph {graph:?}, bisection {bisection:?}, Hilbert {hilbert:?}, Morton {morton:?}"
            );
            assert!(graph.imbalance <= 1.04, "{name} {count}: {graph:?}");
            let others = bisection.edge_cut.min(hilbert.edge_cut);
            assert!(graph.edge_cut as f64 <= 1.1 * others as f64, "{name} {count}: {graph:?}");
        }
    }
}

/// Two sheets that lie on each other but touch nowhere: geometry cannot tell them apart.
#[test]
fn the_graph_partitioner_sees_through_folds() {
    let sheet = cloth_edges(30, 30, |_, _| true);
    let offset = sheet.body_count as u32;
    let both = sheet.bodies.iter().chain(&sheet.bodies).enumerate();
    let both = both.map(|(at, &body)| body + if at < sheet.bodies.len() { 0 } else { offset });
    let bodies: Vec<u32> = both.collect();
    let elements = Elements::flat(2, &bodies, 2 * sheet.body_count).unwrap();
    let ranks = Ranks::by_graph(&elements, 2, 0.03).unwrap();
    assert_eq!(ranks.quality(&elements).unwrap().edge_cut, 0);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let problem = tetrahedra(10);
    let points = points(&problem);
    let divide = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let graph = Ranks::by_graph(&problem.elements(), 7, 0.03).unwrap();
            let hilbert = Ranks::by_curve(&points, Curve::Hilbert, 7).unwrap();
            (graph, hilbert, Ranks::by_bisection(&points, 7).unwrap())
        })
    };
    let one = divide(1);
    for threads in [2, 3, 8] {
        assert!(divide(threads) == one, "{threads} threads differ from one");
    }
}

#[test]
fn a_star_and_more_ranks_than_bodies() {
    let star: Vec<[u32; 2]> = (1..5001).map(|leaf| [0, leaf]).collect();
    let star = Problem::uniform(&star, 5001);
    let ranks = Ranks::by_graph(&star.elements(), 4, 0.03).unwrap();
    let quality = ranks.quality(&star.elements()).unwrap();
    assert!(quality.imbalance < 1.05, "{quality:?}");
    let few = Problem::uniform(&[[0, 1], [1, 2]], 3);
    for ranks in all_divisions(&few, 10) {
        check_halos(&few, &ranks, Sharing::Once).unwrap();
    }
}

#[test]
fn bad_input_is_an_error() {
    let edges = Elements::uniform(&[[0, 1]], 2).unwrap();
    assert!(matches!(Ranks::by_bisection(&[], 0), Err(InputError::BadOption { .. })));
    assert!(Ranks::by_bisection(&[[f32::NAN; 3]], 2).is_err());
    assert!(matches!(
        Ranks::by_curve(&[[0.0; 3], [f32::INFINITY; 3]], Curve::Hilbert, 2),
        Err(InputError::NotFinite { index: 1, .. })
    ));
    for tolerance in [-0.1, f64::NAN] {
        assert!(Ranks::by_graph(&edges, 2, tolerance).is_err());
    }
    assert!(Ranks::new(vec![0, 2], 2).is_err());
    let other = Ranks::new(vec![0, 1, 0], 2).unwrap();
    assert!(matches!(other.quality(&edges), Err(InputError::WrongCount { .. })));
    assert!(other.halos(&edges, Sharing::Once).is_err());
}
