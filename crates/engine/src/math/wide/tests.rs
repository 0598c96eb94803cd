//! Contract: every lane does exactly what `f32` does, in the plain array and in the lanes that this
//! processor gets.

use std::array::from_fn;

use proptest::prelude::*;

use super::*;
use crate::math::{Work, atan2, widest};

type Numbers = [f32; LANES];

/// Every operation once.
struct Everything {
    a: Numbers,
    b: Numbers,
}

impl Work for Everything {
    type Output = Vec<Numbers>;

    fn run<L: Lane>(self) -> Vec<Numbers> {
        let Self { a, b } = self;
        let mut outcomes = vec![[0.0; LANES]; 13];
        for first in (0..LANES).step_by(L::WIDTH) {
            let (x, y) = (L::load(&a[first..][..L::WIDTH]), L::load(&b[first..][..L::WIDTH]));
            let results = [
                x + y,
                x - y,
                x * y,
                x / y,
                -x,
                x.abs(),
                x.abs().sqrt(),
                x.min(y),
                x.max(y),
                atan2(x, y),
                L::select(x.less(y), x, y),
                L::splat(0.3),
                L::from_lanes(|lane| a[first + lane]),
            ];
            for (outcome, result) in outcomes.iter_mut().zip(results) {
                result.store(&mut outcome[first..][..L::WIDTH]);
            }
        }
        outcomes
    }
}

fn bits(outcomes: &[Numbers]) -> Vec<u32> {
    outcomes.as_flattened().iter().map(|number| number.to_bits()).collect()
}

proptest! {
    #[test]
    fn lanes_have_the_bits_of_scalars(
        a in prop::array::uniform8(-1e3_f32..1e3),
        b in prop::array::uniform8(-1e3_f32..1e3),
    ) {
        let scalar = bits(&Everything { a, b }.run::<f32>());
        prop_assert_eq!(&scalar, &bits(&Everything { a, b }.run::<F32x8>()));
        prop_assert_eq!(&scalar, &bits(&widest(Everything { a, b })));
    }
}

/// Particles in and out, and what is left over.
struct Movement;

impl Work for Movement {
    type Output = ();

    fn run<L: Lane>(self) {
        let quadruple = |lane: usize| [0.0, 0.1, 0.2, 0.3].map(|part| lane as f32 + part);
        let parts = L::from_quadruples(quadruple);
        assert_eq!(parts[2].lane(L::WIDTH - 1), quadruple(L::WIDTH - 1)[2]);
        let mut seen = 0;
        L::into_quadruples(parts, |lane, out| {
            assert_eq!((lane, out), (seen, quadruple(lane)));
            seen += 1;
        });
        assert_eq!(seen, L::WIDTH);

        for count in 1..=L::WIDTH {
            let numbers: Numbers = from_fn(|lane| 1.0 + lane as f32);
            let loaded = L::load(&numbers[..count]);
            assert_eq!(loaded.lane(L::WIDTH - 1), numbers[count - 1]);
            let mut stored = [0.0; LANES];
            loaded.store(&mut stored[..count]);
            assert_eq!(stored[..count], numbers[..count]);
        }

        assert!(L::splat(1.0).all_nonzero());
        for zero in 0..L::WIDTH {
            assert!(!L::from_lanes(|lane| if lane == zero { 0.0 } else { 2.0 }).all_nonzero());
        }
    }
}

#[test]
fn numbers_go_in_and_out() {
    Movement.run::<f32>();
    Movement.run::<F32x8>();
    widest(Movement);
}
