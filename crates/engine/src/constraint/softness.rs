//! How soft the constraints of a group are.

use std::ops::Range;

use crate::math::{Lane, MAX_WIDTH};

/// Stiffness, compliance or spring constant of the elements of a group in schedule order, for each row:
/// a number for every element, or one for all of them. The latter is what most scenes have, and spares
/// kernels a good part of what they read from memory.
#[derive(Clone, Debug)]
pub struct Softness {
    /// As long as there are elements; as wide as lanes where all elements share a number.
    rows: Vec<Vec<f32>>,
    is_shared: bool,
}

impl Softness {
    /// Takes a list for each row, with a number for each element.
    pub fn new(mut rows: Vec<Vec<f32>>) -> Self {
        let same = |row: &Vec<f32>| row.windows(2).all(|two| two[0].to_bits() == two[1].to_bits());
        let is_shared = rows.iter().all(|row| !row.is_empty() && same(row));
        if is_shared {
            for row in &mut rows {
                *row = vec![row[0]; MAX_WIDTH];
            }
        }
        Self { rows, is_shared }
    }

    /// The number of an element.
    pub fn at(&self, row: usize, place: usize) -> f32 {
        self.rows[row][if self.is_shared { 0 } else { place }]
    }

    /// A number for each row, if all elements share them.
    pub fn shared(&self) -> Option<Vec<f32>> {
        self.is_shared.then(|| self.rows.iter().map(|row| row[0]).collect())
    }

    /// The numbers of the elements at some places.
    #[inline(always)]
    pub(super) fn part<const M: usize>(&self, places: Range<usize>) -> Part<'_, M> {
        let mut part = Part { rows: [&[]; M], mask: if self.is_shared { 0 } else { usize::MAX } };
        for row in 0..M {
            let all = &self.rows[row][..];
            part.rows[row] = if self.is_shared { all } else { &all[places.clone()] };
        }
        part
    }
}

/// The softness of some elements, within reach of kernels.
#[derive(Clone, Copy)]
pub(super) struct Part<'a, const M: usize> {
    rows: [&'a [f32]; M],
    /// All bits, or none where all elements share a number: this costs less than a branch.
    mask: usize,
}

impl<const M: usize> Part<'_, M> {
    /// The numbers of at most as many elements as there are lanes.
    #[inline(always)]
    pub(super) fn load<L: Lane>(&self, row: usize, own: Range<usize>) -> L {
        let start = own.start & self.mask;
        L::load(&self.rows[row][start..start + own.len()])
    }
}

#[cfg(test)]
mod tests {
    //! Contract: what elements share is kept once, and what they do not is kept for each.

    use super::*;

    #[test]
    fn a_number_of_all_elements_is_kept_once() {
        let shared = Softness::new(vec![vec![0.5; 100], vec![0.25; 100]]);
        assert_eq!(shared.shared(), Some(vec![0.5, 0.25]));
        assert_eq!(shared.rows[0].len(), MAX_WIDTH);
        assert_eq!((shared.at(0, 99), shared.at(1, 0)), (0.5, 0.25));
        let part = shared.part::<2>(90..100);
        assert_eq!((part.load::<f32>(0, 9..10), part.load::<f32>(1, 3..4)), (0.5, 0.25));
    }

    #[test]
    fn numbers_of_their_own_are_kept_for_all() {
        let numbers: Vec<f32> = (0..100_u8).map(f32::from).collect();
        let each = Softness::new(vec![vec![1.0; 100], numbers]);
        assert_eq!(each.shared(), None);
        assert_eq!((each.at(0, 7), each.at(1, 7)), (1.0, 7.0));
        let part = each.part::<2>(90..100);
        assert_eq!((part.load::<f32>(0, 9..10), part.load::<f32>(1, 3..4)), (1.0, 93.0));
        assert_eq!(Softness::new(vec![Vec::new()]).shared(), None);
    }
}
