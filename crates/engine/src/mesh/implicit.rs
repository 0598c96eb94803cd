//! Solids as signed distances: simple forms, blended into one.
//!
//! Forms follow Quilez, 'Distance functions'; the blend is his polynomial smooth minimum: with
//! h = max(k − |a − b|, 0), smin(a, b) = min(a, b) − h²/4k. It rounds the seams between forms
//! over a width of k and leaves them alone elsewhere. Every function here changes at most as
//! fast as the distance does, as `tetrahedralize.rs` asks, and is 0 on the surface.

use glam::Vec3;

use super::Bounds;

/// One form. Lengths in m.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// A ball.
    Sphere {
        /// Its middle.
        center: Vec3,
        /// From the center to the surface.
        radius: f32,
    },
    /// A ball stretched along the axes.
    Ellipsoid {
        /// Its middle.
        center: Vec3,
        /// From the center to the surface along x, y and z.
        radii: Vec3,
    },
    /// All that is close to a line.
    Capsule {
        /// Where the line starts.
        from: Vec3,
        /// Where it ends.
        to: Vec3,
        /// From the line to the surface.
        radius: f32,
    },
    /// A box along the axes.
    Box {
        /// Its middle.
        center: Vec3,
        /// Full lengths along x, y and z.
        size: Vec3,
    },
    /// A ring around the y axis.
    Torus {
        /// Its middle.
        center: Vec3,
        /// From the center to the middle of the tube.
        radius: f32,
        /// Radius of the tube.
        tube_radius: f32,
    },
    /// Capsules that stand on a ball, evenly spread; the ball itself is not part of it.
    Hairs {
        /// The ball's middle.
        center: Vec3,
        /// The directions of the hairs, of length 1.
        directions: Vec<Vec3>,
        /// From the center to the tips' middle.
        reach: f32,
        /// Half of a hair's thickness.
        radius: f32,
    },
}

impl Form {
    /// Hairs on a ball of this radius, in directions along a Fibonacci spiral.
    #[must_use]
    pub fn hairs(center: Vec3, radius: f32, length: f32, hair_radius: f32, count: u32) -> Self {
        let golden_angle = std::f64::consts::PI * (3.0 - 5f64.sqrt());
        let direction = |hair: u32| {
            let height = 1.0 - (2.0 * f64::from(hair) + 1.0) / f64::from(count.max(1));
            let across = (1.0 - height * height).sqrt();
            let angle = golden_angle * f64::from(hair);
            Vec3::new((across * angle.cos()) as f32, height as f32, (across * angle.sin()) as f32)
        };
        let directions = (0..count).map(direction).collect();
        Self::Hairs { center, directions, reach: radius + length, radius: hair_radius }
    }

    /// Signed distance to the surface, m: negative inside. For ellipsoids, and outside boxes'
    /// corners, it may be less than that.
    #[must_use]
    pub fn distance(&self, place: Vec3) -> f32 {
        match self {
            Self::Sphere { center, radius } => (place - center).length() - radius,
            Self::Ellipsoid { center, radii } => {
                (((place - center) / radii).length() - 1.0) * radii.min_element()
            }
            Self::Capsule { from, to, radius } => to_segment(place - from, to - from) - radius,
            Self::Box { center, size } => {
                let away = (place - center).abs() - 0.5 * size;
                away.max(Vec3::ZERO).length() + away.max_element().min(0.0)
            }
            Self::Torus { center, radius, tube_radius } => {
                let local = place - center;
                let from_ring = local.with_y(0.0).length() - radius;
                (from_ring * from_ring + local.y * local.y).sqrt() - tube_radius
            }
            Self::Hairs { center, directions, reach, radius } => {
                let local = place - center;
                // They all start in the center, so the nearest one is that of the nearest
                // direction.
                let nearer = |best: (f32, Vec3), direction: &Vec3| match direction.dot(local) {
                    along if along > best.0 => (along, *direction),
                    _ => best,
                };
                let start = (f32::NEG_INFINITY, Vec3::ZERO);
                let (_, nearest) = directions.iter().fold(start, nearer);
                to_segment(local, reach * nearest) - radius
            }
        }
    }

    /// A box that holds the form.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        let around = |center: &Vec3, half: Vec3| Bounds { min: center - half, max: center + half };
        match self {
            Self::Sphere { center, radius } => around(center, Vec3::splat(*radius)),
            Self::Ellipsoid { center, radii } => around(center, *radii),
            Self::Capsule { from, to, radius } => {
                Bounds { min: from.min(*to) - *radius, max: from.max(*to) + *radius }
            }
            Self::Box { center, size } => around(center, 0.5 * size),
            Self::Torus { center, radius, tube_radius } => {
                let across = radius + tube_radius;
                around(center, Vec3::new(across, *tube_radius, across))
            }
            Self::Hairs { center, reach, radius, .. } => {
                around(center, Vec3::splat(reach + radius))
            }
        }
    }
}

/// Distance to the line from the origin to `end`.
fn to_segment(place: Vec3, end: Vec3) -> f32 {
    let along = place.dot(end) / end.length_squared().max(f32::MIN_POSITIVE);
    (place - along.clamp(0.0, 1.0) * end).length()
}

/// Forms blended into one solid.
#[derive(Clone, Debug, PartialEq)]
pub struct Blend {
    /// The forms, in the order in which they are blended.
    pub forms: Vec<Form>,
    /// Width of the seams, m; 0 leaves them sharp.
    pub width: f32,
}

impl Blend {
    /// Signed distance to the surface, m: negative inside. Less where seams are rounded.
    #[must_use]
    pub fn distance(&self, place: Vec3) -> f32 {
        let distances = self.forms.iter().map(|form| form.distance(place));
        distances.fold(f32::INFINITY, |all, form| self.smooth_minimum(all, form))
    }

    fn smooth_minimum(&self, a: f32, b: f32) -> f32 {
        if self.width <= 0.0 || !a.is_finite() {
            return a.min(b);
        }
        let overlap = (self.width - (a - b).abs()).max(0.0);
        a.min(b) - 0.25 * overlap * overlap / self.width
    }

    /// A box that holds the solid; `None` without forms.
    #[must_use]
    pub fn bounds(&self) -> Option<Bounds> {
        let together = |all: Bounds, one: Bounds| Bounds {
            min: all.min.min(one.min),
            max: all.max.max(one.max),
        };
        let forms = self.forms.iter().map(Form::bounds).reduce(together)?;
        // Each blend after the first adds at most a quarter of the width.
        let swell = 0.25 * self.width * (self.forms.len() - 1) as f32;
        Some(Bounds { min: forms.min - swell, max: forms.max + swell })
    }
}

#[cfg(test)]
mod tests {
    //! Contract: 0 on the surface, the right sign around it, never faster than the distance;
    //! bounds hold the solid.
    use proptest::prelude::*;

    use super::*;

    fn forms() -> Vec<Form> {
        let center = Vec3::new(0.2, -0.1, 0.3);
        vec![
            Form::Sphere { center, radius: 0.5 },
            Form::Ellipsoid { center, radii: Vec3::new(0.5, 0.3, 0.9) },
            Form::Capsule { from: center, to: Vec3::ONE, radius: 0.2 },
            Form::Box { center, size: Vec3::new(0.5, 1.0, 0.7) },
            Form::Torus { center, radius: 0.6, tube_radius: 0.2 },
            Form::hairs(center, 0.4, 0.5, 0.1, 40),
        ]
    }

    #[test]
    fn points_at_known_distances() {
        let [sphere, ellipsoid, capsule, block, torus, hairs] = &forms()[..] else { panic!() };
        let center = Vec3::new(0.2, -0.1, 0.3);
        let at = |form: &Form, x: f32, y: f32, z: f32| form.distance(center + Vec3::new(x, y, z));
        let cases = [
            (at(sphere, 0.0, 0.0, 0.0), -0.5),
            (at(sphere, 0.0, 2.0, 0.0), 1.5),
            (at(ellipsoid, 0.0, 0.3, 0.0), 0.0),
            (at(ellipsoid, 0.0, 0.0, -0.9), 0.0),
            (capsule.distance(Vec3::ONE + 0.2 * Vec3::X), 0.0),
            (at(block, 0.25, 0.1, 0.1), 0.0),
            (at(block, 0.25 + 0.3, 0.5 + 0.4, 0.0), 0.5),
            (at(torus, 0.0, 0.0, 0.6), -0.2),
            (at(torus, 0.0, 0.0, 0.0), 0.4),
            (at(hairs, 0.0, 0.0, 0.0), -0.1),
        ];
        for (number, (found, expected)) in cases.into_iter().enumerate() {
            assert!((found - expected).abs() < 1e-6, "{number}: {found}, not {expected}");
        }
    }

    #[test]
    fn hairs_are_evenly_spread() {
        let Form::Hairs { directions, .. } = Form::hairs(Vec3::ZERO, 1.0, 1.0, 0.1, 100) else {
            panic!()
        };
        let nearest = |one: &Vec3| {
            let others = directions.iter().filter(|other| *other != one);
            others.map(|other| other.distance(*one)).fold(f32::INFINITY, f32::min)
        };
        // A hundred discs that tile the sphere have diameters of 0.4.
        assert!(directions.iter().map(nearest).all(|gap| (0.2..0.45).contains(&gap)));
        assert!(directions.iter().all(|direction| (direction.length() - 1.0).abs() < 1e-6));
    }

    #[test]
    fn a_blend_fills_the_seam_and_nothing_else() {
        let ball = |x| Form::Sphere { center: Vec3::X * x, radius: 0.5 };
        let blend = |width| Blend { forms: vec![ball(-0.5), ball(0.5)], width };
        assert!((blend(0.2).distance(Vec3::ZERO) + 0.05).abs() < 1e-6);
        assert_eq!(blend(0.0).distance(Vec3::ZERO), 0.0);
        assert_eq!(blend(0.2).distance(Vec3::X), blend(0.0).distance(Vec3::X));
        assert!(blend(0.2).distance(0.1 * Vec3::Y) < 0.0);
        assert!(blend(0.0).distance(0.1 * Vec3::Y) > 0.0);
        assert_eq!(Blend { forms: Vec::new(), width: 0.0 }.bounds(), None);
    }

    proptest! {
        #[test]
        fn no_form_changes_faster_than_the_distance(
            from in proptest::array::uniform3(-2.0f32..2.0),
            to in proptest::array::uniform3(-2.0f32..2.0),
            width in 0.0f32..1.0,
        ) {
            let [from, to] = [from, to].map(Vec3::from);
            let all = Blend { forms: forms(), width };
            let bounds = all.bounds().unwrap();
            let values = |place| forms().iter().map(|form| form.distance(place))
                .chain([all.distance(place)]).collect::<Vec<_>>();
            for (a, b) in values(from).into_iter().zip(values(to)) {
                prop_assert!((a - b).abs() <= 1.0001 * from.distance(to) + 1e-5);
            }
            let is_in = from.cmpge(bounds.min).all() && from.cmple(bounds.max).all();
            prop_assert!(is_in || all.distance(from) > -1e-5);
        }
    }
}
