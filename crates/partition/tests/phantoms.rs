//! Contract: exactly q̂ colors for any problem; every element keeps its own bodies or copies of
//! them; no body has fewer copies than its elements need; fixed bodies are never split; the
//! paper's own algorithm brings the clique number down to q̂ on small problems.

mod common;

use common::{Problem, any_problem, check, cloth_edges, noise, tetrahedra};
use proptest::prelude::*;
use taut_partition::phantoms::{Options, Split, split, split_by_cliques};
use taut_partition::ranks::{Curve, curve_order};
use taut_partition::{Elements, InputError, cliques};

/// The problem after splitting, as an independent problem.
fn after(problem: &Problem, split: &Split) -> Problem {
    let body_count = problem.body_count + split.copy_count();
    let mut fixed = problem.fixed.clone();
    fixed.resize(body_count, false);
    Problem { bodies: split.bodies.clone(), body_count, fixed, ..problem.clone() }
}

/// What every split keeps, whatever found it.
fn check_split(problem: &Problem, split: &Split) -> Result<(), TestCaseError> {
    check(&after(problem, split), &split.schedule)?;
    for (&new, &old) in split.bodies.iter().zip(&problem.bodies) {
        let copy = (new as usize).checked_sub(problem.body_count);
        prop_assert_eq!(copy.map_or(new, |copy| split.owners[copy]), old);
    }
    let own: Vec<&[u32]> = split.owners.chunk_by(|a, b| a == b).collect();
    let tile = |group: usize| split.tile_ends.partition_point(|&end| end as usize <= group);
    let groups: Vec<_> = own.iter().enumerate().map(|(group, own)| (tile(group), own)).collect();
    prop_assert!(groups.is_sorted_by_key(|(tile, copies)| (*tile, copies.len(), copies[0])));
    prop_assert!(split.owners.iter().all(|&owner| !problem.fixed[owner as usize]));
    let mut listed = 0;
    for group in split.groups() {
        for copy in group.copies {
            prop_assert_eq!(copy as usize, problem.body_count + listed);
            prop_assert_eq!(split.owners[listed], group.body);
            listed += 1;
        }
    }
    prop_assert_eq!(listed, split.copy_count());
    for phase in 0..split.schedule.phase_count() {
        for &element in &split.schedule.order()[split.schedule.phase(phase)] {
            prop_assert_eq!(split.colors[element as usize] as usize, phase);
        }
    }
    Ok(())
}

/// Σ (⌈valence / q̂⌉ − 1), counted anew.
fn fewest_copies(problem: &Problem, colors: usize) -> usize {
    let mut valence = vec![0_usize; problem.body_count];
    for &body in problem.bodies.iter().filter(|&&body| !problem.fixed[body as usize]) {
        valence[body as usize] += 1;
    }
    valence.into_iter().filter(|&valence| valence > 0).map(|v| v.div_ceil(colors) - 1).sum()
}

proptest! {
    #[test]
    fn exactly_as_many_colors_as_asked_for(problem in any_problem(), colors in 2_usize..12) {
        let split = split(&problem.elements(), &Options::new(colors)).unwrap();
        check_split(&problem, &split)?;
        prop_assert_eq!(split.schedule.phase_count(), colors.min(problem.len()));
        prop_assert_eq!(split.lower_bound, fewest_copies(&problem, colors));
        prop_assert!(split.copy_count() >= split.lower_bound);
        // A body has as many copies as its most frequent color needs, and no more.
        let mut needed = vec![0; problem.body_count * colors];
        for element in 0..problem.len() {
            for &body in problem.of(element).iter().filter(|&&body| !problem.fixed[body as usize]) {
                needed[body as usize * colors + split.colors[element] as usize] += 1_usize;
            }
        }
        let most = needed.chunks(colors).map(|counts| counts.iter().max().unwrap().max(&1) - 1);
        prop_assert_eq!(split.copy_count(), most.sum::<usize>());
    }

    #[test]
    fn rows_change_who_comes_first_and_nothing_else(
        problem in any_problem(),
        colors in 2_usize..6,
        tile_bodies in prop::option::of(1_usize..20),
    ) {
        let options = Options { tile_bodies, ..Options::new(colors) };
        let plain = split(&problem.elements(), &options).unwrap();
        let rows = split(&problem.elements(), &Options { pairs_in_rows: true, ..options }).unwrap();
        prop_assert_eq!(&rows.colors, &plain.colors);
        prop_assert_eq!(&rows.owners, &plain.owners);
        let mut turned = rows.clone();
        for place in 0..rows.schedule.len() {
            let element = rows.schedule.order()[place] as usize;
            let range = problem.elements().range_of(element);
            let solved = rows.schedule.bodies_at(place);
            let own = &mut turned.bodies[range];
            if own != solved {
                prop_assert_eq!(own.len(), 2);
                own.swap(0, 1);
            }
            prop_assert_eq!(&*own, solved);
        }
        prop_assert!(rows.tile_ends == plain.tile_ends);
        for (&new, &old) in rows.bodies.iter().zip(&problem.bodies) {
            let copy = (new as usize).checked_sub(problem.body_count);
            prop_assert_eq!(copy.map_or(new, |copy| rows.owners[copy]), old);
        }
    }

    #[test]
    fn tiles_share_no_copy(problem in any_problem(), colors in 2_usize..6, size in 1_usize..20) {
        let options = Options { tile_bodies: Some(size), ..Options::new(colors) };
        let split = split(&problem.elements(), &options).unwrap();
        check_split(&problem, &split)?;
        prop_assert_eq!(split.schedule.phase_count(), colors.min(problem.len()));
        prop_assert!(split.copy_count() >= split.lower_bound);
        // Where nothing is split there are no tiles either.
        if split.tile_ends.is_empty() {
            prop_assert_eq!(split.copy_count(), 0);
            return Ok(());
        }
        prop_assert!(split.schedule.has_columns());
        let columns = split.schedule.blocks(0).len();
        prop_assert_eq!(split.tile_ends.len(), columns);
        // Bodies that are said to be of a tile take part in no other, those of several do.
        let mut used = vec![std::collections::BTreeSet::new(); problem.body_count];
        for (element, placement) in split.schedule.placements().iter().enumerate() {
            for &body in problem.of(element).iter().filter(|&&body| !problem.fixed[body as usize]) {
                used[body as usize].insert(placement.block as usize % columns);
            }
        }
        for (index, group) in split.groups().enumerate() {
            let tile = split.tile_ends.partition_point(|&end| end as usize <= index);
            let used = &used[group.body as usize];
            prop_assert_eq!(used.len() == 1, tile < columns);
            prop_assert!(tile == columns || used.contains(&tile));
        }
    }

    #[test]
    fn the_papers_way_bounds_the_cliques(problem in any_problem(), colors in 2_usize..6) {
        let problem = problem.cut(24);
        let split = split_by_cliques(&problem.elements(), &Options::new(colors)).unwrap();
        check_split(&problem, &split)?;
        let after = after(&problem, &split);
        let cliques = cliques::maximal_cliques(&after.elements()).unwrap();
        prop_assert!(cliques.iter().all(|clique| clique.len() <= colors));
    }
}

fn imbalance(split: &Split) -> f64 {
    let sizes = (0..split.schedule.phase_count()).map(|phase| split.schedule.phase(phase).len());
    let mean = split.schedule.len() as f64 / split.schedule.phase_count() as f64;
    sizes.max().unwrap_or(0) as f64 / mean
}

#[test]
fn meshes_are_split_into_even_colors_near_the_bound() {
    let random = |column, row| noise(u64::from(column) << 32 | u64::from(row)).is_multiple_of(2);
    let cloths = [cloth_edges(60, 60, |_, _| true), cloth_edges(60, 60, random)];
    let ratio = |problem: &Problem, colors| match (problem.arity, colors) {
        (Some(2), _) => 1.06,
        // The bound asks for each color exactly twice at every inner body: it is far off.
        (_, 12) => 2.1,
        _ => 1.22,
    };
    for problem in cloths.into_iter().chain([tetrahedra(9)]) {
        for colors in [2, 3, 4, 6, 12, 40] {
            let split = split(&problem.elements(), &Options::new(colors)).unwrap();
            check_split(&problem, &split).unwrap();
            assert_eq!(split.schedule.phase_count(), colors);
            let ratio = ratio(&problem, colors);
            let (copies, bound) = (split.copy_count() as f64, split.lower_bound as f64);
            assert!(copies <= ratio * bound, "{colors} colors: {copies} copies, at least {bound}");
            assert!(imbalance(&split) < 1.02, "{}", imbalance(&split));
        }
    }
}

#[test]
fn tiles_cost_few_copies() {
    // Neighbors have numbers close by.
    let mut cloth = cloth_edges(199, 199, |_, _| true);
    let places: Vec<[f32; 3]> =
        (0..40_000).map(|body| [(body % 200) as f32, (body / 200) as f32, 0.0]).collect();
    let mut numbers = vec![0; places.len()];
    for (number, body) in curve_order(&places, Curve::Hilbert).unwrap().into_iter().enumerate() {
        numbers[body as usize] = number as u32;
    }
    cloth.bodies.iter_mut().for_each(|body| *body = numbers[*body as usize]);
    let options = Options { tile_bodies: Some(2000), ..Options::new(3) };
    let tiled = split(&cloth.elements(), &options).unwrap();
    let plain = split(&cloth.elements(), &Options::new(3)).unwrap();
    let ratio = tiled.copy_count() as f64 / plain.copy_count() as f64;
    assert!(ratio < 1.08, "{ratio}");
}

#[test]
fn nothing_is_split_where_the_colors_suffice() {
    let cloth = cloth_edges(40, 30, |_, _| true);
    let split = split(&cloth.elements(), &Options::new(6)).unwrap();
    assert_eq!((split.copy_count(), split.schedule.phase_count()), (0, 6));
    assert_eq!(split.bodies, cloth.bodies);
}

#[test]
fn a_star_of_thousands_is_split_evenly() {
    let star: Vec<[u32; 2]> = (1..=4000).map(|leaf| [0, leaf]).collect();
    let problem = Problem::uniform(&star, 4001);
    for colors in [2, 7, 100, 1000] {
        let split = split(&problem.elements(), &Options::new(colors)).unwrap();
        assert_eq!(split.copy_count(), split.lower_bound);
        assert_eq!(split.schedule.phase_count(), colors);
        check(&after(&problem, &split), &split.schedule).unwrap();
    }
}

#[test]
fn odd_cycles_need_one_copy_for_two_colors() {
    let cycle = Problem::uniform(&[[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]], 5);
    let split = split(&cycle.elements(), &Options::new(2)).unwrap();
    assert_eq!((split.copy_count(), split.lower_bound, split.schedule.phase_count()), (1, 0, 2));
    // No clique has more than two edges, so the paper's way leaves the cycle as it is, and it
    // takes three colors.
    let by_cliques = split_by_cliques(&cycle.elements(), &Options::new(2)).unwrap();
    assert_eq!((by_cliques.copy_count(), by_cliques.schedule.phase_count()), (0, 3));
}

#[test]
fn fewer_than_two_colors_are_refused() {
    let elements = Elements::uniform(&[[0, 1]], 2).unwrap();
    for colors in [0, 1] {
        let error = split(&elements, &Options::new(colors)).unwrap_err();
        assert!(matches!(error, InputError::BadOption { option: "colors", .. }));
        assert!(split_by_cliques(&elements, &Options::new(colors)).is_err());
    }
}

#[test]
fn fewer_elements_than_colors_get_a_color_each() {
    for count in 0..4 {
        let edges: Vec<[u32; 2]> = (0..count).map(|edge| [edge, edge + 1]).collect();
        let problem = Problem::uniform(&edges, 5);
        let split = split(&problem.elements(), &Options::new(4)).unwrap();
        assert_eq!(split.schedule.phase_count(), count as usize);
    }
}

#[test]
fn edges_of_cloth_come_in_rows() {
    let cloth = cloth_edges(60, 60, |_, _| true);
    for tile_bodies in [None, Some(900)] {
        let options = Options { tile_bodies, pairs_in_rows: true, ..Options::new(3) };
        let split = split(&cloth.elements(), &options).unwrap();
        let schedule = &split.schedule;
        let (mut whole, mut all) = (0, 0);
        for batch in 0..schedule.batch_count() {
            let firsts: Vec<u32> =
                schedule.batch(batch).map(|place| schedule.bodies_at(place)[0]).collect();
            assert!(firsts.is_sorted_by(|a, b| a < b));
            all += firsts.len() / 16;
            whole += firsts.chunks_exact(16).filter(|row| row[15] == row[0] + 15).count();
        }
        assert!(whole * 10 >= all * 6, "{whole} of {all} groups of sixteen are rows");
    }
}
