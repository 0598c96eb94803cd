//! Meshes made from a few numbers: pieces of cloth (grid, disc, tube), closed surfaces
//! (sphere, torus, box) and a solid block of tetrahedra.
//!
//! Everything is centered on the origin, in meters. Triangles run counterclockwise seen
//! from outside; from above (+y) for flat cloth. Every generator checks its numbers, and how
//! many vertices they ask for, before it allocates anything. Trigonometry is done in f64 and
//! rounded once, so that the coordinates do not hang on a platform's f32 sine.

mod boxes;
mod sphere;

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use glam::Vec3;

use super::Mesh;
use super::error::{MAX_VERTICES, MeshError};
use super::random::SplitMix64;

pub use boxes::{block, box_surface};
pub use sphere::sphere;

/// How the squares of a grid are cut into triangles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Diagonals {
    /// All the same way.
    #[default]
    Regular,
    /// In turn, like a chessboard.
    Alternating,
    /// At random, from a seed.
    Random,
}

/// A rectangle of cloth in the x–z plane.
///
/// `particles` and `size` are along x and along z. Vertex `row · particles[0] + column`
/// lies in the given row along z and column along x.
/// Groups: left, right (x), front (largest z), back, left-front, right-front, left-back,
/// right-back, corners. `seed` matters for random diagonals only.
///
/// # Errors
/// Fewer than two particles on a side, a size that is not finite and positive, too many vertices.
pub fn grid(
    particles: [u32; 2],
    size: [f32; 2],
    diagonals: Diagonals,
    seed: u64,
) -> Result<Mesh, MeshError> {
    at_least("grid", "particles", 2, &particles)?;
    lengths("grid", "size", &size)?;
    let vertices = u128::from(particles[0]) * u128::from(particles[1]);
    let mut positions = Vec::with_capacity(vertex_count("grid", vertices)?);
    for row in 0..particles[1] {
        let z = spread(row, particles[1] - 1, size[1]);
        positions.extend(
            (0..particles[0])
                .map(|column| Vec3::new(spread(column, particles[0] - 1, size[0]), 0.0, z)),
        );
    }
    let triangles = grid_triangles(particles, diagonals, seed);
    Ok(Mesh { positions, triangles, groups: grid_groups(particles), ..Mesh::default() })
}

fn grid_triangles([columns, rows]: [u32; 2], diagonals: Diagonals, seed: u64) -> Vec<[u32; 3]> {
    let mut random = SplitMix64::new(seed);
    let mut triangles = Vec::with_capacity(2 * (columns as usize - 1) * (rows as usize - 1));
    for row in 0..rows - 1 {
        for column in 0..columns - 1 {
            let a = row * columns + column;
            let [b, c, d] = [a + 1, a + columns + 1, a + columns];
            let rising = match diagonals {
                Diagonals::Regular => true,
                Diagonals::Alternating => (row + column) % 2 == 0,
                Diagonals::Random => random.next_bool(),
            };
            triangles.extend(if rising { [[a, d, c], [a, c, b]] } else { [[a, d, b], [b, d, c]] });
        }
    }
    triangles
}

fn grid_groups([columns, rows]: [u32; 2]) -> BTreeMap<String, Vec<u32>> {
    let last = columns * rows - 1;
    let [right_back, left_front] = [columns - 1, last + 1 - columns];
    groups([
        ("left", (0..rows).map(|row| row * columns).collect()),
        ("right", (0..rows).map(|row| row * columns + columns - 1).collect()),
        ("back", (0..columns).collect()),
        ("front", (left_front..=last).collect()),
        ("left-back", vec![0]),
        ("right-back", vec![right_back]),
        ("left-front", vec![left_front]),
        ("right-front", vec![last]),
        ("corners", vec![0, right_back, left_front, last]),
    ])
}

/// A round piece of cloth in the x–z plane: concentric rings of 6, 12, 18, … vertices around
/// vertex 0, `6 · rings²` triangles in all. Groups: center, rim.
///
/// # Errors
/// No ring, a radius that is not finite and positive, too many vertices.
pub fn disc(radius: f32, rings: u32) -> Result<Mesh, MeshError> {
    at_least("disc", "rings", 1, &[rings])?;
    lengths("disc", "radius", &[radius])?;
    let vertices = 1 + 3 * u128::from(rings) * (u128::from(rings) + 1);
    let mut positions = Vec::with_capacity(vertex_count("disc", vertices)?);
    positions.push(Vec3::ZERO);
    for ring in 1..=rings {
        let ring_radius = f64::from(radius) * f64::from(ring) / f64::from(rings);
        for step in 0..6 * ring {
            let [cosine, sine] = direction(step, 6 * ring);
            positions.push(point(ring_radius * cosine, 0.0, -ring_radius * sine));
        }
    }
    let rim = disc_vertex(rings, 0)..positions.len() as u32;
    let groups = groups([("center", vec![0]), ("rim", rim.collect())]);
    Ok(Mesh { positions, triangles: disc_triangles(rings), groups, ..Mesh::default() })
}

/// Number of the vertex at a step around a ring; step `6 · ring` is step 0 again.
fn disc_vertex(ring: u32, step: u32) -> u32 {
    if ring == 0 { 0 } else { 1 + 3 * ring * (ring - 1) + step % (6 * ring) }
}

fn disc_triangles(rings: u32) -> Vec<[u32; 3]> {
    let mut triangles = Vec::with_capacity(6 * rings as usize * rings as usize);
    for ring in 1..=rings {
        for sector in 0..6 {
            for step in 0..ring {
                let inner = |offset| disc_vertex(ring - 1, sector * (ring - 1) + step + offset);
                let outer = |offset| disc_vertex(ring, sector * ring + step + offset);
                triangles.push([inner(0), outer(0), outer(1)]);
                if step + 1 < ring {
                    triangles.push([inner(0), outer(1), inner(1)]);
                }
            }
        }
    }
    triangles
}

/// An open tube of cloth along the x axis, `around` particles around and `along` along it.
///
/// Vertex `ring · around + step`. Groups: start (smallest x), end.
///
/// # Errors
/// Fewer than three particles around or two along, a length that is not finite and positive,
/// too many vertices.
pub fn tube(radius: f32, length: f32, around: u32, along: u32) -> Result<Mesh, MeshError> {
    at_least("tube", "around", 3, &[around])?;
    at_least("tube", "along", 2, &[along])?;
    lengths("tube", "radius", &[radius])?;
    lengths("tube", "length", &[length])?;
    let vertices = vertex_count("tube", u128::from(around) * u128::from(along))?;
    let mut positions = Vec::with_capacity(vertices);
    for ring in 0..along {
        let x = f64::from(spread(ring, along - 1, length));
        positions.extend((0..around).map(|step| {
            let [cosine, sine] = direction(step, around).map(|share| share * f64::from(radius));
            point(x, cosine, sine)
        }));
    }
    let mut triangles = Vec::with_capacity(2 * vertices);
    for ring in 0..along - 1 {
        wrap_band(&mut triangles, ring * around, (ring + 1) * around, around);
    }
    let end = vertices as u32;
    let groups = groups([("start", (0..around).collect()), ("end", (end - around..end).collect())]);
    Ok(Mesh { positions, triangles, groups, ..Mesh::default() })
}

/// Two triangles for each step around a band between two rings of `around` vertices.
/// They face along (step direction) × (first ring to second ring).
fn wrap_band(triangles: &mut Vec<[u32; 3]>, first: u32, second: u32, around: u32) {
    for step in 0..around {
        let next = (step + 1) % around;
        let [a, b, c, d] = [first + step, first + next, second + next, second + step];
        triangles.extend([[a, b, c], [a, c, d]]);
    }
}

/// The closed surface of a torus around the y axis.
///
/// `radius` reaches from the center to the middle of the tube; `around` particles run around
/// the axis, `tube_around` around the tube. Vertex `turn · tube_around + step`. No groups.
///
/// # Errors
/// Fewer than three particles around either way, lengths that are not finite and positive, a
/// tube that is not thinner than the ring, too many vertices.
pub fn torus(
    radius: f32,
    tube_radius: f32,
    around: u32,
    tube_around: u32,
) -> Result<Mesh, MeshError> {
    at_least("torus", "around", 3, &[around])?;
    at_least("torus", "tube-around", 3, &[tube_around])?;
    lengths("torus", "radius", &[radius])?;
    lengths("torus", "tube-radius", &[tube_radius])?;
    if tube_radius >= radius {
        return Err(MeshError::FatTorus { radius, tube_radius });
    }
    let vertices = vertex_count("torus", u128::from(around) * u128::from(tube_around))?;
    let mut positions = Vec::with_capacity(vertices);
    for turn in 0..around {
        let [cosine, sine] = direction(turn, around);
        positions.extend((0..tube_around).map(|step| {
            let [outward, up] = direction(step, tube_around).map(|x| x * f64::from(tube_radius));
            let reach = f64::from(radius) + outward;
            point(reach * cosine, up, -reach * sine)
        }));
    }
    let mut triangles = Vec::with_capacity(2 * vertices);
    for turn in 0..around {
        let next = (turn + 1) % around;
        wrap_band(&mut triangles, next * tube_around, turn * tube_around, tube_around);
    }
    Ok(Mesh { positions, triangles, ..Mesh::default() })
}

/// Cosine and sine of `step / steps` of a full turn.
fn direction(step: u32, steps: u32) -> [f64; 2] {
    let (sine, cosine) = (TAU * f64::from(step) / f64::from(steps)).sin_cos();
    [cosine, sine]
}

/// Coordinate of point `step` of `steps` equal ones on a line centered on 0.
fn spread(step: u32, steps: u32, length: f32) -> f32 {
    (f64::from(length) * (f64::from(step) / f64::from(steps) - 0.5)) as f32
}

fn point(x: f64, y: f64, z: f64) -> Vec3 {
    Vec3::new(x as f32, y as f32, z as f32)
}

fn groups<const N: usize>(named: [(&str, Vec<u32>); N]) -> BTreeMap<String, Vec<u32>> {
    named.into_iter().map(|(name, members)| (name.to_owned(), members)).collect()
}

fn at_least(
    mesh: &'static str,
    what: &'static str,
    least: u32,
    counts: &[u32],
) -> Result<(), MeshError> {
    match counts.iter().find(|&&count| count < least) {
        Some(&count) => Err(MeshError::TooFew { mesh, what, count, least }),
        None => Ok(()),
    }
}

fn lengths(mesh: &'static str, what: &'static str, values: &[f32]) -> Result<(), MeshError> {
    match values.iter().find(|&&value| !(value.is_finite() && value > 0.0)) {
        Some(&value) => Err(MeshError::BadLength { mesh, what, value }),
        None => Ok(()),
    }
}

fn vertex_count(mesh: &'static str, vertices: u128) -> Result<usize, MeshError> {
    if vertices > u128::from(MAX_VERTICES) {
        return Err(MeshError::TooManyVertices { mesh: mesh.to_owned(), vertices });
    }
    Ok(vertices as usize)
}

#[cfg(test)]
mod tests;
