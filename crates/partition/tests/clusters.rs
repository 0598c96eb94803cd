//! Contract: clusters hold every element once and keep to the wanted number or size, their
//! schedule has no conflict whatever the points are, and nothing depends on the number of threads.

mod common;
#[path = "common/disc.rs"]
mod disc;

use common::{Problem, any_problem, check, cloth_edges, tetrahedra};
use proptest::prelude::*;
use taut_partition::clusters::{
    Axes, Clusters, Cut, LaneLayout, PADDING, Room, Stop, Subdivision, Ways, mean_points,
};
use taut_partition::{DisjointSets, Elements, InputError, PartitionError};

fn any_stop() -> impl Strategy<Value = Stop> {
    prop_oneof![(1_usize..30).prop_map(Stop::Subsets), (1_usize..40).prop_map(Stop::Size)]
}

fn any_subdivision() -> impl Strategy<Value = Subdivision> {
    let cut = prop_oneof![Just(Cut::Center), Just(Cut::Median)];
    let axes = prop_oneof![Just(Axes::Longest), Just(Axes::InTurn)];
    let ways = prop_oneof![Just(Ways::Two), Just(Ways::Four), Just(Ways::Eight)];
    (cut, axes, ways, any_stop()).prop_map(|(cut, axes, ways, stop)| Subdivision {
        cut,
        axes,
        ways,
        stop,
    })
}

/// Few different coordinates, so that ties and flat boxes are common, and some extreme ones.
fn any_points(count: usize) -> impl Strategy<Value = Vec<[f32; 3]>> {
    let coordinate = prop_oneof![
        4 => (0_i8..4).prop_map(f32::from),
        4 => -10.0_f32..10.0,
        1 => Just(f32::MAX),
        1 => Just(f32::MIN),
        1 => Just(f32::MIN_POSITIVE),
        1 => Just(-0.0),
    ];
    proptest::collection::vec([coordinate.clone(), coordinate.clone(), coordinate], count)
}

fn problem_with_points() -> impl Strategy<Value = (Problem, Vec<[f32; 3]>)> {
    any_problem().prop_flat_map(|problem| {
        let points = any_points(problem.len());
        (Just(problem), points)
    })
}

fn sizes(clusters: &Clusters) -> Vec<usize> {
    (0..clusters.len()).map(|cluster| clusters.of(cluster).len()).collect()
}

fn movable_bodies(elements: &Elements<'_>, cluster: &[u32]) -> usize {
    let all = cluster.iter().flat_map(|&element| elements.movable_of(element as usize));
    all.collect::<std::collections::BTreeSet<u32>>().len()
}

fn check_every_element_is_there_once(
    clusters: &Clusters,
    elements: usize,
) -> Result<(), TestCaseError> {
    prop_assert!(!sizes(clusters).contains(&0));
    let mut all: Vec<u32> =
        (0..clusters.len()).flat_map(|cluster| clusters.of(cluster).to_vec()).collect();
    all.sort_unstable();
    prop_assert_eq!(all, (0..elements as u32).collect::<Vec<_>>());
    Ok(())
}

fn check_division(clusters: &Clusters, elements: usize, stop: Stop) -> Result<(), TestCaseError> {
    check_every_element_is_there_once(clusters, elements)?;
    let sizes = sizes(clusters);
    match stop {
        Stop::Subsets(subsets) => prop_assert_eq!(sizes.len(), subsets.min(elements)),
        Stop::Size(limit) => prop_assert!(sizes.iter().all(|&size| size <= limit)),
    }
    Ok(())
}

fn check_graph(problem: &Problem, clusters: &Clusters) -> Result<(), TestCaseError> {
    let graph = clusters.graph(&problem.elements()).expect("as many elements");
    let adjacent = |first: usize, second: usize| {
        let pairs = clusters
            .of(first)
            .iter()
            .flat_map(|&a| clusters.of(second).iter().map(move |&b| (a as usize, b as usize)));
        first != second && pairs.into_iter().any(|(a, b)| problem.conflict(a, b))
    };
    for first in 0..clusters.len() {
        let expected: Vec<u32> = (0..clusters.len())
            .filter(|&second| adjacent(first, second))
            .map(|c| c as u32)
            .collect();
        prop_assert_eq!(graph.neighbors(first), expected);
    }
    Ok(())
}

proptest! {
    #[test]
    fn subdivision_is_a_valid_schedule(
        (problem, points) in problem_with_points(),
        subdivision in any_subdivision(),
        lanes in 1_usize..9,
    ) {
        let clusters = Clusters::by_subdivision(&points, &subdivision).unwrap();
        check_division(&clusters, problem.len(), subdivision.stop)?;
        check_graph(&problem, &clusters)?;
        let schedule = clusters.schedule(&problem.elements(), lanes).unwrap();
        prop_assert_eq!(schedule.block_count(), clusters.len());
        check(&problem, &schedule)?;
    }

    #[test]
    fn median_clusters_differ_by_one_element_at_most(
        points in (0_usize..200).prop_flat_map(any_points),
        subsets in 1_usize..40,
        ways in prop_oneof![Just(Ways::Two), Just(Ways::Four), Just(Ways::Eight)],
    ) {
        let subdivision = Subdivision { ways, ..Subdivision::new(Stop::Subsets(subsets)) };
        let sizes = sizes(&Clusters::by_subdivision(&points, &subdivision).unwrap());
        let (least, most) = (sizes.iter().min(), sizes.iter().max());
        prop_assert!(most.copied().unwrap_or(0) <= least.copied().unwrap_or(0) + 1, "{:?}", sizes);
    }

    #[test]
    fn pieces_are_clusters_of_one_phase(
        problem in any_problem(),
        most_bodies in 1_usize..60,
    ) {
        let elements = problem.elements();
        let Some(clusters) = Clusters::by_pieces(&elements, most_bodies) else {
            // Then some movable bodies that hang together are too many for a cluster.
            let mut sets = DisjointSets::new(elements.body_count());
            for element in 0..elements.len() {
                let mut bodies = elements.movable_of(element);
                let first = bodies.next();
                bodies.for_each(|body| sets.unite(first.unwrap(), body));
            }
            let mut counts = vec![0; elements.body_count()];
            (0..elements.body_count() as u32).for_each(|body| counts[sets.lowest(body) as usize] += 1);
            prop_assert!(counts.iter().any(|&count| count > most_bodies));
            return Ok(());
        };
        check_every_element_is_there_once(&clusters, problem.len())?;
        for cluster in 0..clusters.len() {
            prop_assert!(movable_bodies(&elements, clusters.of(cluster)) <= most_bodies);
        }
        let graph = clusters.graph(&elements).unwrap();
        prop_assert!((0..clusters.len()).all(|cluster| graph.neighbors(cluster).is_empty()));
        let schedule = clusters.schedule(&elements, 1).unwrap();
        prop_assert!(schedule.phase_count() <= 1);
        check(&problem, &schedule)?;
    }

    #[test]
    fn clusters_with_fewer_colors_are_a_valid_schedule(
        (problem, points) in problem_with_points(),
        stop in any_stop(),
        spare in 0_usize..30,
    ) {
        let elements = problem.elements();
        let clusters = Clusters::by_subdivision(&points, &Subdivision::new(stop)).unwrap();
        let all = 0..clusters.len();
        let bodies = all.map(|cluster| movable_bodies(&elements, clusters.of(cluster))).max();
        let room = Room {
            elements: sizes(&clusters).into_iter().max().unwrap_or(0) + spare,
            bodies: bodies.unwrap_or(0) + spare,
        };
        let fewer = clusters.clone().with_fewer_colors(&elements, room).unwrap();
        check_every_element_is_there_once(&fewer, problem.len())?;
        for cluster in 0..fewer.len() {
            prop_assert!(fewer.of(cluster).len() <= room.elements);
            prop_assert!(movable_bodies(&elements, fewer.of(cluster)) <= room.bodies);
        }
        let schedule = fewer.schedule(&elements, 8).unwrap();
        check(&problem, &schedule)?;
        let before = clusters.schedule(&elements, 8).unwrap().phase_count();
        prop_assert!(schedule.phase_count() <= before);
        prop_assert!(fewer == clusters || schedule.phase_count() < before);
    }

    #[test]
    fn growth_is_a_valid_schedule(problem in any_problem(), stop in any_stop(), lanes in 1_usize..9) {
        let clusters = Clusters::by_growth(&problem.elements(), stop).unwrap();
        check_division(&clusters, problem.len(), stop)?;
        check(&problem, &clusters.schedule(&problem.elements(), lanes).unwrap())?;
    }

    #[test]
    fn lanes_hold_every_place_once_and_batches_start_groups(
        problem in any_problem(),
        lanes in 1_usize..9,
    ) {
        let clusters = Clusters::by_growth(&problem.elements(), Stop::Size(30)).unwrap();
        let schedule = clusters.schedule(&problem.elements(), lanes).unwrap();
        let layout = LaneLayout::new(&schedule, lanes).unwrap();
        let mut groups = 0;
        for batch in 0..schedule.batch_count() {
            prop_assert_eq!(layout.groups(batch).start, groups);
            groups = layout.groups(batch).end;
            let slots = layout.groups(batch).flat_map(|group| layout.group(group));
            let places: Vec<usize> =
                slots.filter(|&&slot| slot != PADDING).map(|&slot| slot as usize).collect();
            prop_assert_eq!(places, schedule.batch(batch).collect::<Vec<_>>());
        }
        prop_assert_eq!(layout.group_count(), groups);
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let (points, triangles) = disc::disc(40);
    let elements = Elements::uniform(&triangles, points.len()).unwrap();
    let schedules = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let points = mean_points(&elements, &points).unwrap();
            let mut all = Vec::new();
            for cut in [Cut::Center, Cut::Median] {
                for stop in [Stop::Subsets(50), Stop::Size(100)] {
                    let subdivision = Subdivision { cut, ..Subdivision::new(stop) };
                    let clusters = Clusters::by_subdivision(&points, &subdivision).unwrap();
                    all.push(clusters.schedule(&elements, 8).unwrap().parts().clone());
                }
            }
            let grown = Clusters::by_growth(&elements, Stop::Size(100)).unwrap();
            let fewer =
                grown.clone().with_fewer_colors(&elements, Room { elements: 200, bodies: 200 });
            all.push(fewer.unwrap().schedule(&elements, 8).unwrap().parts().clone());
            all.push(grown.schedule(&elements, 8).unwrap().parts().clone());
            all
        })
    };
    let one = schedules(1);
    for threads in [2, 3, 8] {
        assert!(schedules(threads) == one, "{threads} threads differ from one");
    }
}

/// Paper B, section 5.5: 95k triangles → 128 subsets → 5 independent sets of about 26 subsets,
/// each of 744 triangles on average.
#[test]
fn the_disc_of_paper_b_needs_about_as_many_sets_as_the_paper() {
    let (points, triangles) = disc::disc(126);
    assert_eq!(triangles.len(), 95_256);
    let elements = Elements::uniform(&triangles, points.len()).unwrap();
    let points = mean_points(&elements, &points).unwrap();
    for cut in [Cut::Center, Cut::Median] {
        let subdivision = Subdivision { cut, ..Subdivision::new(Stop::Subsets(128)) };
        let clusters = Clusters::by_subdivision(&points, &subdivision).unwrap();
        let schedule = clusters.schedule(&elements, 1).unwrap();
        assert_eq!(schedule.block_count(), 128);
        assert_eq!(schedule.len() / 128, 744);
        let blocks: Vec<usize> =
            (0..schedule.phase_count()).map(|phase| schedule.blocks(phase).len()).collect();
        println!("{cut:?}: clusters per color {blocks:?}");
        assert!(schedule.phase_count() <= 5, "{cut:?}: {blocks:?}");
        assert!(blocks.iter().all(|&blocks| blocks >= 20), "{cut:?}: {blocks:?}");
    }
}

/// A strip rolled up into a spiral whose layers lie closer together than its points: space
/// misleads, adjacency does not.
#[test]
fn growth_keeps_to_the_mesh_where_it_folds_over_itself() {
    let problem = cloth_edges(2000, 4, |_, _| true);
    let elements = problem.elements();
    let rolled: Vec<[f32; 3]> = (0..problem.body_count)
        .map(|body| {
            let (column, row) = ((body % 2001) as f32, (body / 2001) as f32);
            let angle = column * 0.2;
            let radius = 1.0 + angle * 0.001;
            [radius * angle.cos(), radius * angle.sin(), row * 0.2]
        })
        .collect();
    let points = mean_points(&elements, &rolled).unwrap();
    let by_space = Clusters::by_subdivision(&points, &Subdivision::new(Stop::Subsets(64))).unwrap();
    let by_growth = Clusters::by_growth(&elements, Stop::Subsets(64)).unwrap();
    let degree = |clusters: &Clusters| {
        let graph = clusters.graph(&elements).unwrap();
        (0..graph.len()).map(|cluster| graph.neighbors(cluster).len()).sum::<usize>()
    };
    assert!(degree(&by_growth) * 2 < degree(&by_space));
    let phases = |clusters: &Clusters| clusters.schedule(&elements, 1).unwrap().phase_count();
    assert!(phases(&by_growth) <= phases(&by_space));
}

/// Rounding batches to whole groups of lanes saves groups over batches that are only balanced.
#[test]
fn lanes_are_nearly_all_used() {
    for (name, problem, least) in [
        ("cloth", cloth_edges(60, 60, |column, row| (column + row) % 2 == 0), 0.99),
        ("tetrahedra", tetrahedra(12), 0.99),
    ] {
        let elements = problem.elements();
        let clusters = Clusters::by_growth(&elements, Stop::Size(1024)).unwrap();
        let utilization = |lanes: usize| {
            let schedule = clusters.schedule(&elements, lanes).unwrap();
            LaneLayout::new(&schedule, 8).unwrap().utilization()
        };
        let (rounded, balanced) = (utilization(8), utilization(1));
        println!("{name}: {rounded} of the lanes rounded, {balanced} balanced");
        assert!(rounded >= least && rounded > balanced, "{name}: {rounded}, {balanced}");
    }
}

#[test]
fn nothing_and_one_element() {
    for subdivision in [Stop::Subsets(4), Stop::Size(4)].map(Subdivision::new) {
        let none = Elements::uniform::<2>(&[], 3).unwrap();
        let clusters = Clusters::by_subdivision(&[], &subdivision).unwrap();
        assert!(clusters.is_empty() && clusters.schedule(&none, 8).unwrap().is_empty());
        assert!(Clusters::by_growth(&none, subdivision.stop).unwrap().is_empty());
        let one = Elements::uniform(&[[0, 2]], 3).unwrap();
        let clusters = Clusters::by_subdivision(&[[1.0; 3]], &subdivision).unwrap();
        assert_eq!((clusters.len(), clusters.schedule(&one, 8).unwrap().len()), (1, 1));
    }
}

#[test]
fn equal_points_are_divided_by_index() {
    for cut in [Cut::Center, Cut::Median] {
        let subdivision = Subdivision { cut, ..Subdivision::new(Stop::Subsets(8)) };
        let clusters = Clusters::by_subdivision(&[[3.0; 3]; 1000], &subdivision).unwrap();
        assert_eq!(sizes(&clusters), [125; 8]);
    }
}

#[test]
fn a_body_shared_by_thousands_makes_thousands_of_batches() {
    let star: Vec<[u32; 2]> = (1..4001).map(|leaf| [0, leaf]).collect();
    let problem = Problem::uniform(&star, 4001);
    let clusters = Clusters::by_growth(&problem.elements(), Stop::Subsets(4)).unwrap();
    let schedule = clusters.schedule(&problem.elements(), 8).unwrap();
    assert_eq!((schedule.phase_count(), schedule.batch_count()), (4, 4000));
    check(&problem, &schedule).unwrap();
}

#[test]
fn bad_input_is_an_error() {
    let subdivision = Subdivision::new(Stop::Size(4));
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert_eq!(
            Clusters::by_subdivision(&[[0.0; 3], [0.0, bad, 0.0]], &subdivision).unwrap_err(),
            InputError::NotFinite { what: "point", index: 1 }
        );
    }
    for stop in [Stop::Subsets(0), Stop::Size(0)] {
        let error = Clusters::by_subdivision(&[[0.0; 3]], &Subdivision::new(stop)).unwrap_err();
        assert!(matches!(error, InputError::BadOption { .. }));
    }
    let edges = Elements::uniform(&[[0, 1]], 2).unwrap();
    assert!(Clusters::by_growth(&edges, Stop::Size(0)).is_err());
    assert!(mean_points(&edges, &[[0.0; 3]]).is_err());
    let other = Clusters::by_subdivision(&[[0.0; 3]; 2], &subdivision).unwrap();
    assert!(matches!(
        other.schedule(&edges, 1).unwrap_err(),
        PartitionError::Input(InputError::WrongCount { given: 2, expected: 1, .. })
    ));
    let one = Clusters::by_subdivision(&[[0.0; 3]], &subdivision).unwrap();
    assert!(one.schedule(&edges, 0).is_err());
}
