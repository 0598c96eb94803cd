//! Signed distances to the static shapes: negative inside, with the outward normal.
//!
//! Every form is given around its own origin; a pose puts it into the world. Analytic forms are
//! written over the lane type like the constraints; a closed mesh is sampled from a sparse field,
//! lane by lane.

use std::sync::Arc;

use crate::math::{Lane, Vec3};
use crate::mesh::SparseSdf;

/// Smallest length that is divided by.
const TINY: f32 = 1e-20;
/// What is added to a box, relative to its size and to a meter, for rounding errors.
const ROOM: f32 = 1e-4;

/// The form of a shape, around its own origin. Lengths in meters.
#[derive(Clone, Debug)]
pub enum Form {
    /// The half space below y = 0.
    Plane,
    /// A ball of this radius.
    Sphere(f32),
    /// A box with these half lengths.
    Box([f32; 3]),
    /// A cylinder along x with round ends.
    Capsule {
        /// Radius.
        radius: f32,
        /// Half the distance between the centers of the ends.
        half_length: f32,
    },
    /// A cylinder along x with flat ends.
    Tube {
        /// Radius.
        radius: f32,
        /// Half the length.
        half_length: f32,
    },
    /// A ring around the y axis.
    Torus {
        /// From the center to the middle of the tube.
        radius: f32,
        /// Radius of the tube.
        tube_radius: f32,
    },
    /// A closed mesh.
    Field(Arc<SparseSdf>),
}

impl Form {
    /// Signed distance of a point and the outward normal there.
    #[inline(always)]
    pub fn distance<L: Lane>(&self, p: Vec3<L>) -> (L, Vec3<L>) {
        match self {
            Form::Plane => (p.y, Vec3::splat([0.0, 1.0, 0.0])),
            Form::Sphere(radius) => round(p, *radius),
            Form::Box(half) => cuboid(p, *half),
            Form::Capsule { radius, half_length } => {
                let along = p.x.min(L::splat(*half_length)).max(L::splat(-half_length));
                round(Vec3::new(p.x - along, p.y, p.z), *radius)
            }
            Form::Tube { radius, half_length } => tube(p, *radius, *half_length),
            Form::Torus { radius, tube_radius } => torus(p, *radius, *tube_radius),
            Form::Field(field) => sample(field, p),
        }
    }
}

impl Form {
    /// Where a point may be nearer to the form than `reach`: a quick look at the box around it. No
    /// point that [`Form::distance`] finds nearer is missed, whatever the rounding.
    #[inline(always)]
    pub fn may_be_near<L: Lane>(&self, p: Vec3<L>, reach: L) -> L::Mask {
        let half = match self {
            Form::Plane => return p.y.less(reach),
            Form::Sphere(radius) => [*radius; 3],
            Form::Box(half) => *half,
            Form::Capsule { radius, half_length } => [half_length + radius, *radius, *radius],
            Form::Tube { radius, half_length } => [*half_length, *radius, *radius],
            Form::Torus { radius, tube_radius } => {
                [radius + tube_radius, *tube_radius, radius + tube_radius]
            }
            Form::Field(_) => return L::splat(0.0).less(L::splat(1.0)),
        };
        let room = ROOM * (1.0 + half[0].max(half[1]).max(half[2]));
        let q = Vec3::new(p.x.abs(), p.y.abs(), p.z.abs()) - Vec3::splat(half);
        q.x.max(q.y).max(q.z).less(reach + L::splat(room))
    }
}

/// Distance to a ball around the origin; the normal at its very center is up.
#[inline(always)]
fn round<L: Lane>(p: Vec3<L>, radius: f32) -> (L, Vec3<L>) {
    let length = p.length();
    (length - L::splat(radius), direction(p, length, Vec3::splat([0.0, 1.0, 0.0])))
}

/// `p` divided by its length, or a default where the length vanishes.
#[inline(always)]
fn direction<L: Lane>(p: Vec3<L>, length: L, default: Vec3<L>) -> Vec3<L> {
    let tiny = L::splat(TINY);
    Vec3::select(tiny.less(length), p * (L::splat(1.0) / length.max(tiny)), default)
}

/// 1 or −1 by the sign of `x`.
#[inline(always)]
fn sign<L: Lane>(x: L) -> L {
    L::select(x.less(L::splat(0.0)), L::splat(-1.0), L::splat(1.0))
}

#[inline(always)]
fn cuboid<L: Lane>(p: Vec3<L>, half: [f32; 3]) -> (L, Vec3<L>) {
    let zero = L::splat(0.0);
    let q = Vec3::new(p.x.abs(), p.y.abs(), p.z.abs()) - Vec3::splat(half);
    let signs = Vec3::new(sign(p.x), sign(p.y), sign(p.z));
    // Inside, the nearest face decides; outside, the nearest point of the box does.
    let deepest = q.x.max(q.y).max(q.z);
    let out = Vec3::new(q.x.max(zero), q.y.max(zero), q.z.max(zero));
    let length = out.length();
    let pick = |coordinate: L| L::select(coordinate.less(deepest), zero, L::splat(1.0));
    let face_x = pick(q.x);
    let face_y = (L::splat(1.0) - face_x) * pick(q.y);
    let face_z = (L::splat(1.0) - face_x) * (L::splat(1.0) - face_y);
    let inner = Vec3::new(face_x, face_y, face_z);
    let normal = direction(out, length, inner);
    let outside = zero.less(deepest);
    let turned = Vec3::new(normal.x * signs.x, normal.y * signs.y, normal.z * signs.z);
    (L::select(outside, length, deepest), turned)
}

#[inline(always)]
fn tube<L: Lane>(p: Vec3<L>, radius: f32, half_length: f32) -> (L, Vec3<L>) {
    let zero = L::splat(0.0);
    let across = (p.y * p.y + p.z * p.z).sqrt();
    let radial = direction(Vec3::new(zero, p.y, p.z), across, Vec3::splat([0.0, 1.0, 0.0]));
    let axial = Vec3::new(sign(p.x), zero, zero);
    let (end, side) = (p.x.abs() - L::splat(half_length), across - L::splat(radius));
    let (out_end, out_side) = (end.max(zero), side.max(zero));
    let length = (out_end * out_end + out_side * out_side).sqrt();
    let outer = axial * out_end + radial * out_side;
    let inner = Vec3::select(end.less(side), radial, axial);
    let deepest = end.max(side);
    (L::select(zero.less(deepest), length, deepest), direction(outer, length, inner))
}

#[inline(always)]
fn torus<L: Lane>(p: Vec3<L>, radius: f32, tube_radius: f32) -> (L, Vec3<L>) {
    let zero = L::splat(0.0);
    let across = (p.x * p.x + p.z * p.z).sqrt();
    let radial = direction(Vec3::new(p.x, zero, p.z), across, Vec3::splat([1.0, 0.0, 0.0]));
    let core = radial * L::splat(radius);
    round(p - core, tube_radius)
}

/// A sparse field, lane by lane: its gradient, normalized, is the normal.
fn sample<L: Lane>(field: &SparseSdf, p: Vec3<L>) -> (L, Vec3<L>) {
    let one = |lane: usize| {
        let point = glam::Vec3::new(p.x.lane(lane), p.y.lane(lane), p.z.lane(lane));
        let (distance, gradient) = field.sample(point);
        let normal = gradient.normalize_or(glam::Vec3::Y);
        [distance, normal.x, normal.y, normal.z]
    };
    let [distance, x, y, z] = L::from_quadruples(one);
    (distance, Vec3::new(x, y, z))
}

#[cfg(test)]
mod tests {
    //! Contract: the normal is the gradient of the distance, distances are exact, and no point
    //! gives NaN.

    use proptest::prelude::*;

    use super::*;

    fn forms() -> [Form; 6] {
        [
            Form::Plane,
            Form::Sphere(0.7),
            Form::Box([0.3, 0.5, 0.9]),
            Form::Capsule { radius: 0.3, half_length: 0.6 },
            Form::Tube { radius: 0.4, half_length: 0.8 },
            Form::Torus { radius: 0.8, tube_radius: 0.25 },
        ]
    }

    proptest! {
        #[test]
        fn whoever_is_near_may_be_near(
            p in prop::array::uniform3(-1.5..1.5_f32),
            reach in 0.0..0.5_f32,
        ) {
            let p = Vec3::<f32>::splat(p);
            for form in forms() {
                let is_near = form.distance(p).0 < reach;
                prop_assert!(!is_near || form.may_be_near(p, reach), "{form:?}");
            }
        }

        #[test]
        fn walking_against_the_normal_reaches_the_surface(
            p in prop::array::uniform3(-2.0..2.0_f64),
        ) {
            let p = Vec3::new(p[0], p[1], p[2]);
            for form in forms() {
                let (distance, normal) = form.distance(p);
                prop_assert!((normal.length() - 1.0).abs() < 1e-6);
                // One step of the distance along the normal lands on the surface.
                let (rest, _) = form.distance(p - normal * distance);
                prop_assert!(rest.abs() < 1e-6, "{form:?} {p:?}: {rest}");
            }
        }
    }

    #[test]
    fn distances_are_known_at_chosen_points() {
        let at = |form: &Form, p: [f32; 3]| form.distance(Vec3::<f32>::splat(p));
        let [plane, sphere, cuboid, capsule, tube, torus] = forms();
        let close = |a: f32, b: f32| assert!((a - b).abs() < 1e-6, "{a} {b}");
        close(at(&plane, [3.0, -0.5, 1.0]).0, -0.5);
        close(at(&sphere, [0.0, 0.0, 1.0]).0, 0.3);
        close(at(&cuboid, [0.3 + 0.3, 0.5 + 0.4, 0.0]).0, 0.5);
        close(at(&cuboid, [0.0, 0.4, 0.0]).0, -0.1);
        close(at(&capsule, [1.0, 0.0, 0.0]).0, 0.1);
        close(at(&tube, [0.0, 0.5, 0.0]).0, 0.1);
        close(at(&tube, [1.1, 0.8, 0.0]).0, 0.5);
        close(at(&torus, [0.0, 0.0, 0.8]).0, -0.25);
        close(at(&torus, [0.0, 0.0, 0.0]).0, 0.55);
    }

    #[test]
    fn centers_and_edges_do_not_give_nan() {
        for form in forms() {
            for p in [[0.0; 3], [0.8, 0.0, 0.0], [0.3, 0.5, 0.9], [0.8, 0.4, 0.0]] {
                let (distance, normal) = form.distance(Vec3::<f32>::splat(p));
                assert!(distance.is_finite() && (normal.length() - 1.0).abs() < 1e-5, "{form:?}");
            }
        }
    }
}
