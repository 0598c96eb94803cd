//! Contract: every lane does exactly what `f32` does, in the plain array and in all lanes that this
//! processor has.

use std::array::from_fn;

use proptest::prelude::*;

use super::*;
use crate::math::{MAX_WIDTH, Work, atan2, in_row, widest};

type Numbers = [f32; MAX_WIDTH];

/// Does some work with every kind of lanes.
fn with_all<W: Work + Clone>(work: &W) -> Vec<W::Output> {
    let mut outcomes = vec![work.clone().run::<f32>(), work.clone().run::<F32x8>()];
    // Where there are wider ones, nobody else comes here.
    #[cfg(target_arch = "x86_64")]
    outcomes.extend(crate::math::x86::avx2::run(work.clone()).ok());
    outcomes.push(widest(work.clone()));
    outcomes
}

/// Every operation once.
#[derive(Clone)]
struct Everything {
    a: Numbers,
    b: Numbers,
}

impl Work for Everything {
    type Output = Vec<Numbers>;

    fn run<L: Lane>(self) -> Vec<Numbers> {
        let Self { a, b } = self;
        let mut outcomes = vec![[0.0; MAX_WIDTH]; 13];
        for first in (0..MAX_WIDTH).step_by(L::WIDTH) {
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
        a in prop::array::uniform16(-1e3_f32..1e3),
        b in prop::array::uniform16(-1e3_f32..1e3),
    ) {
        let outcomes = with_all(&Everything { a, b });
        for outcome in &outcomes[1..] {
            prop_assert_eq!(bits(outcome), bits(&outcomes[0]));
        }
    }
}

/// Particles in and out, and what is left over.
#[derive(Clone)]
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
            let mut stored = [0.0; MAX_WIDTH];
            loaded.store(&mut stored[..count]);
            assert_eq!(stored[..count], numbers[..count]);
        }

        let dealt = L::from_lanes(|lane| lane as f32).dealt();
        for lane in 0..L::WIDTH {
            assert_eq!(dealt.lane(lane), in_row::<L>(lane) as f32);
            assert_eq!(dealt.collected().lane(lane), lane as f32);
        }

        let one = L::splat(1.0);
        assert!(!L::any(one.less(one)));
        for small in 0..L::WIDTH {
            let numbers = L::from_lanes(|lane| if lane == small { 0.5 } else { 2.0 });
            assert_eq!(L::bits(numbers.less(one)), 1 << small);
            assert!(L::any(numbers.less(one)));
        }
    }
}

/// What is done to rows is what one lane does to each.
#[derive(Clone)]
struct Rows;

impl Work for Rows {
    type Output = ();

    fn run<L: Lane>(self) {
        let a = |lane: usize| [1, 2, 3, 4].map(|i| 0.1 * i as f32 + 0.7 * lane as f32);
        let b = |lane: usize| [5, 6, 7, 8].map(|i| 0.3 * i as f32 - 0.2 * lane as f32);
        let factor = |lane: usize| 1.1 - 0.06 * lane as f32;
        let (rows, others) = (L::gather(a), L::gather(b));
        let factors = L::from_lanes(factor);
        let results = [
            (L::between(rows, others), "between"),
            (L::scaled(rows, factors), "scaled"),
            (L::pushed(rows, others), "pushed"),
            (L::pulled(rows, others), "pulled"),
            (L::plus(rows, others), "plus"),
            (L::times(rows, a(0)), "times"),
            (L::rows(L::columns(rows)), "there and back"),
        ];
        for (wide, name) in results {
            L::scatter(wide, |lane, row| {
                let expected = match name {
                    "between" => f32::between(a(lane), b(lane)),
                    "scaled" => f32::scaled(a(lane), factor(lane)),
                    "pushed" => f32::pushed(a(lane), b(lane)),
                    "pulled" => f32::pulled(a(lane), b(lane)),
                    "plus" => f32::plus(a(lane), b(lane)),
                    "times" => f32::times(a(lane), a(0)),
                    _ => a(lane),
                };
                let bits = |row: [f32; 4]| row.map(f32::to_bits);
                // The fourth number of a way is 0 in any case.
                let number = if matches!(name, "pushed" | "pulled") { 3 } else { 4 };
                assert_eq!(bits(row)[..number], bits(expected)[..number], "{name} {lane}");
            });
        }
    }
}

#[test]
fn rows_are_worked_on_as_one_lane_does() {
    with_all(&Rows);
}

#[test]
fn numbers_go_in_and_out() {
    with_all(&Movement);
}
