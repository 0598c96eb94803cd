//! First-fit coloring in a given order.

use super::sets::ColorSets;
use crate::{Elements, Incidence};

/// Gives each element, in this order, the smallest color that none of its bodies uses.
pub(crate) fn first_fit(
    elements: &Elements<'_>,
    order: impl Iterator<Item = u32>,
    expected: usize,
) -> Vec<u32> {
    let mut colors = vec![0; elements.len()];
    let mut sets = ColorSets::new(elements.body_count(), expected);
    if elements.has_fixed() {
        for element in order {
            let bodies = elements.movable_of(element as usize);
            colors[element as usize] = sets.take_first_free(bodies);
        }
    } else {
        for element in order {
            let bodies = elements.of(element as usize).iter().copied();
            colors[element as usize] = sets.take_first_free(bodies);
        }
    }
    colors
}

/// Elements with the most neighbors first (Welsh & Powell 1967), equal ones in natural order.
/// A neighbor counts once per body shared.
pub(crate) fn largest_first(elements: &Elements<'_>, incidence: &Incidence) -> Vec<u32> {
    let valence = |element| {
        elements.movable_of(element).map(|body| incidence.valence(body) as u64).sum::<u64>()
    };
    let mut order: Vec<(u64, u32)> =
        (0..elements.len()).map(|element| (valence(element), element as u32)).collect();
    order.sort_unstable_by_key(|&(valence, element)| (std::cmp::Reverse(valence), element));
    order.into_iter().map(|(_, element)| element).collect()
}
