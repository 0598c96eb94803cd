//! The transpose of [`Elements`]: for every body, the elements that write it.
//!
//! Everything that needs neighbors walks these lists. The dual graph (one edge per pair of
//! conflicting elements) is never built: a body shared by `v` elements costs `v` entries here
//! and `v²` there.

use crate::Elements;

/// For every body the elements that write it, in rising order. Fixed bodies have none.
///
/// ```
/// use taut_partition::{Elements, Incidence};
///
/// let edges = Elements::uniform(&[[0, 1], [1, 2]], 3)?;
/// let incidence = Incidence::new(&edges);
/// assert_eq!(incidence.of(1), [0, 1]);
/// assert_eq!(incidence.max_valence(), 2);
/// # Ok::<(), taut_partition::InputError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incidence {
    offsets: Vec<u32>,
    elements: Vec<u32>,
    max_valence: usize,
}

impl Incidence {
    /// Transposes the elements by a counting sort.
    pub fn new(elements: &Elements<'_>) -> Self {
        let mut offsets = valences(elements);
        let max_valence = offsets.iter().copied().max().unwrap_or(0) as usize;
        let mut end = 0;
        for offset in &mut offsets {
            end += *offset;
            *offset = end;
        }
        offsets.push(end);
        // Filling from the back turns each list's end into its start and keeps the lists rising.
        let mut lists = vec![0; end as usize];
        let movable = !elements.has_fixed();
        for element in (0..elements.len()).rev() {
            for &body in elements.of(element) {
                if movable || !elements.is_fixed(body) {
                    let offset = &mut offsets[body as usize];
                    *offset -= 1;
                    lists[*offset as usize] = element as u32;
                }
            }
        }
        Self { offsets, elements: lists, max_valence }
    }

    /// The elements that write a body.
    #[inline]
    pub fn of(&self, body: u32) -> &[u32] {
        let body = body as usize;
        &self.elements[self.offsets[body] as usize..self.offsets[body + 1] as usize]
    }

    /// How many elements write a body.
    #[inline]
    pub fn valence(&self, body: u32) -> usize {
        self.of(body).len()
    }

    /// The highest valence: these elements all conflict with each other, so no coloring has
    /// fewer colors.
    pub fn max_valence(&self) -> usize {
        self.max_valence
    }

    /// Where each body's list starts in the list of all of them, and where the last one ends.
    pub(crate) fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// All lists, to be consumed by algorithms that shrink them as they go.
    pub(crate) fn into_elements(self) -> Vec<u32> {
        self.elements
    }
}

/// How many elements write each body; 0 for fixed ones.
pub(crate) fn valences(elements: &Elements<'_>) -> Vec<u32> {
    let mut valences = vec![0_u32; elements.body_count()];
    for &body in elements.bodies() {
        valences[body as usize] += 1;
    }
    if elements.has_fixed() {
        for (body, valence) in valences.iter_mut().enumerate() {
            if elements.is_fixed(body as u32) {
                *valence = 0;
            }
        }
    }
    valences
}

#[cfg(test)]
mod tests {
    //! Contract: each list holds exactly the elements that name the body, rising.

    use super::*;

    #[test]
    fn lists_rise_and_skip_fixed_bodies() {
        let fixed = [false, false, true, false];
        let elements = Elements::ragged(&[0, 3, 5, 5, 7], &[0, 1, 2, 1, 2, 3, 1], 4).unwrap();
        let incidence = Incidence::new(&elements.with_fixed(&fixed).unwrap());
        let lists: Vec<_> = (0..4).map(|body| incidence.of(body).to_vec()).collect();
        assert_eq!(lists, [vec![0], vec![0, 1, 3], vec![], vec![3]]);
        assert_eq!(incidence.max_valence(), 3);
    }

    #[test]
    fn nothing_has_no_valence() {
        let incidence = Incidence::new(&Elements::uniform::<2>(&[], 0).unwrap());
        assert_eq!(incidence.max_valence(), 0);
    }
}
