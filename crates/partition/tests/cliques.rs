//! Contract: all maximal cliques and nothing else; the clique number of elements of two bodies is
//! exact, of others a lower bound, and exact on tetrahedral grids; too much is refused.

mod common;

use common::{Problem, any_problem, cloth_edges, tetrahedra};
use proptest::prelude::*;
use taut_partition::cliques::{clique_number, maximal_cliques};
use taut_partition::{InputError, phantoms};

/// All maximal cliques by trying every set, for a dozen elements.
fn by_trying(problem: &Problem) -> Vec<Vec<u32>> {
    let conflicts: Vec<u32> = (0..problem.len())
        .map(|element| {
            let others = (0..problem.len())
                .filter(|&other| other != element && problem.conflict(element, other));
            others.map(|other| 1 << other).sum()
        })
        .collect();
    let members = |set: u32| (0..problem.len()).filter(move |&element| set >> element & 1 == 1);
    let is_clique = |set: u32| members(set).all(|e| conflicts[e] | 1 << e | !set == u32::MAX);
    let mut cliques: Vec<Vec<u32>> = (1_u32..1 << problem.len())
        .filter(|&set| is_clique(set))
        .filter(|&set| (0..problem.len()).all(|e| set >> e & 1 == 1 || !is_clique(set | 1 << e)))
        .map(|set| members(set).map(|element| element as u32).collect())
        .collect();
    cliques.sort();
    cliques
}

fn largest(problem: &Problem) -> usize {
    let cliques = maximal_cliques(&problem.elements()).unwrap_or_default();
    cliques.iter().map(Vec::len).max().unwrap_or(0)
}

proptest! {
    #[test]
    fn exactly_the_maximal_cliques(problem in any_problem()) {
        let problem = problem.cut(12);
        prop_assert_eq!(maximal_cliques(&problem.elements()).unwrap(), by_trying(&problem));
    }

    #[test]
    fn the_number_is_a_bound_and_exact_for_two_bodies(problem in any_problem()) {
        let problem = problem.cut(24);
        let number = clique_number(&problem.elements());
        let largest = largest(&problem);
        prop_assert!(number.size <= largest);
        if number.exact {
            prop_assert_eq!(number.size, largest);
        }
        prop_assert!(number.exact || problem.arity.is_none_or(|arity| arity > 2));
    }

    #[test]
    fn parallel_edges_make_fat_triangles(edges in proptest::collection::vec((0_u32..5, 1_u32..5), 1..60)) {
        let edges: Vec<[u32; 2]> = edges.into_iter().map(|(a, step)| [a, (a + step) % 5]).collect();
        let problem = Problem::uniform(&edges, 5);
        let number = clique_number(&problem.elements());
        prop_assert!(number.exact);
        prop_assert_eq!(number.size, largest(&problem));
    }
}

#[test]
fn meshes_have_the_cliques_of_the_characterization() {
    for problem in [cloth_edges(12, 9, |column, row| (column + row) % 2 == 0), tetrahedra(4)] {
        assert_eq!(clique_number(&problem.elements()).size, largest(&problem));
    }
}

#[test]
fn two_of_a_face_can_beat_every_star() {
    // The four faces of a tetrahedron: each body is in three of them, but any two share two.
    let faces = Problem::uniform(&[[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]], 4);
    let number = clique_number(&faces.elements());
    assert_eq!((number.size, number.exact), (4, false));
}

#[test]
fn the_fano_plane_is_beyond_the_characterization() {
    let lines = [[0, 1, 2], [0, 3, 4], [0, 5, 6], [1, 3, 5], [1, 4, 6], [2, 3, 6], [2, 4, 5]];
    let plane = Problem::uniform(&lines, 7);
    assert_eq!(largest(&plane), 7);
    let number = clique_number(&plane.elements());
    assert!(number.size < 7 && !number.exact);
}

#[test]
fn half_of_the_clique_number_is_the_default() {
    let number = clique_number(&tetrahedra(5).elements());
    assert_eq!((number.size, number.default_colors()), (24, 12));
    let path = Problem::uniform(&[[0, 1], [1, 2]], 3);
    assert_eq!(clique_number(&path.elements()).default_colors(), 2);
    assert_eq!(clique_number(&Problem::uniform::<2>(&[], 0).elements()).size, 0);
}

#[test]
fn too_large_a_graph_is_refused_with_advice() {
    let star: Vec<[u32; 2]> = (1..=3000).map(|leaf| [0, leaf]).collect();
    let star = Problem::uniform(&star, 3001);
    let error = maximal_cliques(&star.elements()).unwrap_err();
    assert!(matches!(error, InputError::TooLarge { limit: 2_000_000, .. }), "{error}");
    assert!(error.to_string().contains("clique number"));
    assert!(phantoms::split_by_cliques(&star.elements(), &phantoms::Options::new(2)).is_err());
    assert_eq!(clique_number(&star.elements()).size, 3000);
}
