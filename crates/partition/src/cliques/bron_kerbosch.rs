//! All maximal cliques of a small constraint graph.

use super::{MOST_CLIQUES, MOST_PAIRS};
use crate::coloring::smallest_last;
use crate::{Elements, Incidence, InputError};

pub(super) fn maximal_cliques(elements: &Elements<'_>) -> Result<Vec<Vec<u32>>, InputError> {
    let incidence = Incidence::new(elements);
    let mut search = Search::new(neighbors(elements, &incidence)?);
    // Reversed, the smallest-last order is the order of removal: a degeneracy order.
    let mut order = smallest_last(elements, incidence);
    order.reverse();
    search.run(&order)?;
    let mut cliques = search.cliques;
    cliques.iter_mut().for_each(|clique| clique.sort_unstable());
    cliques.sort_unstable();
    Ok(cliques)
}

/// The constraint graph: per element the elements it conflicts with, rising.
fn neighbors(elements: &Elements<'_>, incidence: &Incidence) -> Result<Vec<Vec<u32>>, InputError> {
    let mut lists = Vec::with_capacity(elements.len());
    let mut entries = 0;
    for element in 0..elements.len() {
        let mut list = Vec::new();
        for body in elements.movable_of(element) {
            list.extend(incidence.of(body).iter().filter(|&&other| other as usize != element));
        }
        list.sort_unstable();
        list.dedup();
        entries += list.len();
        if entries > 2 * MOST_PAIRS {
            return Err(too_large("conflicting pairs of elements", MOST_PAIRS));
        }
        lists.push(list);
    }
    Ok(lists)
}

fn too_large(what: &'static str, limit: usize) -> InputError {
    let instead = "ask for the clique number, which needs no list of cliques";
    InputError::TooLarge { what, limit, instead }
}

struct Search {
    neighbors: Vec<Vec<u32>>,
    /// The clique at hand.
    clique: Vec<u32>,
    cliques: Vec<Vec<u32>>,
}

impl Search {
    fn new(neighbors: Vec<Vec<u32>>) -> Self {
        Self { neighbors, clique: Vec::new(), cliques: Vec::new() }
    }

    /// Each maximal clique is found from its first member in this order: candidates come later,
    /// and what comes earlier only shows that a clique was found before.
    fn run(&mut self, order: &[u32]) -> Result<(), InputError> {
        let mut places = vec![0; order.len()];
        for (place, &element) in order.iter().enumerate() {
            places[element as usize] = place;
        }
        for &element in order {
            let later = |other: &u32| places[*other as usize] > places[element as usize];
            let (candidates, excluded) =
                self.neighbors[element as usize].iter().copied().partition(later);
            self.clique.push(element);
            self.extend(candidates, excluded)?;
            self.clique.pop();
        }
        Ok(())
    }

    /// Reports all maximal cliques that contain the clique at hand and otherwise candidates
    /// only. The excluded elements conflict with the whole clique too, but were dealt with.
    fn extend(
        &mut self,
        mut candidates: Vec<u32>,
        mut excluded: Vec<u32>,
    ) -> Result<(), InputError> {
        let Some(pivot) = self.pivot(&candidates, &excluded) else {
            return self.report();
        };
        // A maximal clique has the pivot or something that is no neighbor of it.
        let away = |other: &u32| self.neighbors[pivot as usize].binary_search(other).is_err();
        let branches: Vec<u32> = candidates.iter().copied().filter(away).collect();
        for element in branches {
            let candidates_here = self.among_neighbors(element, &candidates);
            let excluded_here = self.among_neighbors(element, &excluded);
            self.clique.push(element);
            self.extend(candidates_here, excluded_here)?;
            self.clique.pop();
            candidates.retain(|&other| other != element);
            excluded.push(element);
        }
        Ok(())
    }

    /// The candidate or excluded element with the most neighbors among the candidates, which
    /// leaves the fewest branches (Tomita et al. 2006); `None` if there is neither.
    fn pivot(&self, candidates: &[u32], excluded: &[u32]) -> Option<u32> {
        let reach = |&element: &u32| self.among_neighbors(element, candidates).len();
        candidates.iter().chain(excluded).copied().max_by_key(reach)
    }

    fn among_neighbors(&self, element: u32, others: &[u32]) -> Vec<u32> {
        let list = &self.neighbors[element as usize];
        others.iter().copied().filter(|other| list.binary_search(other).is_ok()).collect()
    }

    fn report(&mut self) -> Result<(), InputError> {
        if self.cliques.len() == MOST_CLIQUES {
            return Err(too_large("maximal cliques", MOST_CLIQUES));
        }
        self.cliques.push(self.clique.clone());
        Ok(())
    }
}
