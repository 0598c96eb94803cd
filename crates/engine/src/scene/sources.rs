//! What a [`MeshSource`] stands for: how many vertices, which key, which mesh.

use glam::Vec3;

use super::file::{Diagonals, MeshFile, MeshSource, Part, Solid};
use super::path::Path;
use crate::mesh::implicit::{Blend, Form};
use crate::mesh::{Bounds, Mesh, MeshError, SparseSdf, generate, tetrahedralize_graded};

/// How many vertices a generator will make; `None` where that shows only when it is made:
/// for files, and for solids, which have their own limit.
pub(super) fn vertex_count(source: &MeshSource) -> Option<u128> {
    let product = |numbers: &[u32]| numbers.iter().copied().map(u128::from).product::<u128>();
    Some(match source {
        MeshSource::Grid(grid) => product(&grid.particles),
        MeshSource::Disc(disc) => 1 + 3 * u128::from(disc.rings) * (u128::from(disc.rings) + 1),
        MeshSource::Sphere(sphere) => 2 + 10 * u128::from(sphere.subdivisions).pow(2),
        MeshSource::Tube(tube) => product(&[tube.around, tube.along]),
        MeshSource::Torus(torus) => product(&[torus.around, torus.tube_around]),
        MeshSource::Box(surface) => {
            let inside = surface.cells.map(|cells| cells.saturating_sub(1));
            corners(surface.cells).saturating_sub(product(&inside))
        }
        MeshSource::Block(block) => corners(block.cells),
        MeshSource::Solid(_) | MeshSource::File(_) => return None,
    })
}

/// Corners of a lattice of cells.
fn corners(cells: [u32; 3]) -> u128 {
    cells.into_iter().map(|cells| u128::from(cells) + 1).product()
}

/// `mesh.grid` for a grid, and so on; for a file, its path.
pub(super) fn source_path(source: &MeshSource, path: &Path) -> Path {
    match source {
        MeshSource::Grid(_) => path.key("grid"),
        MeshSource::Disc(_) => path.key("disc"),
        MeshSource::Sphere(_) => path.key("sphere"),
        MeshSource::Tube(_) => path.key("tube"),
        MeshSource::Torus(_) => path.key("torus"),
        MeshSource::Box(_) => path.key("box"),
        MeshSource::Block(_) => path.key("block"),
        MeshSource::Solid(_) => path.key("solid"),
        MeshSource::File(_) => path.key("file").key("path"),
    }
}

/// Makes the mesh of a generator, or lets `load` make that of a file. `surface` is that of a
/// solid that has one.
pub(super) fn make(
    source: &MeshSource,
    surface: Option<&Mesh>,
    load: impl FnOnce(&MeshFile) -> Result<Mesh, MeshError>,
) -> Result<Mesh, MeshError> {
    match source {
        MeshSource::Grid(grid) => {
            generate::grid(grid.particles, grid.size, diagonals(grid.diagonals), grid.seed)
        }
        MeshSource::Disc(disc) => generate::disc(disc.radius, disc.rings),
        MeshSource::Sphere(sphere) => generate::sphere(sphere.radius, sphere.subdivisions),
        MeshSource::Tube(tube) => generate::tube(tube.radius, tube.length, tube.around, tube.along),
        MeshSource::Torus(torus) => {
            generate::torus(torus.radius, torus.tube_radius, torus.around, torus.tube_around)
        }
        MeshSource::Box(surface) => generate::box_surface(surface.size, surface.cells),
        MeshSource::Block(block) => generate::block(block.size, block.cells),
        MeshSource::Solid(solid) => match surface {
            Some(surface) => inside(surface, solid),
            None => blended(solid),
        },
        MeshSource::File(file) => load(file),
    }
}

/// Fills a closed surface. Half a cell is as fine as the lattice can tell, and a hollow solid
/// needs exact distances up to the far side of its wall.
fn inside(surface: &Mesh, solid: &Solid) -> Result<Mesh, MeshError> {
    let band = solid.cell + solid.wall.unwrap_or(0.0);
    let field = SparseSdf::build_with_band(surface, 0.5 * solid.cell, band);
    let field = field.map_err(|error| match error {
        MeshError::CellTooSmall { cell, blocks, most, enough } => {
            MeshError::CellTooSmall { cell: 2.0 * cell, blocks, most, enough: 2.0 * enough }
        }
        other => other,
    })?;
    let bounds = surface.bounds().ok_or(MeshError::NoVolume)?;
    filled(|place| field.sample(place).0, &bounds, solid)
}

fn blended(solid: &Solid) -> Result<Mesh, MeshError> {
    let blend = Blend { forms: solid.parts.iter().map(form).collect(), width: solid.blend };
    let bounds = blend.bounds().ok_or(MeshError::NoVolume)?;
    filled(|place| blend.distance(place), &bounds, solid)
}

fn filled(
    distance: impl Fn(Vec3) -> f32,
    bounds: &Bounds,
    solid: &Solid,
) -> Result<Mesh, MeshError> {
    let field = |place| hollowed(distance(place), solid);
    tetrahedralize_graded(field, bounds, solid.cell, solid.grading)
}

/// Signed distance to a solid without what is deeper inside than its wall is thick.
fn hollowed(distance: f32, solid: &Solid) -> f32 {
    solid.wall.map_or(distance, |wall| distance.max(-distance - wall))
}

fn form(part: &Part) -> Form {
    match *part {
        Part::Sphere { center, radius } => Form::Sphere { center: center.into(), radius },
        Part::Ellipsoid { center, radii } => {
            Form::Ellipsoid { center: center.into(), radii: radii.into() }
        }
        Part::Capsule { from, to, radius } => {
            Form::Capsule { from: from.into(), to: to.into(), radius }
        }
        Part::Box { center, size } => Form::Box { center: center.into(), size: size.into() },
        Part::Torus { center, radius, tube_radius } => {
            Form::Torus { center: center.into(), radius, tube_radius }
        }
        Part::Hairs { center, radius, length, hair_radius, count } => {
            Form::hairs(Vec3::from(center), radius, length, hair_radius, count)
        }
    }
}

/// The generator has its own type: meshes know nothing of scene files.
fn diagonals(diagonals: Diagonals) -> generate::Diagonals {
    match diagonals {
        Diagonals::Regular => generate::Diagonals::Regular,
        Diagonals::Alternating => generate::Diagonals::Alternating,
        Diagonals::Random => generate::Diagonals::Random,
    }
}

#[cfg(test)]
mod tests {
    //! Contract: meshes are paid for before they are made, so the price must be right.
    use super::*;

    #[test]
    fn generators_make_as_many_vertices_as_announced() {
        let sources = [
            "grid = { particles = [3, 5], size = [1, 1] }",
            "disc = { radius = 1, rings = 4 }",
            "sphere = { radius = 1, subdivisions = 3 }",
            "tube = { radius = 1, length = 1, around = 5, along = 4 }",
            "torus = { radius = 2, tube-radius = 1, around = 7, tube-around = 4 }",
            "box = { size = [1, 1, 1], cells = [1, 1, 1] }",
            "box = { size = [1, 1, 1], cells = [2, 3, 4] }",
            "block = { size = [1, 1, 1], cells = [2, 3, 4] }",
        ];
        for text in sources {
            let source: MeshSource = toml::from_str(text).unwrap();
            let mesh = make(&source, None, |_| unreachable!()).unwrap();
            assert_eq!(vertex_count(&source), Some(mesh.positions.len() as u128), "{text}");
        }
    }
}
