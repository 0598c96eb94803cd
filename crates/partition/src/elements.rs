//! What a partitioner sees of a problem: elements, the bodies each one writes, and which
//! bodies are fixed. No positions, no physics.

use std::ops::Range;

use crate::InputError;

/// A list of elements, each writing a few bodies, borrowed from the caller.
///
/// Two elements *conflict* when they share a body that is not fixed.
///
/// ```
/// use taut_partition::Elements;
///
/// // Two edges of a path 0–1–2.
/// let edges = Elements::uniform(&[[0, 1], [1, 2]], 3)?;
/// assert_eq!(edges.of(1), [1, 2]);
/// # Ok::<(), taut_partition::InputError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
    layout: Layout<'a>,
    bodies: &'a [u32],
    body_count: usize,
    fixed: &'a [bool],
}

#[derive(Clone, Copy, Debug)]
enum Layout<'a> {
    /// Every element has as many bodies.
    Uniform(usize),
    /// Element `e` has the bodies `offsets[e]..offsets[e + 1]`.
    Ragged(&'a [u32]),
}

impl<'a> Elements<'a> {
    /// Elements that all have `N` bodies.
    pub fn uniform<const N: usize>(
        elements: &'a [[u32; N]],
        body_count: usize,
    ) -> Result<Self, InputError> {
        Self::flat(N, elements.as_flattened(), body_count)
    }

    /// Elements of `arity` bodies each, one after another in a flat list.
    pub fn flat(arity: usize, bodies: &'a [u32], body_count: usize) -> Result<Self, InputError> {
        if arity == 0 || !bodies.len().is_multiple_of(arity) {
            return Err(InputError::UnevenLength { length: bodies.len(), arity });
        }
        Self { layout: Layout::Uniform(arity), bodies, body_count, fixed: &[] }.checked()
    }

    /// Elements with different numbers of bodies: element `e` has the bodies
    /// `bodies[offsets[e]..offsets[e + 1]]`. `offsets` starts with 0, never falls and ends with
    /// the length of `bodies`; it has one entry more than there are elements.
    pub fn ragged(
        offsets: &'a [u32],
        bodies: &'a [u32],
        body_count: usize,
    ) -> Result<Self, InputError> {
        let rising = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        let ends = (offsets.first(), offsets.last().map(|&last| last as usize));
        if !rising || ends != (Some(&0), Some(bodies.len())) {
            return Err(InputError::BadOffsets { bodies: bodies.len() });
        }
        Self { layout: Layout::Ragged(offsets), bodies, body_count, fixed: &[] }.checked()
    }

    /// Marks the bodies that no element ever writes (w = 0): they never conflict.
    pub fn with_fixed(self, fixed: &'a [bool]) -> Result<Self, InputError> {
        if fixed.len() != self.body_count {
            return Err(InputError::FixedLength { given: fixed.len(), bodies: self.body_count });
        }
        Ok(Self { fixed, ..self })
    }

    /// The same layout with other bodies, such as copies of the original ones. `fixed` may be
    /// empty: then nothing is fixed.
    pub(crate) fn with_bodies<'b>(
        &self,
        bodies: &'b [u32],
        body_count: usize,
        fixed: &'b [bool],
    ) -> Result<Elements<'b>, InputError>
    where
        'a: 'b,
    {
        Elements { layout: self.layout, bodies, body_count, fixed }.checked()
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        match self.layout {
            Layout::Uniform(arity) => self.bodies.len() / arity,
            Layout::Ragged(offsets) => offsets.len() - 1,
        }
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of bodies, whether an element uses them or not.
    pub fn body_count(&self) -> usize {
        self.body_count
    }

    /// The bodies of one element.
    #[inline]
    pub fn of(&self, element: usize) -> &'a [u32] {
        &self.bodies[self.range_of(element)]
    }

    /// Where the bodies of one element stand in [`bodies`](Self::bodies).
    #[inline]
    pub fn range_of(&self, element: usize) -> Range<usize> {
        match self.layout {
            Layout::Uniform(arity) => element * arity..(element + 1) * arity,
            Layout::Ragged(offsets) => offsets[element] as usize..offsets[element + 1] as usize,
        }
    }

    /// The bodies of a range of elements, one after another.
    #[inline]
    pub fn bodies_of(&self, elements: Range<usize>) -> &'a [u32] {
        match self.layout {
            Layout::Uniform(arity) => &self.bodies[elements.start * arity..elements.end * arity],
            Layout::Ragged(offsets) => {
                &self.bodies[offsets[elements.start] as usize..offsets[elements.end] as usize]
            }
        }
    }

    /// The bodies of one element that can conflict: those that are not fixed.
    #[inline]
    pub fn movable_of(&self, element: usize) -> impl Iterator<Item = u32> + Clone + 'a {
        let fixed = self.fixed;
        self.of(element).iter().copied().filter(move |&body| !is_fixed(fixed, body))
    }

    /// Whether a body is fixed.
    #[inline]
    pub fn is_fixed(&self, body: u32) -> bool {
        is_fixed(self.fixed, body)
    }

    /// How many bodies every element has, if all have as many.
    pub fn arity(&self) -> Option<usize> {
        match self.layout {
            Layout::Uniform(arity) => Some(arity),
            Layout::Ragged(_) => None,
        }
    }

    /// All body ids, element after element.
    pub fn bodies(&self) -> &'a [u32] {
        self.bodies
    }

    /// Whether any body is fixed, for loops that would rather not ask each time.
    pub fn has_fixed(&self) -> bool {
        self.fixed.contains(&true)
    }

    /// Elements of `arity` bodies that were checked before, one fixed flag per body.
    pub(crate) fn uniform_trusted(arity: usize, bodies: &'a [u32], fixed: &'a [bool]) -> Self {
        Self { layout: Layout::Uniform(arity), bodies, body_count: fixed.len(), fixed }
    }

    /// Elements that were checked before, one fixed flag per body.
    pub(crate) fn ragged_trusted(offsets: &'a [u32], bodies: &'a [u32], fixed: &'a [bool]) -> Self {
        Self { layout: Layout::Ragged(offsets), bodies, body_count: fixed.len(), fixed }
    }

    fn checked(self) -> Result<Self, InputError> {
        let limit = u32::MAX as usize;
        if self.len() >= limit || self.body_count >= limit || self.bodies.len() >= limit {
            return Err(InputError::TooMany { limit });
        }
        match self.layout {
            // A length that is known to the compiler lets it unroll the comparison of all pairs.
            Layout::Uniform(2) => self.check_uniform::<2>()?,
            Layout::Uniform(3) => self.check_uniform::<3>()?,
            Layout::Uniform(4) => self.check_uniform::<4>()?,
            _ => (0..self.len())
                .try_for_each(|element| check_bodies(element, self.of(element), self.body_count))?,
        }
        Ok(self)
    }

    fn check_uniform<const N: usize>(&self) -> Result<(), InputError> {
        let sound = |bodies: &[u32; N]| {
            let in_range = bodies.iter().all(|&body| (body as usize) < self.body_count);
            let differ = (1..N).all(|place| !bodies[..place].contains(&bodies[place]));
            in_range & differ
        };
        let (elements, _) = self.bodies.as_chunks::<N>();
        match elements.iter().position(|bodies| !sound(bodies)) {
            Some(element) => check_bodies(element, &elements[element], self.body_count),
            None => Ok(()),
        }
    }
}

/// Elements with more bodies are sorted to find repeated ones, instead of comparing all pairs.
const FEW_BODIES: usize = 32;

/// Checks that the bodies of an element exist and differ.
pub(crate) fn check_bodies(
    element: usize,
    bodies: &[u32],
    body_count: usize,
) -> Result<(), InputError> {
    if let Some(&body) = bodies.iter().find(|&&body| body as usize >= body_count) {
        return Err(InputError::OutOfRange { element, body, bodies: body_count });
    }
    match repeated(bodies) {
        Some(body) => Err(InputError::RepeatedBody { element, body }),
        None => Ok(()),
    }
}

fn repeated(bodies: &[u32]) -> Option<u32> {
    if bodies.len() <= FEW_BODIES {
        let place = (1..bodies.len()).find(|&place| bodies[..place].contains(&bodies[place]))?;
        return Some(bodies[place]);
    }
    let mut sorted = bodies.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

#[inline]
fn is_fixed(fixed: &[bool], body: u32) -> bool {
    // An empty list means that nothing is fixed.
    fixed.get(body as usize).is_some_and(|&fixed| fixed)
}

#[cfg(test)]
mod tests {
    //! Contract: malformed elements are refused with the element and the body named.

    use super::*;

    #[test]
    fn accepts_uniform_flat_and_ragged() {
        let uniform = Elements::uniform(&[[0, 1, 2], [2, 1, 3]], 4).unwrap();
        assert_eq!((uniform.len(), uniform.of(1)), (2, &[2, 1, 3][..]));
        let ragged = Elements::ragged(&[0, 2, 2, 5], &[0, 1, 1, 2, 3], 4).unwrap();
        assert_eq!((ragged.len(), ragged.of(1), ragged.of(2)), (3, &[][..], &[1, 2, 3][..]));
        assert!(Elements::uniform::<2>(&[], 0).unwrap().is_empty());
    }

    #[test]
    fn refuses_repeated_and_unknown_bodies() {
        assert_eq!(
            Elements::uniform(&[[0, 1], [2, 2]], 3).unwrap_err(),
            InputError::RepeatedBody { element: 1, body: 2 }
        );
        assert_eq!(
            Elements::uniform(&[[0, 1], [2, 3]], 3).unwrap_err(),
            InputError::OutOfRange { element: 1, body: 3, bodies: 3 }
        );
    }

    #[test]
    fn thousands_of_bodies_are_checked_too() {
        let mut bodies: Vec<u32> = (0..50_000).rev().collect();
        assert!(Elements::flat(50_000, &bodies, 50_000).is_ok());
        bodies[40_000] = 123;
        assert_eq!(
            Elements::flat(50_000, &bodies, 50_000).unwrap_err(),
            InputError::RepeatedBody { element: 0, body: 123 }
        );
    }

    #[test]
    fn refuses_bad_lengths() {
        assert_eq!(
            Elements::flat(2, &[0, 1, 2], 3).unwrap_err(),
            InputError::UnevenLength { length: 3, arity: 2 }
        );
        for offsets in [&[0, 3, 2][..], &[1, 2], &[0, 1], &[]] {
            assert_eq!(
                Elements::ragged(offsets, &[0, 1], 2).unwrap_err(),
                InputError::BadOffsets { bodies: 2 }
            );
        }
        let elements = Elements::uniform(&[[0, 1]], 2).unwrap();
        assert_eq!(
            elements.with_fixed(&[true]).unwrap_err(),
            InputError::FixedLength { given: 1, bodies: 2 }
        );
    }

    #[test]
    fn fixed_bodies_are_not_movable() {
        let fixed = [false, true, false];
        let elements = Elements::uniform(&[[0, 1]], 3).unwrap().with_fixed(&fixed).unwrap();
        assert_eq!(elements.movable_of(0).collect::<Vec<_>>(), [0]);
    }
}
