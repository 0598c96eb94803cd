//! Bundles: constraints that share particles, which one lane solves one after another.
//!
//! Particles are loaded and stored once for all members of a bundle, and that is what the time of cheap
//! constraints goes into. Members see what those before them did, as in any Gauss–Seidel sweep.
#![allow(
    clippy::needless_range_loop,
    reason = "loops over corners and members are unrolled; iterators end up as calls"
)]

use std::marker::PhantomData;
use std::ops::Range;

use super::project::{self, Batch, Lanes, Solve};
use super::{Constraint, Matter, Row, Sweep, TINY};
use crate::math::{Lane, Vec3};
use crate::state::{Access, Bodies};

/// In place of a constant, which is not negative, of a member that a bundle does not have.
pub const MISSING: f32 = -1.0;

/// The shape of a bundle: which of its particles are those of each member.
pub trait Shape<const A: usize> {
    /// The particles of the members.
    const CORNERS: &'static [[usize; A]];
    /// The member that many bundles do not have, if there is one.
    const RARE: Option<usize>;
}

/// The three edges of a triangle.
#[derive(Clone, Copy, Debug)]
pub struct ThreeEdges;

impl Shape<2> for ThreeEdges {
    const CORNERS: &'static [[usize; 2]] = &[[0, 1], [1, 2], [2, 0]];
    const RARE: Option<usize> = None;
}

/// Four tetrahedra around an edge.
#[derive(Clone, Copy, Debug)]
pub struct AroundEdge;

impl Shape<4> for AroundEdge {
    const CORNERS: &'static [[usize; 4]] =
        &[[0, 1, 2, 3], [0, 1, 3, 4], [0, 1, 4, 5], [0, 1, 5, 2]];
    const RARE: Option<usize> = Some(3);
}

/// A kind of one row and one constant that can be a member of a bundle.
pub trait Member<const A: usize>: Constraint<A, 1, 1> {
    /// Some s > 0, and C and s ∇C. A kind chooses s so that a division is spared.
    fn scaled<L: Lane>(x: &[Vec3<L>; A], rest: L) -> (L, Row<L, A>);
}

/// Members of kind `C` in bundles of shape `S`: as many rows as members, each with a constant.
#[derive(Clone, Copy, Debug)]
pub struct InTurn<C, S, const A: usize>(PhantomData<(C, S)>);

impl<C, S, const A: usize> InTurn<C, S, A>
where
    S: Shape<A>,
{
    #[inline(always)]
    fn of<T: Copy, const N: usize>(all: &[T; N], member: usize) -> [T; A] {
        let mut own = [all[0]; A];
        for corner in 0..A {
            own[corner] = all[S::CORNERS[member][corner]];
        }
        own
    }
}

impl<C, S, const A: usize, const N: usize, const M: usize> Constraint<N, M, M> for InTurn<C, S, A>
where
    C: Member<A>,
    S: Shape<A>,
{
    fn size(rest: &[Vec3<f64>; N]) -> f64 {
        (0..M).map(|member| C::size(&Self::of(rest, member))).fold(f64::INFINITY, f64::min)
    }

    fn constants(rest: &[Vec3<f64>; N], matter: &Matter) -> [f64; M] {
        std::array::from_fn(|member| C::constants(&Self::of(rest, member), matter)[0])
    }

    #[inline(always)]
    fn evaluate<L: Lane>(x: &[Vec3<L>; N], constants: &[L; M]) -> [Row<L, N>; M] {
        let zero = L::splat(0.0);
        let mut rows = [Row { value: zero, gradients: [Vec3::zero(); N] }; M];
        for member in 0..M {
            let [own] = C::evaluate(&Self::of(x, member), &[constants[member]]);
            rows[member].value = L::select(constants[member].less(zero), zero, own.value);
            for corner in 0..A {
                rows[member].gradients[S::CORNERS[member][corner]] = own.gradients[corner];
            }
        }
        rows
    }

    #[inline(always)]
    fn project<L, P, F, const SOME_FIXED: bool>(
        particles: P,
        places: Range<usize>,
        sweep: &Sweep<'_>,
        multipliers: F,
    ) where
        L: Lane,
        P: Bodies<[f32; 4], N>,
        F: Access<f32>,
    {
        // A branch inside would keep the compiler from using registers well.
        if sweep.is_compliant {
            project::project::<Turns<C, S, A, true>, L, P, F, N, M, M, SOME_FIXED>(
                particles,
                places,
                sweep,
                multipliers,
            );
        } else {
            project::project::<Turns<C, S, A, false>, L, P, F, N, M, M, SOME_FIXED>(
                particles,
                places,
                sweep,
                multipliers,
            );
        }
    }
}

/// A loop over members that is unrolled for certain: a loop with so long a body is not, and then particles
/// are in memory instead of registers.
macro_rules! each_member {
    ($count:expr, |$member:ident| $body:block) => {
        each_member!(@ $count, $member, $body, 0, 1, 2, 3)
    };
    (@ $count:expr, $member:ident, $body:block, $($number:literal),*) => {
        $(if $number < $count {
            let $member = $number;
            $body
        })*
    };
}

/// The way through the members.
struct Turns<C, S, const A: usize, const COMPLIANT: bool>(PhantomData<(C, S)>);

impl<C, S, const A: usize, const COMPLIANT: bool> Turns<C, S, A, COMPLIANT>
where
    C: Member<A>,
    S: Shape<A>,
{
    /// Solves one member of each bundle. The bundles stand at `own` in the batch.
    #[inline(always)]
    fn turn<L, P, F, const N: usize, const M: usize>(
        lanes: &mut Lanes<L, P, N>,
        member: usize,
        own: Range<usize>,
        batch: &Batch<'_, M, M>,
        multipliers: F,
    ) where
        L: Lane,
        P: Bodies<[f32; 4], N>,
        F: Access<f32>,
    {
        let zero = L::splat(0.0);
        let tiny = L::splat(TINY);
        let relaxation = L::splat(batch.relaxation);
        let x = InTurn::<C, S, A>::of(&lanes.x, member);
        let w = InTurn::<C, S, A>::of(&lanes.w, member);
        let rest = L::load(&batch.constants[member][own.clone()]);
        let softness = batch.softness.load::<L>(member, own.clone());
        let (scale, row) = C::scaled(&x, rest);
        let error = L::select(rest.less(zero), zero, row.value);
        let [[mobility]] = C::mobility(&[row], &w);
        let share = if COMPLIANT {
            let compliance = softness * L::splat(batch.inverse_step_squared);
            let total: L = batch.total(member, own.clone(), multipliers);
            let right = relaxation * (error - compliance * total);
            let share = right / ((mobility + compliance) * scale).max(tiny);
            batch.keep_total(member, own, total + share * scale, multipliers);
            share
        } else {
            relaxation * softness * error / (mobility * scale).max(tiny)
        };
        for corner in 0..A {
            let place = &mut lanes.x[S::CORNERS[member][corner]];
            *place = *place - row.gradients[corner] * (share * w[corner]);
        }
    }
}

/// Whether some bundles of a batch have a member. Bundles that lack the same stand together, so that often
/// none has a rare one; nothing changes if it is solved nevertheless.
#[inline(always)]
fn some_have<L: Lane, const M: usize>(
    member: usize,
    own: Range<usize>,
    batch: &Batch<'_, M, M>,
) -> bool {
    let missing = L::load(&batch.constants[member][own]).less(L::splat(0.0));
    (L::bits(missing).count_ones() as usize) < L::WIDTH
}

impl<C, S, const A: usize, const N: usize, const M: usize, const COMPLIANT: bool> Solve<N, M, M>
    for Turns<C, S, A, COMPLIANT>
where
    C: Member<A>,
    S: Shape<A>,
{
    // More particles than that would not stay in registers.
    const IN_TWOS: bool = N < 6;

    #[inline(always)]
    fn solve<
        L: Lane,
        P: Bodies<[f32; 4], N>,
        F: Access<f32>,
        const FULL: bool,
        const MOVABLE: bool,
    >(
        particles: P,
        own: Range<usize>,
        batch: &Batch<'_, M, M>,
        multipliers: F,
    ) {
        let mut lanes = Lanes::<L, P, N>::load::<FULL>(particles.part(own.clone()));
        each_member!(M, |member| {
            if S::RARE != Some(member) || some_have::<L, M>(member, own.clone(), batch) {
                Self::turn(&mut lanes, member, own.clone(), batch, multipliers);
            }
        });
        lanes.store::<FULL, MOVABLE>();
    }

    #[inline(always)]
    fn solve_two<L: Lane, P: Bodies<[f32; 4], N>, F: Access<f32>>(
        particles: P,
        own: Range<usize>,
        batch: &Batch<'_, M, M>,
        multipliers: F,
    ) {
        let middle = own.start + L::WIDTH;
        let (one, two) = (own.start..middle, middle..own.end);
        let mut first = Lanes::<L, P, N>::load::<true>(particles.part(one.clone()));
        let mut second = Lanes::<L, P, N>::load::<true>(particles.part(two.clone()));
        each_member!(M, |member| {
            Self::turn(&mut first, member, one.clone(), batch, multipliers);
            Self::turn(&mut second, member, two.clone(), batch, multipliers);
        });
        first.store::<true, true>();
        second.store::<true, true>();
    }
}
