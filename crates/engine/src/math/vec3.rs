//! Three lanes: a vector in space, or several vectors side by side.

use std::ops::{Add, Mul, Neg, Sub};

use super::Lane;

/// A vector in space.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vec3<L> {
    /// First coordinate.
    pub x: L,
    /// Second coordinate.
    pub y: L,
    /// Third coordinate.
    pub z: L,
}

impl<L: Lane> Vec3<L> {
    /// A vector from its coordinates.
    #[inline(always)]
    pub fn new(x: L, y: L, z: L) -> Self {
        Self { x, y, z }
    }

    /// The same vector in every lane.
    #[inline(always)]
    pub fn splat([x, y, z]: [f32; 3]) -> Self {
        Self::new(L::splat(x), L::splat(y), L::splat(z))
    }

    /// Zero.
    #[inline(always)]
    pub fn zero() -> Self {
        Self::splat([0.0; 3])
    }

    /// Scalar product.
    #[inline(always)]
    pub fn dot(self, other: Self) -> L {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    /// Vector product.
    #[inline(always)]
    pub fn cross(self, other: Self) -> Self {
        Self::new(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )
    }

    /// Square of the length.
    #[inline(always)]
    pub fn length_squared(self) -> L {
        self.dot(self)
    }

    /// Length.
    #[inline(always)]
    pub fn length(self) -> L {
        self.length_squared().sqrt()
    }

    /// `yes` where the mask holds, else `no`.
    #[inline(always)]
    pub fn select(mask: L::Mask, yes: Self, no: Self) -> Self {
        Self::new(
            L::select(mask, yes.x, no.x),
            L::select(mask, yes.y, no.y),
            L::select(mask, yes.z, no.z),
        )
    }
}

impl<L: Lane> Add for Vec3<L> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self::new(self.x + other.x, self.y + other.y, self.z + other.z)
    }
}

impl<L: Lane> Sub for Vec3<L> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self::new(self.x - other.x, self.y - other.y, self.z - other.z)
    }
}

impl<L: Lane> Mul<L> for Vec3<L> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: L) -> Self {
        Self::new(self.x * factor, self.y * factor, self.z * factor)
    }
}

impl<L: Lane> Neg for Vec3<L> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::new(-self.x, -self.y, -self.z)
    }
}

#[cfg(test)]
mod tests {
    //! Contract: the usual identities of vector algebra.

    use super::*;

    #[test]
    fn cross_is_perpendicular_and_right_handed() {
        let (a, b) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(-2.0, 0.5, 4.0));
        let c = a.cross(b);
        assert_eq!((c.dot(a), c.dot(b)), (0.0, 0.0));
        let (x, y) = (Vec3::new(1.0_f32, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0));
        assert_eq!(x.cross(y), Vec3::new(0.0, 0.0, 1.0));
    }
}
